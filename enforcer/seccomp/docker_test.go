package seccomp

import (
	"slices"
	"strings"
	"testing"

	moby "github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"pgregory.net/rapid"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

// dockerAllows says what Docker's own profile does with a call of a container without capabilities, read from the
// profile and not from anything compiled. int arguments are as the kernel reads them.
func dockerAllows(arch, name string, args [6]uint64) bool {
	for _, entry := range moby.DefaultProfile().Syscalls {
		if in := entry.Includes; in != nil && (len(in.Caps) > 0 || len(in.Arches) > 0 && !slices.Contains(in.Arches, arch)) {
			continue
		}
		if entry.Action != specs.ActAllow || !slices.Contains(entry.Names, name) {
			continue
		}
		fits := true
		for _, arg := range entry.Args {
			value := args[arg.Index]
			switch arg.Op {
			case specs.OpEqualTo:
				fits = fits && value == arg.Value
			case specs.OpLessThan:
				fits = fits && value < arg.Value
			case specs.OpMaskedEqual:
				fits = fits && value&arg.Value == arg.ValueTwo
			default:
				panic("an operator that this test does not know: " + arg.Op)
			}
		}
		if fits {
			return true
		}
	}
	return false
}

// argument draws values at which filters go wrong: flags, families, small numbers, dirty upper halves.
func argument() *rapid.Generator[uint64] {
	return rapid.Custom(func(t *rapid.T) uint64 {
		low := rapid.OneOf(
			rapid.Uint64Range(0, 50),
			rapid.SampledFrom([]uint64{132, 136, 256, 262, 0x5412, 0x541c, 0x20008, 0xffffffff, 0x3d0f00, 0x20000000}),
			rapid.Map(rapid.IntRange(0, 31), func(bit int) uint64 { return 1 << bit }),
			rapid.Map(rapid.Uint32(), func(v uint32) uint64 { return uint64(v) }),
		).Draw(t, "low")
		high := rapid.SampledFrom([]uint64{0, 0, 0, 1, 2, 0x80000000, 0xffffffff}).Draw(t, "high")
		return high<<32 | low
	})
}

func arguments() *rapid.Generator[[6]uint64] {
	return rapid.Custom(func(t *rapid.T) [6]uint64 {
		var args [6]uint64
		for i := range args {
			args[i] = argument().Draw(t, "arg")
		}
		return args
	})
}

// callName draws any call, and oftener those that have rules on arguments.
func callName() *rapid.Generator[string] {
	var all []string
	for row := range syscalls.All() {
		all = append(all, row.Name)
	}
	return rapid.OneOf(
		rapid.SampledFrom(all),
		rapid.SampledFrom(strings.Fields("socket socketpair clone ioctl personality sendto sendmsg sendmmsg unshare ptrace")),
	)
}

func TestNothingIsAllowedThatDockerRefuses(t *testing.T) {
	for _, arch := range bothArches {
		for _, o := range []Options{{}, {AllowUnixSockets: true, AllowPtrace: true}} {
			m := embeddedMachine(t, arch, o)
			allowed := 0
			rapid.Check(t, func(r *rapid.T) {
				name, args := callName().Draw(r, "call"), arguments().Draw(r, "args")
				answer, absent := m.call(t, name, args[:]...)
				if absent || answer != answerAllow {
					return
				}
				allowed++
				if name == "socket" { // int domain, type, protocol
					for i := range 3 {
						args[i] &= 0xffffffff
					}
				}
				if !dockerAllows(arch, name, args) {
					r.Fatalf("%s, %s: %s%#x is allowed, Docker refuses it", arch, o, name, args)
				}
			})
			if allowed == 0 {
				t.Errorf("%s, %s: no call was allowed, so nothing was compared", arch, o)
			}
		}
	}
}

func TestOptionsOnlyLoosen(t *testing.T) {
	for _, arch := range bothArches {
		strictest := embeddedMachine(t, arch, Options{})
		for _, o := range Combinations()[1:] {
			m := embeddedMachine(t, arch, o)
			rapid.Check(t, func(r *rapid.T) {
				name, args := callName().Draw(r, "call"), arguments().Draw(r, "args")
				before, absent := strictest.call(t, name, args[:]...)
				after, _ := m.call(t, name, args[:]...)
				if !absent && strictness[after&0xffff0000] < strictness[before&0xffff0000] {
					r.Fatalf("%s: %s%#x: %s without options, %s with %s", arch, name, args, returnName(before), returnName(after), o)
				}
			})
		}
	}
}

// documented gives the answer that the table promises, by the order in Rule's comment.
func documented(arch, name string, args [6]uint64, o Options) uint32 {
	fits := func(r Rule) bool {
		for _, c := range r.Args {
			if c.Test == Above && args[c.Arg] <= c.Value || c.Test == MaskedEqual && args[c.Arg]&c.Mask != c.Value {
				return false
			}
		}
		return r.Syscall == name
	}
	answer := func(r Rule) uint32 { return 0x00050000 | uint32(r.Action.Errno()) }
	rules := slices.DeleteFunc(Rules(), func(r Rule) bool { return !fits(r) })
	for _, r := range rules {
		if r.Action != Allow && (len(r.Args) > 0 || r.LiftedBy != NoOption) && !o.Has(r.LiftedBy) {
			return answer(r)
		}
	}
	for _, r := range rules {
		if r.Action == Allow {
			return answerAllow
		}
	}
	for _, r := range rules {
		if len(r.Args) == 0 && r.LiftedBy == NoOption {
			return answer(r)
		}
	}
	for row := range syscalls.All() {
		if row.Name == name && row.Newer {
			return answerENOSYS
		}
	}
	return answerAllow
}

// A call that no rule speaks of is allowed: so every call that Docker's list leaves out must have a rule, which
// TestNothingIsAllowedThatDockerRefuses checks from the other side.
func TestProgramsDoWhatTheTableSays(t *testing.T) {
	for _, arch := range bothArches {
		for _, o := range Combinations() {
			m := embeddedMachine(t, arch, o)
			for nr, row := range syscalls.On(arch) {
				got := m.run(t, simulated{audit: m.audit, nr: uint32(nr)})
				if want := documented(arch, row.Name, [6]uint64{}, o); got != want {
					t.Errorf("%s, %s: %s: %s, the table says %s", arch, o, row.Name, returnName(got), returnName(want))
				}
			}
			rapid.Check(t, func(r *rapid.T) {
				name, args := callName().Draw(r, "call"), arguments().Draw(r, "args")
				got, absent := m.call(t, name, args[:]...)
				if want := documented(arch, name, args, o); !absent && got != want {
					r.Fatalf("%s, %s: %s%#x: %s, the table says %s", arch, o, name, args, returnName(got), returnName(want))
				}
			})
		}
	}
}
