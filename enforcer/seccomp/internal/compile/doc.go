//go:build seccomp

// Package compile makes the filter's programs with libseccomp. It needs cgo and is used by the generator and by the
// test that compares its programs with the embedded ones; the shipped binary does not have it.
//
// Guarantees: the same libseccomp, the same golang.org/x/sys and the same rules give the same bytes. A name in a
// refusing rule that no source knows is an error. A name of Docker's list that libseccomp does not know is marked in
// the table of calls as newer, and answered with ENOSYS.
//
// Does not guarantee: equal bytes from another version of libseccomp. [LibraryVersion] is part of the table's header.
//
// Key types: [Table], [Files].
//
//	table, err := compile.Table(xsysDir)
//	files, err := compile.Programs("amd64", table)
package compile
