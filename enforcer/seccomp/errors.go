package seccomp

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrNotSupported is what a [*FeatureError] is: the kernel, or this build, does not have seccomp filters.
var ErrNotSupported = errors.New("seccomp filters are not supported here")

// ErrNoNewPrivs says that the thread has not set no_new_privs. Without it a program with the set-user-ID bit would
// run under a filter that its author never saw, so the filter is not loaded even where a capability would permit it.
var ErrNoNewPrivs = errors.New("no_new_privs is not set on this thread")

// FeatureError says what is missing. It is [ErrNotSupported].
type FeatureError struct {
	Feature   string        // what is missing
	MinKernel string        // the first kernel that has it; "" where no kernel helps
	Errno     syscall.Errno // what the kernel said; 0 where it was not asked
}

func (e *FeatureError) Error() string {
	s := e.Feature + " is not supported here"
	if e.MinKernel != "" {
		s += " (Linux " + e.MinKernel + " and CONFIG_SECCOMP_FILTER)"
	}
	if e.Errno != 0 {
		s += ": " + e.Errno.Error()
	}
	return s
}

// Is reports ErrNotSupported, and the standard library's errors.ErrUnsupported.
func (e *FeatureError) Is(target error) bool {
	return target == ErrNotSupported || target == errors.ErrUnsupported
}

// Unwrap gives the errno, nil if there is none.
func (e *FeatureError) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// LoadError says which program was not loaded, and why. Err is the kernel's errno, [ErrNoNewPrivs], a
// [*FeatureError], or what is wrong with the program.
type LoadError struct {
	Program string // the program's name; "" before the first
	Loaded  int    // programs that are loaded, and stay so until the thread ends
	Err     error
}

func (e *LoadError) Error() string {
	if e.Program == "" {
		return fmt.Sprintf("load seccomp filter: %v", e.Err)
	}
	return fmt.Sprintf("load seccomp filter %q: %v", e.Program, e.Err)
}

func (e *LoadError) Unwrap() error { return e.Err }
