package enforcer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sandboxctl/sandboxctl/enforcer/landlock"
	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"github.com/sandboxctl/sandboxctl/enforcer/stage"
	"golang.org/x/sys/unix"
)

// Streams are what a stage must have before it starts.
type Streams struct {
	// Stdin, Stdout and Stderr are handed to the command as they are; nil = /dev/null. With Terminal they are not used.
	Stdin, Stdout, Stderr *os.File
	Terminal              bool // a pseudo-terminal of the sandbox's own: see [Process.Terminal]
}

// Prepared is a sandbox without a policy: namespaces and a PID 1 that comes up by itself while the caller still derives rules.
// It holds no program and does nothing until [Plan.StartPrepared] or Close, one of which must be called.
type Prepared struct {
	streams Streams
	apart   bool // in a session of its own
	proc    *Process
	begin   time.Time
}

// Prepare starts a sandbox ahead of its Plan.
//
// Preconditions: the caller has locked its goroutine to its OS thread, and the thread lives until the sandbox has ended. The
// parent-death signal is sent when the thread that forked ends, not the process (prctl(2), PR_SET_PDEATHSIG). [Plan.Start]
// sees to that itself.
func Prepare(streams Streams) (*Prepared, error) {
	if !entered.Load() {
		return nil, ErrNoStage
	}
	uids, gids, err := idMaps()
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	defer unix.Close(pair[1])
	abi, err := landlock.ABI()
	apart := streams.Terminal || !anyTerminal(streams) || err != nil || landlock.Compile(abi, nil).OwnSession()
	l := &Prepared{streams: streams, apart: apart, begin: time.Now(), proc: &Process{done: make(chan struct{}), control: pair[0]}}
	l.proc.prepared = l
	l.proc.pid, err = l.fork(pair[1], uids, gids)
	if err != nil {
		unix.Close(pair[0])
		return nil, err
	}
	return l, nil
}

// Close ends a prepared sandbox that was not started, and waits for its end.
func (l *Prepared) Close() {
	l.proc.hangUp()
	l.proc.finish()
}

func (l *Prepared) fork(peer int, uids, gids []syscall.SysProcIDMap) (int, error) {
	var files []uintptr
	for _, f := range []*os.File{l.streams.Stdin, l.streams.Stdout, l.streams.Stderr} {
		if f == nil {
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				return 0, err
			}
			defer null.Close()
			f = null
		}
		files = append(files, f.Fd())
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{stage.Argv0}, &syscall.ProcAttr{
		// The garbage collector, watching the processor limit and a crash dump would only cost time and show memory.
		Env:   []string{"GOGC=off", "GOTRACEBACK=none", "GODEBUG=containermaxprocs=0,updatemaxprocs=0"},
		Files: append(files, uintptr(peer)),
		Sys: &syscall.SysProcAttr{
			Cloneflags: namespaces, UidMappings: uids, GidMappings: gids, AmbientCaps: stageCaps, Setsid: l.apart,
		},
	})
	if err != nil {
		return 0, explainFork(&forkError{err: err})
	}
	return pid, nil
}

// namespaces of tier full. The kernel makes the user namespace first, so that the others belong to it.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// stageCaps are what the stage needs in its own user namespace: mounts, pivot_root and chroot, the loopback, and the right to drop
// the bounding set. An exec by another uid than 0 would lose them but for the ambient set.
var stageCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}

// deliver hands the Plan and the command to the stage.
func (p *Plan) deliver(l *Prepared, c Command) error {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return errors.New("no command")
	}
	dir, err := p.dirFor(c)
	if err != nil {
		return err
	}
	spec, err := stage.WriteSpec(&stage.Spec{
		Mounts: withConsole(p.Mounts, l.streams), Landlock: p.Landlock, Seccomp: p.Seccomp, Narrowing: p.Narrowing, Network: true,
		Argv: c.Argv, Env: c.Env, Dir: dir, Terminal: l.streams.Terminal, Apart: l.apart,
	})
	if err != nil {
		return err
	}
	defer spec.Close()
	return l.proc.send(stage.Message{Kind: stage.Begin}, int(spec.Fd()))
}

// withConsole names the terminal that the command inherits, if one of its standard descriptors is one.
func withConsole(m mount.Plan, c Streams) mount.Plan {
	name := ""
	for _, f := range []*os.File{c.Stdin, c.Stdout, c.Stderr} {
		if c.Terminal || name != "" || !isTerminal(f) {
			continue
		}
		link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		if err == nil && strings.HasPrefix(link, "/dev/pts/") {
			name = link
		}
	}
	if name == "" {
		return m
	}
	ops := slices.Clone(m.Ops)
	for i := range ops {
		if ops[i].Kind == mount.Dev {
			ops[i].Console = name
		}
	}
	m.Ops = ops
	return m
}

// anyTerminal reports whether the command inherits a terminal. One that does not has no business with the caller's: in a
// session of its own it has no /dev/tty to read the user's keys from.
func anyTerminal(c Streams) bool {
	return isTerminal(c.Stdin) || isTerminal(c.Stdout) || isTerminal(c.Stderr)
}

func isTerminal(f *os.File) bool {
	if f == nil {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// dirFor returns the directory that a command starts in, and refuses one that the rules close.
func (p *Plan) dirFor(c Command) (string, error) {
	if c.Dir == "" || c.Dir == p.Dir {
		return p.Dir, nil
	}
	if d := p.judge.CanRead(c.Dir); !d.Allowed {
		return "", &SetupError{Err: fmt.Errorf("working directory %s", c.Dir), Hint: d.Explain()}
	}
	return c.Dir, nil
}

// forkError is a fork, a namespace or an id map that was refused.
type forkError struct{ err error }

func (e *forkError) Error() string { return "start the stage: " + e.err.Error() }
func (e *forkError) Unwrap() error { return e.err }
