package landlock

import (
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// MaxABI is the newest ABI version whose rights this package knows. A newer kernel is used as this one: rights that it
// added are not handled, which the kernel document defines as the older behaviour.
const MaxABI = 8

// byABI says what each ABI version added. Source: the kernel's userspace-api/landlock, "Previous limitations".
var byABI = []struct {
	abi   int
	fs    Access
	scope Scope
	lost  Missing
}{
	{1, ll.AccessFSRefer - 1, 0, Missing{}},
	// Before ABI 2 a rename or link between directories is always denied: stricter, so nothing is lost but comfort.
	{2, ll.AccessFSRefer, 0, Missing{What: "renames between directories", Covered: "always denied by this kernel"}},
	{3, ll.AccessFSTruncate, 0, Missing{What: "truncate(2)", Covered: "read-only mounts"}},
	{5, ll.AccessFSIoctlDev, 0, Missing{What: "ioctl(2) on devices", Covered: "only harmless devices are in /dev"}},
	{6, 0, ScopeSignal | ScopeAbstractUnix, Missing{What: "scopes for signals and abstract sockets", Covered: "the command gets a session of its own; PID and network namespaces"}},
}

// Compile makes the ruleset of tier full: everything may be read (the mounts carve), and written are the writable places,
// the sandbox's own file systems and the standard descriptors as they were given.
// abi is the kernel's version, as [ABI] returns it; below 1 nothing can be handled and the Plan is empty.
func Compile(abi int, writable []string) Plan {
	if abi < 1 {
		return Plan{}
	}
	p := Plan{ABI: min(abi, MaxABI)}
	for _, row := range byABI {
		if row.abi <= p.ABI {
			p.Handled |= row.fs
			p.Scoped |= row.scope
			continue
		}
		row.lost.NeedABI = row.abi
		p.Missing = append(p.Missing, row.lost)
	}
	p.add("/", ReadExecute, "reads are carved by mounts")
	for _, root := range writable {
		p.add(root, ReadExecute|WriteTree, "writable tree")
	}
	// Threads are named by writing to /proc/self/task/TID/comm; what belongs to the host in /proc is mounted read-only.
	p.add("/proc", ReadExecute|WriteFile, "a process may tune itself")
	p.add("/dev/shm", ReadExecute|WriteTree, "shared memory of the sandbox's own")
	p.add("/dev/pts", ReadExecute|WriteFile|Ioctl, "terminals of the sandbox's own")
	for _, dev := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"} {
		p.add(dev, ReadFile|WriteFile|Ioctl, "harmless device")
	}
	return p
}

func (p *Plan) add(path string, a Access, cause string) {
	p.Rules = append(p.Rules, Rule{Path: path, Access: a & p.Handled, Cause: cause})
}

// OwnSession reports whether the command must get a session of its own, as without signal scoping it could reach the
// processes outside that share its process group.
func (p Plan) OwnSession() bool { return p.Scoped&ScopeSignal == 0 }
