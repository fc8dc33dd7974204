//go:build seccomp

package compile

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	moby "github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	lib "github.com/seccomp/libseccomp-golang"
	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp"
	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

// Files maps a program's file name to its bytes: struct sock_filter after struct sock_filter, little-endian.
type Files map[string][]byte

// Programs compiles every program for one architecture: the allow-list, and the refusals for each combination of
// options.
func Programs(arch string, table []syscalls.Row) (Files, error) {
	numbers := map[string]int{}
	for _, row := range table {
		numbers[row.Name] = syscalls.None
		if nr := row.Number(arch); nr != syscalls.None && !row.Newer {
			numbers[row.Name] = nr
		}
	}
	for _, rule := range seccomp.Rules() {
		if _, known := numbers[rule.Syscall]; !known && rule.Syscall[0] != '<' {
			return nil, fmt.Errorf("rule %q: no source knows a system call of that name", rule.Call())
		}
	}
	files := Files{}
	allow, err := allowList(arch, numbers)
	if err != nil {
		return nil, fmt.Errorf("allow-list: %w", err)
	}
	guard, err := unknownGuard(arch, numbers)
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	files[seccomp.AllowFile] = append(guard, allow...)
	for _, options := range seccomp.Combinations() {
		if files[seccomp.RefuseFile(options)], err = refuseList(arch, numbers, options); err != nil {
			return nil, fmt.Errorf("refusals for %s: %w", options, err)
		}
	}
	return files, nil
}

// dockerCalls gives the names that Docker's profile allows to a container without capabilities, on a kernel that is
// new enough for all of it. Those of one architecture come with that architecture alone.
func dockerCalls(arch string) map[string]bool {
	calls := map[string]bool{}
	for _, group := range moby.DefaultProfile().Syscalls {
		if group.Action != specs.ActAllow {
			continue
		}
		if in := group.Includes; in != nil {
			if len(in.Caps) > 0 || len(in.Arches) > 0 && !slices.Contains(in.Arches, arch) {
				continue
			}
		}
		for _, name := range group.Names {
			calls[name] = true
		}
	}
	return calls
}

// allowList compiles what is allowed under the loosest options. What it does not name fails with EPERM, as under
// Docker's profile.
func allowList(arch string, numbers map[string]int) ([]byte, error) {
	calls := dockerCalls(arch)
	conditional := map[string]bool{}
	absent := map[string]bool{}
	for _, rule := range seccomp.Rules() {
		switch {
		case rule.Action == seccomp.Kill, rule.Syscall[0] == '<':
		case rule.Action == seccomp.Allow:
			conditional[rule.Syscall] = true
		case rule.LiftedBy != seccomp.NoOption:
			calls[rule.Syscall] = true
		case len(rule.Args) == 0:
			delete(calls, rule.Syscall)
			absent[rule.Syscall] = rule.Action == seccomp.Absent
		}
	}
	f, err := newFilter(arch, lib.ActErrno.SetReturnCode(int16(unix.EPERM)))
	if err != nil {
		return nil, err
	}
	defer f.Release()
	for _, name := range sortedKeys(calls) {
		if numbers[name] == syscalls.None || conditional[name] {
			continue
		}
		if err := f.add(name, lib.ActAllow, nil); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(absent) {
		if !absent[name] || numbers[name] == syscalls.None {
			continue
		}
		if err := f.add(name, lib.ActErrno.SetReturnCode(int16(unix.ENOSYS)), nil); err != nil {
			return nil, err
		}
	}
	for _, rule := range seccomp.Rules() {
		if rule.Action != seccomp.Allow || numbers[rule.Syscall] == syscalls.None {
			continue
		}
		if err := f.add(rule.Syscall, lib.ActAllow, rule.Args); err != nil {
			return nil, err
		}
	}
	return f.export()
}

// refuseList compiles the refusals that an allow-list cannot say beside its own: those by arguments, of which
// libseccomp takes one comparison an argument and rule, and those that options lift. It allows the rest.
func refuseList(arch string, numbers map[string]int, options seccomp.Options) ([]byte, error) {
	f, err := newFilter(arch, lib.ActAllow)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	for _, rule := range seccomp.Rules() {
		stacked := len(rule.Args) > 0 || rule.LiftedBy != seccomp.NoOption
		if !stacked || rule.Action == seccomp.Allow || options.Has(rule.LiftedBy) || numbers[rule.Syscall] == syscalls.None {
			continue
		}
		action := lib.ActErrno.SetReturnCode(int16(rule.Action.Errno()))
		if err := f.add(rule.Syscall, action, rule.Args); err != nil {
			return nil, err
		}
	}
	return f.export()
}

type filter struct {
	*lib.ScmpFilter
	arch lib.ScmpArch
}

func newFilter(arch string, defaultAction lib.ScmpAction) (*filter, error) {
	target, err := lib.GetArchFromString(arch)
	if err != nil {
		return nil, fmt.Errorf("architecture %s: %w", arch, err)
	}
	native, err := lib.GetNativeArch()
	if err != nil {
		return nil, fmt.Errorf("native architecture: %w", err)
	}
	f, err := lib.NewFilter(defaultAction)
	if err != nil {
		return nil, fmt.Errorf("new filter: %w", err)
	}
	if target != native {
		if err := f.AddArch(target); err != nil {
			return nil, fmt.Errorf("add architecture %s: %w", arch, err)
		}
		if err := f.RemoveArch(native); err != nil {
			return nil, fmt.Errorf("remove the native architecture: %w", err)
		}
	}
	if err := f.SetBadArchAction(lib.ActKillProcess); err != nil {
		return nil, fmt.Errorf("set the action for foreign architectures: %w", err)
	}
	// 2 is a binary search. The kernel runs a new filter once for each call number to find those that are always
	// allowed, so the search halves the time of loading and more.
	if err := f.SetOptimize(2); err != nil {
		return nil, fmt.Errorf("set a binary search: %w", err)
	}
	return &filter{f, target}, nil
}

func (f *filter) add(name string, action lib.ScmpAction, args []seccomp.Condition) error {
	call, err := lib.GetSyscallFromName(name)
	if err != nil {
		return fmt.Errorf("resolve %q: %w", name, err)
	}
	if _, err := lib.GetSyscallFromNameByArch(name, f.arch); err != nil {
		return fmt.Errorf("resolve %q: %w", name, err)
	}
	if len(args) == 0 {
		if err := f.AddRule(call, action); err != nil {
			return fmt.Errorf("rule on %s: %w", name, err)
		}
		return nil
	}
	conditions := make([]lib.ScmpCondition, len(args))
	for i, c := range args {
		switch c.Test {
		case seccomp.Above:
			conditions[i], err = lib.MakeCondition(uint(c.Arg), lib.CompareGreater, c.Value)
		case seccomp.MaskedEqual:
			conditions[i], err = lib.MakeCondition(uint(c.Arg), lib.CompareMaskedEqual, c.Mask, c.Value)
		default:
			err = fmt.Errorf("internal error: unknown test %d", c.Test)
		}
		if err != nil {
			return fmt.Errorf("condition %s of %s: %w", c, name, err)
		}
	}
	if err := f.AddRuleConditional(call, action, conditions); err != nil {
		return fmt.Errorf("rule on %s: %w", name, err)
	}
	return nil
}

// export reads the program back through a pipe: the library writes to a descriptor only.
func (f *filter) export() ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for the program: %w", err)
	}
	defer r.Close()
	written := make(chan error, 1)
	go func() {
		err := f.ExportBPF(w)
		w.Close()
		written <- err
	}()
	program, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	if err := <-written; err != nil {
		return nil, fmt.Errorf("export the program: %w", err)
	}
	return program, nil
}

func encode(program []unix.SockFilter) []byte {
	var b []byte
	for _, in := range program {
		b = binary.LittleEndian.AppendUint16(b, in.Code)
		b = append(b, in.Jt, in.Jf)
		b = binary.LittleEndian.AppendUint32(b, in.K)
	}
	return b
}
