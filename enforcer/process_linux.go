package enforcer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/sandboxctl/sandboxctl/enforcer/stage"
	"golang.org/x/sys/unix"
)

// Command is what to run in a sandbox.
type Command struct {
	Argv []string // the program, looked up in the sandbox by PATH of Env, and its arguments
	Env  []string // the whole environment, as [Environment] builds it
	// Dir is where the command starts: absolute and free of symlinks; "" = the working directory of the rules. Relative
	// entries of the settings are not affected: they belong to the session.
	Dir string
	// Stdin, Stdout and Stderr are handed to the command as they are; nil = /dev/null. With Terminal they are not used.
	Stdin, Stdout, Stderr *os.File
	Terminal              bool          // a pseudo-terminal of the sandbox's own: see [Process.Terminal]
	Grace                 time.Duration // between SIGTERM and SIGKILL at a limit or a cancel; 0 = DefaultGrace
}

// DefaultGrace is the time that a command has to end itself after SIGTERM.
const DefaultGrace = 2 * time.Second

// Result is how a command ended. A non-zero exit is data, not an error.
type Result struct {
	Code     int            // exit status; 128 + Signal when a signal ended it
	Signal   syscall.Signal // 0 = it exited
	TimedOut bool           // the wall limit ended it
	Elapsed  time.Duration  // from the launch to the end of the last process of the sandbox
}

// Process is a running sandbox. Its methods are safe for concurrent use.
type Process struct {
	started  chan error // one value: nil when the command runs
	done     chan struct{}
	result   Result
	err      error
	terminal *os.File

	mu      sync.Mutex
	pid     int // of the stage; 0 when it has been reaped, so that no signal reaches a stranger
	control int // socket; -1 when closed
}

// Start launches the command and returns when it runs, or with the reason why it does not: [*FeatureError],
// [*SetupError], [*ExecError], [ErrNoStage].
//
// The end of ctx, or of the Plan's wall limit, sends SIGTERM, and after the grace time kills every process of the sandbox.
// The death of the calling process kills them at once, in any case. One OS thread is bound for as long as the command runs.
func (p *Plan) Start(ctx context.Context, c Command) (*Process, error) {
	if p.Tier != TierFull || p.rules == nil {
		return nil, errors.New("internal error: a Plan that Compile did not make")
	}
	if !entered.Load() {
		return nil, ErrNoStage
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := p.prepare(c)
	if err != nil {
		return nil, err
	}
	proc := &Process{started: make(chan error, 1), done: make(chan struct{}), control: l.control}
	begin := time.Now()
	go proc.own(l, begin)
	if err := <-proc.started; err != nil {
		<-proc.done
		return nil, p.explain(err)
	}
	if ctx.Done() != nil || p.Wall > 0 {
		go proc.watch(ctx, p.Wall, begin, c.grace())
	}
	return proc, nil
}

func (c Command) grace() time.Duration {
	if c.Grace > 0 {
		return c.Grace
	}
	return DefaultGrace
}

// Wait returns when every process of the sandbox has ended. The error tells of a sandbox that broke, not of a command
// that failed.
func (p *Process) Wait() (Result, error) {
	<-p.done
	return p.result, p.err
}

// Done is closed when every process of the sandbox has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Terminal is the controlling side of the command's terminal; nil without one. The caller closes it.
func (p *Process) Terminal() *os.File { return p.terminal }

// Signal passes a signal on to the command, unless the kernel has sent it to the whole process group already.
func (p *Process) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control < 0 {
		return os.ErrProcessDone
	}
	return unix.Sendmsg(p.control, stage.Message{Kind: stage.Signal, Signal: sig}.Encode(), nil, nil, unix.MSG_NOSIGNAL)
}

// Kill ends every process of the sandbox.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pid > 0 {
		_ = unix.Kill(p.pid, unix.SIGKILL)
	}
}

func (p *Process) watch(ctx context.Context, wall time.Duration, begin time.Time, grace time.Duration) {
	var limit <-chan time.Time
	if wall > 0 {
		t := time.NewTimer(time.Until(begin.Add(wall)))
		defer t.Stop()
		limit = t.C
	}
	select {
	case <-p.done:
		return
	case <-limit:
		p.mu.Lock()
		p.result.TimedOut = p.pid > 0
		p.mu.Unlock()
	case <-ctx.Done():
	}
	_ = p.Signal(unix.SIGTERM)
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-p.done:
	case <-t.C:
		p.Kill()
	}
}

// own is the life of a sandbox on one OS thread. The thread must not end before the stage: the stage's parent-death signal
// is sent when the thread that forked it ends, not the process (prctl(2), PR_SET_PDEATHSIG).
func (p *Process) own(l *launch, begin time.Time) {
	runtime.LockOSThread() // never unlocked: the thread ends with this function
	defer close(p.done)
	pid, err := l.fork()
	if err != nil {
		p.closeControl()
		p.started <- err
		return
	}
	p.mu.Lock()
	p.pid = pid
	p.mu.Unlock()
	end := p.listen()
	status := p.reap(pid)
	p.closeControl()
	if end.exited != nil && end.exited.Offset != nil && l.input != nil {
		// The command read its input from a description of its own; whoever shares ours goes on where it stopped.
		_, _ = l.input.Seek(*end.exited.Offset, io.SeekStart)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.Elapsed = time.Since(begin)
	switch {
	case end.exited != nil && end.exited.Signal != 0:
		p.result.Signal = end.exited.Signal
		p.result.Code = 128 + int(end.exited.Signal)
	case end.exited != nil:
		p.result.Code = end.exited.Code
	case end.running && status.Signaled():
		p.result.Signal = status.Signal()
		p.result.Code = 128 + int(status.Signal())
	case end.running:
		p.err = &SetupError{Err: errors.New("the sandbox ended before the command did")}
		p.result.Code = 125
	case end.failed == nil:
		p.started <- &SetupError{Err: fmt.Errorf("the sandbox ended while it was set up (%s)", describe(status))}
	}
}

type ending struct {
	running bool
	failed  *stage.Failure
	exited  *stage.Message
}

// listen takes the stage's messages until its end of the socket closes.
func (p *Process) listen() ending {
	var e ending
	buf, oob := make([]byte, 16<<10), make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(p.control, buf, oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return e
		}
		m, err := stage.DecodeMessage(buf[:n])
		if err != nil {
			continue
		}
		switch m.Kind {
		case stage.Terminal:
			p.terminal = receivedFile(oob[:oobn])
		case stage.Failed:
			if e.failed == nil && !e.running && m.Fail != nil {
				e.failed = m.Fail
				p.started <- m.Fail
			}
		case stage.Started:
			if !e.running && e.failed == nil {
				e.running = true
				p.started <- nil
			}
		case stage.Exited:
			e.exited = &m
		}
	}
}

func receivedFile(oob []byte) *os.File {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) == 0 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) == 0 {
		return nil
	}
	// Non-blocking, so that closing the file wakes a reader.
	_ = unix.SetNonblock(fds[0], true)
	return os.NewFile(uintptr(fds[0]), "terminal")
}

func (p *Process) reap(pid int) syscall.WaitStatus {
	var status syscall.WaitStatus
	// The zombie holds the PID until it is reaped, and the lock keeps Kill off once it is.
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		_, err := syscall.Wait4(pid, &status, 0, nil)
		if err != syscall.EINTR {
			break
		}
	}
	p.pid = 0
	return status
}

func (p *Process) closeControl() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control >= 0 {
		unix.Close(p.control)
		p.control = -1
	}
}

func describe(s syscall.WaitStatus) string {
	if s.Signaled() {
		return "killed by " + unix.SignalName(s.Signal())
	}
	return fmt.Sprintf("status %d", s.ExitStatus())
}
