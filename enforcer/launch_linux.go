package enforcer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/sandboxctl/sandboxctl/enforcer/internal/wire"
	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"github.com/sandboxctl/sandboxctl/enforcer/stage"
	"golang.org/x/sys/unix"
)

// launch is a fork that is ready to be made.
type launch struct {
	attr    *syscall.ProcAttr
	spec    *os.File // sealed memory file
	peer    int      // the stage's end of the control socket
	control int      // ours
	input   *os.File // the command's standard input; nil = /dev/null
	null    *os.File // for standard descriptors that were not given; nil when all were
}

// namespaces of tier full. The kernel makes the user namespace first, so that the others belong to it.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// stageCaps are what the stage needs in its own user namespace: mounts, pivot_root and chroot, the loopback, and the right to drop
// the bounding set. An exec by another uid than 0 would lose them but for the ambient set.
var stageCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}

func (p *Plan) prepare(c Command) (*launch, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("no command")
	}
	dir, err := p.dirFor(c)
	if err != nil {
		return nil, err
	}
	uids, gids, err := idMaps()
	if err != nil {
		return nil, err
	}
	spec, err := stage.WriteSpec(&stage.Spec{
		Mounts: withConsole(p.Mounts, c), Landlock: p.Landlock, Seccomp: p.Seccomp, Narrowing: p.Narrowing, Network: true,
		Argv: wire.Strings(c.Argv), Env: wire.Strings(c.Env), Dir: wire.String(dir), Terminal: c.Terminal,
		OwnSession: p.Landlock.OwnSession() || !anyTerminal(c),
	})
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		spec.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	l := &launch{spec: spec, control: pair[0], peer: pair[1], input: c.Stdin}
	files, err := l.standard(c)
	if err != nil {
		l.close()
		unix.Close(l.control)
		return nil, err
	}
	l.attr = &syscall.ProcAttr{
		// The garbage collector and a crash dump of the stage would only cost time and show memory.
		Env:   []string{"GOGC=off", "GOTRACEBACK=none"},
		Files: append(files, spec.Fd(), uintptr(l.peer)),
		Sys: &syscall.SysProcAttr{
			Cloneflags: namespaces, UidMappings: uids, GidMappings: gids, AmbientCaps: stageCaps,
		},
	}
	return l, nil
}

// withConsole names the terminal that the command inherits, if one of its standard descriptors is one.
func withConsole(m mount.Plan, c Command) mount.Plan {
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
func anyTerminal(c Command) bool {
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

func (l *launch) standard(c Command) ([]uintptr, error) {
	var files []uintptr
	for _, f := range []*os.File{c.Stdin, c.Stdout, c.Stderr} {
		if f == nil {
			if l.null == nil {
				null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
				if err != nil {
					return nil, err
				}
				l.null = null
			}
			f = l.null
		}
		files = append(files, f.Fd())
	}
	return files, nil
}

// fork starts the stage from the calling thread and lets go of what is the stage's.
func (l *launch) fork() (int, error) {
	defer l.close()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{stage.Argv0}, l.attr)
	if err != nil {
		return 0, &forkError{err: err}
	}
	return pid, nil
}

func (l *launch) close() {
	l.spec.Close()
	unix.Close(l.peer)
	if l.null != nil {
		l.null.Close()
	}
}

// forkError is a fork, a namespace or an id map that was refused.
type forkError struct{ err error }

func (e *forkError) Error() string { return "start the stage: " + e.err.Error() }
func (e *forkError) Unwrap() error { return e.err }
