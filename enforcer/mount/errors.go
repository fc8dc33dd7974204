package mount

import (
	"fmt"
	"syscall"
)

// Error is a step of building the tree that the kernel refused. It unwraps to the errno.
type Error struct {
	Call   string        // the system call
	Op     Op            // the operation it served
	Path   string        // the path it named, in the host's tree or the new one
	Detail string        // more, as in the name of a file system
	Errno  syscall.Errno // why
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s %s", e.Op.Kind, e.Call, quote(e.Path))
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	return fmt.Sprintf("%s: %v, for %s", s, e.Errno, e.Op.Cause)
}

func (e *Error) Unwrap() error { return e.Errno }
