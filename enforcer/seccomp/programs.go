package seccomp

import (
	"fmt"
	"runtime"
)

//go:generate go run -tags seccomp ./internal/generate

// AllowFile is the name of the embedded allow-list, and RefuseFile that of the refusals under o. For the generator.
const AllowFile = "allow.bpf"

// RefuseFile names the file of the refusals that are stacked on the allow-list under o.
func RefuseFile(o Options) string { return "refuse-" + o.String() + ".bpf" }

// Programs gives the embedded programs for the architecture of this binary, in the order in which [Load] must get
// them. There are two, as an allow-list of libseccomp cannot say "any but these two values": the list, and refusals
// that allow the rest. Of two errors the kernel takes the one of the program loaded last.
//
// The error is a [*FeatureError] on an architecture that no program was compiled for.
func Programs(o Options) ([]Program, error) {
	return readPrograms(runtime.GOARCH, o, func(name string) ([]byte, error) {
		if !haveEmbedded {
			return nil, &FeatureError{Feature: "a system call filter for " + runtime.GOARCH}
		}
		return embedded.ReadFile("programs/" + runtime.GOARCH + "/" + name)
	})
}

func readPrograms(arch string, o Options, read func(name string) ([]byte, error)) ([]Program, error) {
	var programs []Program
	for _, part := range []struct{ name, file string }{
		{"allow-list", AllowFile},
		{"refusals (" + o.String() + ")", RefuseFile(o)},
	} {
		raw, err := read(part.file)
		if err != nil {
			return nil, fmt.Errorf("seccomp program %q: %w", part.name, err)
		}
		program, err := decode(part.name, arch, raw)
		if err != nil {
			return nil, fmt.Errorf("internal error: %w", err)
		}
		programs = append(programs, program)
	}
	return programs, nil
}
