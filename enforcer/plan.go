package enforcer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sandboxctl/sandboxctl/enforcer/landlock"
	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"github.com/sandboxctl/sandboxctl/enforcer/seccomp"
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// Tier names a set of kernel features that together confine a command. The zero value is none.
type Tier uint8

// TierFull is namespaces, Landlock and seccomp.
const TierFull Tier = 1

// String returns the name as the command line writes it.
func (t Tier) String() string {
	if t == TierFull {
		return "full"
	}
	return "none"
}

// Degradation is a guarantee that a Plan lacks although it was wanted.
type Degradation struct {
	Layer string
	Want  string
	Got   string
	Lost  string // what a command can do because of it
}

func (d Degradation) String() string {
	return fmt.Sprintf("%s: wanted %s, have %s: %s", d.Layer, d.Want, d.Got, d.Lost)
}

// Plan is all that a launch will do, decided. It can be printed and compared; [Plan.Start] carries it out without
// deciding anything more. It is immutable; its zero value confines nothing and is refused.
type Plan struct {
	Tier      Tier
	Mounts    mount.Plan
	Landlock  landlock.Plan
	Seccomp   seccomp.Options
	Narrowing []seccomp.Program // of settings key sandboxctl.seccompProfile
	Dir       string
	Wall      time.Duration // 0 = no limit
	Env       srtconfig.EnvSettings
	Degraded  []Degradation
	Warnings  []srtconfig.Warning

	judge *evaluator.Evaluator
	rules *srtconfig.Rules
}

// Compile turns rules and what the host can do into a Plan. It is pure but for reading the texts of symlinks that lead to
// re-opened places, whether directories exist, and the file that sandboxctl.seccompProfile names.
//
// Errors: [*SettingError] for an entry that this version or host cannot enforce, [*FeatureError] for a missing kernel
// feature, [*mount.TooManyError].
func Compile(rules *srtconfig.Rules, facts Facts) (*Plan, error) {
	judge, err := evaluator.New(rules)
	if err != nil {
		return nil, err
	}
	if err := refuseUnsupported(rules); err != nil {
		return nil, err
	}
	if err := facts.missing(); err != nil {
		return nil, err
	}
	own := rules.Own()
	tree, err := mount.Compile(rules, judge, mount.Options{TmpBytes: uint64(own.Limits.TmpBytes), Root: facts.UID == 0, ReadLink: os.Readlink, Stat: stat})
	if err != nil {
		return nil, err
	}
	for i := range tree.Ops {
		if tree.Ops[i].Kind == mount.Proc {
			tree.Ops[i].HostProc = rules.WeakerNested()
		}
	}
	p := &Plan{
		Tier:     TierFull,
		Mounts:   tree,
		Landlock: landlock.Compile(facts.LandlockABI, tree.WritableRoots()),
		Seccomp: seccomp.Options{
			AllowUnixSockets:      rules.Network().AllowAllUnixSockets,
			AllowPtrace:           own.AllowPtrace,
			AllowNestedNamespaces: own.AllowNestedNamespaces,
		},
		Dir:      rules.Cwd(),
		Wall:     time.Duration(own.Limits.WallSeconds * float64(time.Second)),
		Env:      own.Env,
		Warnings: append(rules.Warnings(), pathWarnings(rules, judge)...),
		judge:    judge,
		rules:    rules,
	}
	if own.SeccompProfile != "" {
		if p.Narrowing, err = narrowing(rules, own.SeccompProfile); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// refuseUnsupported names the first entry whose protection this version cannot give.
func refuseUnsupported(rules *srtconfig.Rules) error {
	n := rules.Network()
	setting := func(name, pointer, reason string) error {
		src, _ := rules.Source(pointer)
		return &SettingError{Source: src, Name: name, Reason: reason}
	}
	const noEgress = "cannot be enforced yet: this version gives a command no network at all; remove it to run without network"
	switch {
	case n.AllowAllDomains:
		return setting("network.allowAllDomains", "/network/allowAllDomains", noEgress)
	case len(n.AllowedDomains) > 0:
		return &SettingError{Source: n.AllowedDomains[0].Source, Name: "network.allowedDomains", Reason: noEgress}
	case n.HTTPProxyPort != 0:
		return setting("network.httpProxyPort", "/network/httpProxyPort", noEgress)
	case n.SOCKSProxyPort != 0:
		return setting("network.socksProxyPort", "/network/socksProxyPort", noEgress)
	case len(n.AllowUnixSockets) > 0:
		return &SettingError{Source: n.AllowUnixSockets[0].Source, Name: "network.allowUnixSockets",
			Reason: "cannot be enforced by path yet: remove it, or open every local socket with network.allowAllUnixSockets"}
	}
	limits := rules.Own().Limits
	const noLimit = "cannot be enforced yet: remove it, or set the limit around sandboxctl (systemd-run, docker)"
	switch {
	case limits.MemoryBytes != 0:
		return setting("sandboxctl.limits.memoryBytes", "/sandboxctl/limits/memoryBytes", noLimit)
	case limits.PIDs != 0:
		return setting("sandboxctl.limits.pids", "/sandboxctl/limits/pids", noLimit)
	case limits.CPUs != 0:
		return setting("sandboxctl.limits.cpus", "/sandboxctl/limits/cpus", noLimit)
	case limits.OutputBytes != 0:
		return setting("sandboxctl.limits.outputBytes", "/sandboxctl/limits/outputBytes", noLimit)
	}
	return nil
}

// maxProfile bounds the seccomp profile in bytes.
const maxProfile = 4 << 20

func narrowing(rules *srtconfig.Rules, path string) ([]seccomp.Program, error) {
	src, _ := rules.Source("/sandboxctl/seccompProfile")
	refuse := func(err error) error {
		return &SettingError{Source: src, Name: "sandboxctl.seccompProfile", Reason: fmt.Sprintf("cannot be used: %v", err)}
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, refuse(err)
	}
	if !st.Mode().IsRegular() || st.Size() > maxProfile {
		return nil, refuse(fmt.Errorf("%s is no regular file of at most %d bytes", filepath.Base(path), maxProfile))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, refuse(err)
	}
	prog, err := seccomp.CompileProfile(data, hostArch)
	if err != nil {
		return nil, refuse(err)
	}
	return []seccomp.Program{prog}, nil
}

// pathWarnings names the entries that the kernel side cannot carry out as written.
func pathWarnings(rules *srtconfig.Rules, judge *evaluator.Evaluator) []srtconfig.Warning {
	var out []srtconfig.Warning
	warn := func(r srtconfig.PathRule, format string, args ...any) {
		text := fmt.Sprintf("%s %q ", r.List, r.Source.Text) + fmt.Sprintf(format, args...)
		out = append(out, srtconfig.Warning{Source: r.Source, Message: text})
	}
	for _, r := range rules.Paths() {
		switch {
		case r.Source.Line == 0:
		case mount.IsOwn(r.Path):
			warn(r, "has no effect: /dev, /proc and /sys are the sandbox's own")
		case !r.Exists && canAppear(r.Path, judge):
			warn(r, "does not exist yet: a program can create it, and is kept off it from the next run on")
		}
	}
	return out
}

func stat(path string) (exists, dir bool) {
	st, err := os.Lstat(path)
	return err == nil, err == nil && st.IsDir()
}

// canAppear reports whether a program may create what does not exist: whether the nearest directory that exists is writable.
func canAppear(path string, judge *evaluator.Evaluator) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			return judge.CanWrite(dir).Allowed
		}
		if dir == "/" {
			return false
		}
	}
}

// Rules returns the policy that the Plan was made from.
func (p *Plan) Rules() *srtconfig.Rules { return p.rules }

// Evaluator returns the evaluator that decided the Plan's mounts.
func (p *Plan) Evaluator() *evaluator.Evaluator { return p.judge }

// String prints the Plan in the order in which it is applied.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tier    %s\n", p.Tier)
	b.WriteString("namespaces user mount pid network ipc uts cgroup\n")
	b.WriteString(p.Mounts.String())
	b.WriteString("network a namespace of its own with loopback only\n")
	b.WriteString("drop    every capability, set no_new_privs, no core dumps\n")
	b.WriteString(p.Landlock.String())
	fmt.Fprintf(&b, "seccomp %s\n", p.Seccomp)
	for range p.Narrowing {
		b.WriteString("seccomp narrowed by sandboxctl.seccompProfile\n")
	}
	fmt.Fprintf(&b, "dir     %s\n", p.Dir)
	if p.Wall > 0 {
		fmt.Fprintf(&b, "wall    %s\n", p.Wall)
	}
	for _, d := range p.Degraded {
		fmt.Fprintf(&b, "degraded %s\n", d)
	}
	return b.String()
}

// WithWall returns a copy whose command is ended after d.
func (p *Plan) WithWall(d time.Duration) *Plan {
	c := *p
	c.Wall = d
	return &c
}

// Explainable returns a Plan that only answers questions ([Plan.Evaluator], [Plan.Rules]): it is made for rules that this
// version or host may not be able to enforce, and refuses to start.
func Explainable(rules *srtconfig.Rules) (*Plan, error) {
	judge, err := evaluator.New(rules)
	if err != nil {
		return nil, err
	}
	return &Plan{Dir: rules.Cwd(), judge: judge, rules: rules}, nil
}
