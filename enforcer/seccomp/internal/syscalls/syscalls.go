package syscalls

import (
	"iter"
	"slices"
	"strings"
)

// None stands for the number of a call that an architecture does not have.
const None = -1

// Row is one system call.
type Row struct {
	// Name is the call's name as the kernel's tables spell it.
	Name string
	// AMD64 and ARM64 are the numbers; None where the architecture does not have the call.
	AMD64, ARM64 int
	// Newer tells that the libseccomp that compiles the filter does not know the call. The filter answers such
	// a call with ENOSYS, so that a program falls back to an older one.
	Newer bool
}

// Number gives the row's number on arch, None for an architecture without a table.
func (r Row) Number(arch string) int {
	switch arch {
	case "amd64":
		return r.AMD64
	case "arm64":
		return r.ARM64
	}
	return None
}

// Status is what is known about a name on one architecture.
type Status int

// The zero value is the one that a caller must treat as an error.
const (
	Unknown   Status = iota // no architecture has a call of that name
	Elsewhere               // only other architectures have it
	Present                 // this architecture has it
)

// Supported tells whether there is a table for arch, which is named as in GOARCH.
func Supported(arch string) bool { return arch == "amd64" || arch == "arm64" }

// Number looks up a call by its exact name. The number is None unless the status is Present.
func Number(arch, name string) (int, Status) {
	i, found := slices.BinarySearchFunc(table[:], name, func(r Row, name string) int {
		return strings.Compare(r.Name, name)
	})
	if !found {
		return None, Unknown
	}
	nr := table[i].Number(arch)
	if nr == None {
		return None, Elsewhere
	}
	return nr, Present
}

// Name gives the name of a number on arch, "" when it has none.
func Name(arch string, nr int) string {
	if nr < 0 {
		return ""
	}
	for _, r := range table[:] {
		if r.Number(arch) == nr {
			return r.Name
		}
	}
	return ""
}

// All yields every row in order of name.
func All() iter.Seq[Row] { return slices.Values(table[:]) }

// On yields the calls that arch has, in order of name.
func On(arch string) iter.Seq2[int, Row] {
	return func(yield func(int, Row) bool) {
		for _, r := range table[:] {
			if nr := r.Number(arch); nr != None && !yield(nr, r) {
				return
			}
		}
	}
}
