// Package syscalls maps system call names to numbers for the architectures that the filter is compiled for.
//
// Guarantees: the table is the union of libseccomp's and golang.org/x/sys/unix's, which were checked to agree on
// every number that both know when the table was generated. A name of another architecture is known as such, so
// that "not here" and "no such call" are told apart.
//
// Does not guarantee: a call newer than both sources is unknown.
//
// Key types: [Row], [Status].
//
//	nr, status := syscalls.Number("arm64", "openat")
//	if status != syscalls.Present { … }
package syscalls
