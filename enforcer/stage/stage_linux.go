package stage

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/sandboxctl/sandboxctl/enforcer/internal/layers"
	"github.com/sandboxctl/sandboxctl/enforcer/landlock"
	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"github.com/sandboxctl/sandboxctl/enforcer/seccomp"
	"golang.org/x/sys/unix"
)

// Main is the stage's whole life. It does not return.
//
// It is called before anything else in the process, so that no goroutine, thread-bound state or open file of the program
// gets in its way.
func Main() {
	// Everything below belongs to the thread: mounts to its namespace, capabilities, domain and filter to its credentials.
	runtime.LockOSThread()
	debug.SetGCPercent(-1) // the stage lives on a few hundred kilobytes
	control := controlSocket(ControlFD)
	s, err := setUp(control)
	if err != nil {
		control.send(Message{Kind: Failed, Fail: asFailure(err)})
		os.Exit(125)
	}
	s.supervise(control)
}

// setUp is the order of a launch. Each step is one function that says why it stands where it stands.
func setUp(control controlSocket) (*supervisor, error) {
	if err := bindToLauncher(); err != nil {
		return nil, err
	}
	if err := checkStandardDescriptors(); err != nil {
		return nil, err
	}
	if err := closeInherited(); err != nil {
		return nil, err
	}
	spec, err := receiveSpec(control)
	if err != nil {
		return nil, err
	}
	input, err := reopenInput()
	if err != nil {
		return nil, err
	}
	base := -1
	if layers.Mounts {
		if base, err = spec.Mounts.Apply(); err != nil {
			return nil, err
		}
	}
	if spec.Network {
		if err := loopbackUp(); err != nil {
			return nil, err
		}
	}
	terminal, err := openTerminal(spec, control)
	if err != nil {
		return nil, err
	}
	if err := enterDir(spec.Dir); err != nil {
		return nil, err
	}
	program, err := findProgram(spec)
	if err != nil {
		return nil, err
	}
	domains, err := prepareDomains(spec, base)
	if err != nil {
		return nil, err
	}
	return start(spec, program, terminal, domains, input)
}

// bindToLauncher comes first: from here on the launcher's death is ours, and with PID 1 the sandbox's. Nothing of the
// launcher's memory is here any more, but what is here (the Spec) is nobody's business: not dumpable means that no
// process of the sandbox can open /proc/1/mem, environ, root, exe or fd.
func bindToLauncher() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fail(LayerProcess, "prctl PR_SET_PDEATHSIG", "", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fail(LayerProcess, "prctl PR_SET_DUMPABLE", "", err)
	}
	// The launcher may have died before the signal was asked for; a parent outside shows as PID 0, so ask the socket.
	fds := []unix.PollFd{{Fd: ControlFD, Events: unix.POLLIN}}
	if _, err := unix.Poll(fds, 0); err != nil && err != unix.EINTR {
		return fail(LayerProcess, "poll", "", err)
	}
	if fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 {
		os.Exit(125)
	}
	return nil
}

// checkStandardDescriptors refuses a directory or an O_PATH descriptor as standard input or output: names are looked up
// from it on the host's own mounts, past every denial.
func checkStandardDescriptors() error {
	for fd := range 3 {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			continue // closed
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return fail(LayerProcess, "fcntl F_GETFL", fmt.Sprintf("descriptor %d", fd), err)
		}
		if st.Mode&unix.S_IFMT == unix.S_IFDIR || flags&unix.O_PATH != 0 {
			return &Failure{Layer: LayerProcess, Op: "check", Path: fmt.Sprintf("descriptor %d", fd),
				Text: "standard input and output may not be directories: they open the host's tree; redirect them"}
		}
	}
	return nil
}

// closeInherited closes what the launcher's own parent left open, and really closes it: on exec is too late, since a path
// may go through /proc/self/fd (CVE-2024-21626). The Go runtime of this process has opened nothing that it keeps: its
// poller starts with the first use, and it does not watch the processor limit (launch_linux.go sets GODEBUG).
func closeInherited() error {
	unix.CloseOnExec(ControlFD)
	if err := unix.CloseRange(ControlFD+1, math.MaxInt32, 0); err != nil {
		return fail(LayerProcess, "close_range", "", err)
	}
	return nil
}

// enterDir comes after the tree is built, by descriptor and without links: a working directory that was replaced since the
// rules were derived, or that a denial hides, ends the launch instead of moving the command elsewhere.
func enterDir(dir string) error {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &how)
	if err != nil {
		return fail(LayerDir, "open", dir, err)
	}
	defer unix.Close(fd)
	if err := unix.Fchdir(fd); err != nil {
		return fail(LayerDir, "fchdir", dir, err)
	}
	return nil
}

// dropRights comes after the last step that needs a capability (the mounts, the loopback) and before the domain and the
// filter, which need no_new_privs but no capability then.
func dropRights() error {
	// 1 byte, not 0: when core_pattern is a pipe, the kernel starts the host's program whatever the limit is, but for this
	// value (core(5), fs/coredump.c). A file of one byte is less than any core dump, so that none is written either.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1}); err != nil {
		return fail(LayerCaps, "setrlimit", "RLIMIT_CORE", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fail(LayerCaps, "prctl PR_SET_NO_NEW_PRIVS", "", err)
	}
	return dropCapabilities()
}

// prepareDomains comes after the tree is there and before the capabilities go, which may be needed to open a directory
// that has no permission for its owner.
func prepareDomains(spec *Spec, base int) (*landlock.Domains, error) {
	if base >= 0 {
		defer unix.Close(base)
	}
	if !layers.Landlock {
		return &landlock.Domains{}, nil
	}
	d, err := spec.Landlock.Prepare(base)
	if err != nil {
		return nil, fail(LayerLandlock, "prepare", "", err)
	}
	return d, nil
}

// restrict comes last. The domain forbids every change to mounts, so it follows them; the filter follows the domain, so
// that it need not let the Landlock calls through for us.
func restrict(spec *Spec, domains *landlock.Domains) error {
	if err := domains.Enter(); err != nil {
		return fail(LayerLandlock, "enter", "", err)
	}
	if !layers.Seccomp {
		return nil
	}
	programs, err := seccomp.Programs(spec.Seccomp)
	if err != nil {
		return fail(LayerSeccomp, "choose", "", err)
	}
	if err := seccomp.Load(append(programs, spec.Narrowing...)...); err != nil {
		return fail(LayerSeccomp, "load", "", err)
	}
	return nil
}

func fail(layer Layer, op, path string, err error) error {
	f := &Failure{Layer: layer, Op: op, Path: path}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		f.Errno = errno
	}
	if err != nil && err != error(f.Errno) {
		f.Text = err.Error()
	}
	return f
}

func asFailure(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	var m *mount.Error
	if errors.As(err, &m) {
		call := m.Call
		if m.Detail != "" {
			call += " " + m.Detail
		}
		return &Failure{Layer: LayerMounts, Op: call, Path: m.Path, Cause: m.Op.Cause, Errno: m.Errno}
	}
	return &Failure{Layer: LayerProcess, Op: "set up", Text: err.Error()}
}
