package seccomp

import "strings"

// Options says what a program in the sandbox may do beyond the strictest set. The zero value is the strictest.
type Options struct {
	// AllowUnixSockets permits socket(AF_UNIX) of every type, and datagram socket pairs. Which sockets may then be
	// reached is for the layers that see paths: a filter sees an address only as a pointer.
	AllowUnixSockets bool
	// AllowPtrace permits ptrace, process_vm_readv and process_vm_writev: for debuggers and tracers.
	AllowPtrace bool
	// AllowNestedNamespaces permits unshare, chroot, and clone with namespace flags: for browsers that sandbox
	// their renderers. Mounting stays refused.
	AllowNestedNamespaces bool
}

// Option names one field of [Options] in a [Rule].
type Option int

const (
	NoOption Option = iota // the rule holds under all options
	UnixSockets
	Ptrace
	NestedNamespaces
)

// String gives the name of the option's field.
func (o Option) String() string {
	switch o {
	case NoOption:
		return "none"
	case UnixSockets:
		return "AllowUnixSockets"
	case Ptrace:
		return "AllowPtrace"
	case NestedNamespaces:
		return "AllowNestedNamespaces"
	}
	return "unknown option"
}

// Has tells whether the option is set. NoOption never is.
func (o Options) Has(option Option) bool {
	switch option {
	case UnixSockets:
		return o.AllowUnixSockets
	case Ptrace:
		return o.AllowPtrace
	case NestedNamespaces:
		return o.AllowNestedNamespaces
	}
	return false
}

// String lists the options that are set, "strictest" for none. It is also the name of the embedded program.
func (o Options) String() string {
	var set []string
	if o.AllowUnixSockets {
		set = append(set, "unix")
	}
	if o.AllowPtrace {
		set = append(set, "ptrace")
	}
	if o.AllowNestedNamespaces {
		set = append(set, "namespaces")
	}
	if set == nil {
		return "strictest"
	}
	return strings.Join(set, "+")
}

// Combinations lists every value of [Options], the strictest first.
func Combinations() []Options {
	var all []Options
	for bits := range 8 {
		all = append(all, Options{
			AllowUnixSockets:      bits&1 != 0,
			AllowPtrace:           bits&2 != 0,
			AllowNestedNamespaces: bits&4 != 0,
		})
	}
	return all
}
