package stage

import (
	"errors"
	"os"
	"runtime"
	"syscall"

	"github.com/sandboxctl/sandboxctl/enforcer/landlock"
	"golang.org/x/sys/unix"
)

// supervisor is PID 1 after the command has been started.
type supervisor struct {
	command int          // PID of the command
	group   groupSignals // nil when the launcher's process group is another
	input   int          // the standard input that was opened anew; -1 = none
}

// start gives up every right on a thread of its own and runs the command from there: it inherits that thread's capability
// sets, domain and filter. The thread is not the first one of the process. Landlock judges signals and ptrace access by
// the first thread of the process they go to: PID 1's stays outside the domain, so that the command can neither signal
// nor inspect it.
func start(spec *Spec, program string, terminal int, domains *landlock.Domains, input int) (*supervisor, error) {
	s := &supervisor{input: input}
	if !spec.Apart {
		s.group = catch()
	}
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the restricted thread ends here
		if err = dropRights(); err != nil {
			return
		}
		if err = restrict(spec, domains); err != nil {
			return
		}
		s.command, err = fork(spec, program, terminal)
	}()
	<-done
	if err != nil {
		return nil, err
	}
	if terminal >= 0 {
		unix.Close(terminal)
		closeStandard()
	}
	return s, nil
}

func fork(spec *Spec, program string, terminal int) (int, error) {
	if err := resetSignals(); err != nil {
		return 0, err
	}
	argv := spec.Argv
	attr := &syscall.ProcAttr{Env: spec.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{}}
	if terminal >= 0 {
		t := uintptr(terminal)
		attr.Files = []uintptr{t, t, t}
		attr.Sys = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	}
	pid, err := syscall.ForkExec(program, argv, attr)
	if errors.Is(err, unix.ENOEXEC) { // a script without an interpreter line: as execvp(3) does
		pid, err = syscall.ForkExec("/bin/sh", append([]string{"/bin/sh", program}, argv[1:]...), attr)
	}
	if err != nil {
		return 0, fail(LayerExec, "execve", program, err)
	}
	return pid, nil
}

// closeStandard lets go of the launcher's standard descriptors, which a command with a terminal does not use; else they
// would keep pipes of the caller open. Their numbers stay taken by /dev/null.
func closeStandard() {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = unix.Dup3(null, fd, 0)
	}
	unix.Close(null)
}

// supervise reaps until the command has ended, then reports and exits. The kernel kills every process that is left in the
// PID namespace and waits for it before the launcher sees our end (pid_namespaces(7)).
func (s *supervisor) supervise(control controlSocket) {
	control.send(Message{Kind: Started})
	go s.obey(control)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			os.Exit(125) // without children there is nothing to be PID 1 for
		}
		if pid != s.command {
			continue
		}
		m := Message{Kind: Exited, Code: status.ExitStatus(), Offset: -1}
		if status.Signaled() {
			m.Code, m.Signal = 0, status.Signal()
		}
		if s.input >= 0 {
			if at, err := unix.Seek(s.input, 0, unix.SEEK_CUR); err == nil {
				m.Offset = at
			}
		}
		control.send(m)
		os.Exit(0)
	}
}

// obey passes signals on as the launcher asks, but for those that reached the whole process group already.
func (s *supervisor) obey(control controlSocket) {
	buf := make([]byte, maxMessage)
	for {
		m, ok := control.receive(buf)
		if !ok {
			os.Exit(125) // the launcher is gone
		}
		if m.Kind == Signal && (s.group == nil || !s.group.reached(m.Signal)) {
			_ = unix.Kill(s.command, m.Signal) // ESRCH: it has just ended
		}
	}
}
