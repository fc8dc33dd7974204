package seccomp

import (
	"cmp"
	"fmt"
	"slices"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/assemble"
	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

// CompileProfile compiles a seccomp profile in the form of the OCI runtime specification (config-linux.md, "Seccomp")
// for arch, named as in GOARCH. Stacked on [Programs], last, it can only narrow.
//
// As runc and libseccomp have it: arguments are compared as unsigned 64-bit numbers; the comparisons of one entry must
// all hold, unless an argument appears twice in it: then each comparison is a rule of its own.
//
// Where it differs, it refuses more:
//   - Of several entries that fit a call, the most restrictive wins (libseccomp lets an entry without arguments
//     replace those with arguments, and skips one that equals the default); of several errnos, the first.
//   - A name that no architecture has is an error, but in an entry that allows, where it has no effect.
//   - Foreign architectures are killed, whatever "architectures" lists besides arch, which it must list if it is there.
//   - SCMP_ACT_NOTIFY and SCMP_ACT_TRACE need a supervisor, "flags" and "listenerPath" change how a filter is loaded,
//     and "includes", "excludes", "archMap" are Docker's own: all errors.
//
// Errors are *[ProfileError].
func CompileProfile(json []byte, arch string) (Program, error) {
	if !syscalls.Supported(arch) {
		return Program{}, profileErrorf("", "there is no table of system calls for architecture %q", arch)
	}
	p, err := parseProfile(json)
	if err != nil {
		return Program{}, err
	}
	if err := p.checkArchitectures(arch); err != nil {
		return Program{}, err
	}
	fallback, err := parseAction("/defaultAction", p.DefaultAction, p.DefaultErrnoRet)
	if err != nil {
		return Program{}, err
	}
	calls := map[int][]profileRule{}
	for i, entry := range p.Syscalls {
		if err := entry.addTo(calls, fmt.Sprintf("/syscalls/%d", i), arch); err != nil {
			return Program{}, err
		}
	}
	code, err := assembleProfile(calls, fallback, arch)
	if err != nil {
		return Program{}, profileErrorf("", "%w", err)
	}
	return Program{name: "profile", arch: arch, code: code}, nil
}

// profileRule is one rule on one call: the action applies when every comparison holds.
type profileRule struct {
	action uint32 // SECCOMP_RET_*
	args   []assemble.Comparison
}

// addTo resolves the entry's names and adds its rules.
func (e *profileEntry) addTo(calls map[int][]profileRule, at, arch string) error {
	action, err := parseAction(at+"/action", e.Action, e.ErrnoRet)
	if err != nil {
		return err
	}
	if len(e.Names) == 0 {
		return profileErrorf(at+"/names", "no system call is named")
	}
	args, err := e.comparisons(at)
	if err != nil {
		return err
	}
	for i, name := range e.Names {
		nr, status := syscalls.Number(arch, name)
		switch {
		case status == syscalls.Unknown && action != unix.SECCOMP_RET_ALLOW:
			return profileErrorf(fmt.Sprintf("%s/names/%d", at, i), "unknown system call %q: it would not be restricted", name)
		case status != syscalls.Present:
			continue // nothing to allow, or nothing to restrict on this architecture
		}
		if repeatsArgument(args) {
			for _, arg := range args {
				calls[nr] = append(calls[nr], profileRule{action, []assemble.Comparison{arg}})
			}
			continue
		}
		calls[nr] = append(calls[nr], profileRule{action, args})
	}
	return nil
}

func repeatsArgument(args []assemble.Comparison) bool {
	var seen [6]bool
	for _, arg := range args {
		if seen[arg.Arg] {
			return true
		}
		seen[arg.Arg] = true
	}
	return false
}

// restriction orders actions as the kernel does when several filters answer (seccomp(2)): the first is the strictest.
func restriction(action uint32) int {
	return slices.Index([]uint32{
		unix.SECCOMP_RET_KILL_PROCESS, unix.SECCOMP_RET_KILL_THREAD, unix.SECCOMP_RET_TRAP, unix.SECCOMP_RET_ERRNO,
		unix.SECCOMP_RET_LOG, unix.SECCOMP_RET_ALLOW,
	}, action&unix.SECCOMP_RET_ACTION_FULL)
}

// assembleProfile lays out the program: the entry checks, a search of the number, and for each call its rules, the
// most restrictive first. Calls with the same rules share them.
func assembleProfile(calls map[int][]profileRule, fallback uint32, arch string) ([]unix.SockFilter, error) {
	var b assemble.Builder
	other := b.Return(fallback)
	foreign := b.Return(unix.SECCOMP_RET_KILL_PROCESS)
	shared := map[string]assemble.Label{}
	numbers := make([]int, 0, len(calls))
	for nr := range calls {
		numbers = append(numbers, nr)
	}
	slices.Sort(numbers)
	ranges := []assemble.Range{{First: 0, To: other}}
	for _, nr := range numbers {
		rules := slices.Clone(calls[nr])
		slices.SortStableFunc(rules, func(a, b profileRule) int {
			return cmp.Compare(restriction(a.action), restriction(b.action))
		})
		key := fmt.Sprintf("%v", rules)
		label, ok := shared[key]
		if !ok {
			var err error
			if label, err = assembleRules(&b, rules, other); err != nil {
				return nil, err
			}
			shared[key] = label
		}
		if last := &ranges[len(ranges)-1]; last.First == uint32(nr) {
			last.To = label
		} else {
			ranges = append(ranges, assemble.Range{First: uint32(nr), To: label})
		}
		ranges = append(ranges, assemble.Range{First: uint32(nr) + 1, To: other})
	}
	search, err := b.Search(ranges)
	if err != nil {
		return nil, err
	}
	if _, err := b.Entry(arch, search, foreign); err != nil {
		return nil, err
	}
	return b.Program()
}

// assembleRules emits the rules of one call, from the last to the first, as a program is laid out from its end.
func assembleRules(b *assemble.Builder, rules []profileRule, other assemble.Label) (assemble.Label, error) {
	next := other
	for _, rule := range slices.Backward(rules) {
		at := b.Return(rule.action)
		for _, arg := range slices.Backward(rule.args) {
			var err error
			if at, err = b.Compare(arg, at, next); err != nil {
				return 0, err
			}
		}
		next = at
	}
	return next, nil
}

// checkArchitectures refuses a profile that was not written for arch.
func (p *profile) checkArchitectures(arch string) error {
	native := map[string]specs.Arch{"amd64": specs.ArchX86_64, "arm64": specs.ArchAARCH64}[arch]
	for i, name := range p.Architectures {
		if !slices.Contains(knownArchitectures(), specs.Arch(name)) {
			return profileErrorf(fmt.Sprintf("/architectures/%d", i), "unknown architecture %q", name)
		}
	}
	if len(p.Architectures) > 0 && !slices.Contains(p.Architectures, string(native)) {
		return profileErrorf("/architectures", "the profile is not for %s, which this program is", native)
	}
	return nil
}

func knownArchitectures() []specs.Arch {
	return []specs.Arch{
		specs.ArchX86, specs.ArchX86_64, specs.ArchX32, specs.ArchARM, specs.ArchAARCH64, specs.ArchMIPS,
		specs.ArchMIPS64, specs.ArchMIPS64N32, specs.ArchMIPSEL, specs.ArchMIPSEL64, specs.ArchMIPSEL64N32,
		specs.ArchPPC, specs.ArchPPC64, specs.ArchPPC64LE, specs.ArchS390, specs.ArchS390X, specs.ArchPARISC,
		specs.ArchPARISC64, specs.ArchRISCV64, specs.ArchLOONGARCH64, specs.ArchM68K, specs.ArchSH, specs.ArchSHEB,
	}
}
