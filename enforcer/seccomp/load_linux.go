package seccomp

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Load puts the programs on the calling OS thread, in order: the kernel runs all of them for every call and takes
// the most restrictive answer, of equal ones that of the program loaded last.
//
// Preconditions: runtime.LockOSThread, as a filter belongs to a thread and its future children; no_new_privs. A
// filter cannot be taken off: when an error comes after the first program ([LoadError].Loaded), let the thread end
// without unlocking it. What is stacked later than the first program must be permitted by the ones before: seccomp
// and prctl are by all of [Programs].
//
// Errors are *[LoadError]. Safe on many threads at once.
// Needs Linux 3.17 (seccomp(2)). Source: seccomp(2), kernel userspace-api/seccomp_filter.
func Load(programs ...Program) error {
	if err := checkLoadable(programs); err != nil {
		return err
	}
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err != nil {
		return &LoadError{Err: fmt.Errorf("read no_new_privs: %w", err)}
	}
	if set != 1 {
		return &LoadError{Err: ErrNoNewPrivs}
	}
	for i, p := range programs {
		if errno := setFilter(p.code); errno != 0 {
			return &LoadError{Program: p.name, Loaded: i, Err: describeLoad(errno)}
		}
	}
	return nil
}

// checkLoadable looks at all programs before any is loaded: there is no way back after the first.
func checkLoadable(programs []Program) error {
	if len(programs) == 0 {
		return &LoadError{Err: errors.New("no program was given")}
	}
	for _, p := range programs {
		switch {
		case len(p.code) == 0:
			return &LoadError{Program: p.name, Err: errors.New("the program is empty")}
		case len(p.code) > maxInstructions:
			return &LoadError{Program: p.name, Err: fmt.Errorf("%d instructions, the kernel takes %d", len(p.code), maxInstructions)}
		case p.arch != runtime.GOARCH:
			return &LoadError{Program: p.name, Err: fmt.Errorf("the program is for %s, this is %s", p.arch, runtime.GOARCH)}
		}
	}
	return nil
}

// describeLoad tells a kernel without filters from one that has them and takes this program for a wrong one: both
// say EINVAL.
func describeLoad(errno unix.Errno) error {
	if errno == unix.EINVAL && Probe() == nil {
		return fmt.Errorf("the kernel does not take the program: %w", errno)
	}
	return describe(errno)
}

func setFilter(code []unix.SockFilter) unix.Errno {
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(code)
	return errno
}

// Probe tells whether filters can be loaded: nil, a [*FeatureError] (which is [ErrNotSupported]) when the kernel has
// none, any other error when the answer is not clear. It offers the kernel a program at address 0 and changes nothing.
//
// EFAULT: the kernel went as far as reading the program. ENOSYS: no seccomp(2), or something outside plays an older
// kernel. EINVAL: seccomp without filters. EPERM and the like: a filter outside refuses seccomp(2) itself; what the
// kernel has cannot be told then.
func Probe() error {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0)
	if errno == unix.EFAULT {
		return nil
	}
	if errno == 0 {
		return errors.New("internal error: the kernel took a filter at address 0")
	}
	return describe(errno)
}

func describe(errno unix.Errno) error {
	switch errno {
	case unix.ENOSYS:
		return &FeatureError{Feature: "seccomp(2)", MinKernel: "3.17", Errno: errno}
	case unix.EINVAL:
		return &FeatureError{Feature: "a seccomp filter", MinKernel: "3.17", Errno: errno}
	}
	return fmt.Errorf("seccomp(2): %w", errno)
}
