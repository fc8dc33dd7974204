// Package seccomp is the system call filter: what a program in the sandbox may ask the kernel for.
//
// # Guarantees
//
// Under [Programs], loaded by [Load], no call of [Rules]'s refusals reaches the kernel, on this thread and in every
// process that it starts, whatever else they load: the kernel takes the most restrictive answer of all filters.
// Arguments are compared at the width at which the kernel reads them. Calls of another architecture, and x32's, end
// the process. A call that is newer than the list fails with ENOSYS. With the zero [Options] nothing is allowed that
// Docker's profile refuses to a container without capabilities.
//
// # Does not guarantee
//
// A filter sees numbers, not what pointers lead to: paths, addresses and clone3's flags are for other layers, or
// refused whole. Descriptors that the program inherits work as before. The files and TCP ports that an allowed call
// reaches are Landlock's and the mounts'.
//
// # How the programs come about
//
// [Rules] is the table. A generator with libseccomp (build tag seccomp, cgo) takes it from Docker's kept list
// (moby/profiles/seccomp), compiles for amd64 and arm64, and the programs are embedded: compiling takes tens of
// milliseconds, loading takes 0.1. A test under the same tag proves that a fresh compile gives the same bytes, others
// run the programs in a simulated kernel, and others load them and try the calls.
//
// # Key types
//
// [Options], [Rule], [Program]; [CompileProfile] takes a user's own profile, which only narrows.
//
//	runtime.LockOSThread()
//	programs, err := seccomp.Programs(seccomp.Options{})
//	if err != nil { … }
//	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil { … }
//	if err := seccomp.Load(programs...); err != nil { … }
package seccomp
