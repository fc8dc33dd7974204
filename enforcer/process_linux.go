package enforcer

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
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
	Streams
	Grace time.Duration // between SIGTERM and SIGKILL at a limit or a cancel; 0 = DefaultGrace
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
	prepared *Prepared
	inline   atomic.Bool // Wait does the work of finish
	done     chan struct{}
	result   Result
	err      error
	terminal *os.File
	end      ending

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
	type started struct {
		proc *Process
		err  error
	}
	answer := make(chan started)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function, after the sandbox
		l, err := Prepare(c.Streams)
		if err != nil {
			answer <- started{err: err}
			return
		}
		proc, err := p.begin(ctx, l, c)
		answer <- started{proc, err}
		if err == nil {
			proc.finish()
		}
	}()
	a := <-answer
	return a.proc, a.err
}

// StartPrepared is Start in a sandbox that [Prepare] made; the command's streams are those given there. It uses the sandbox
// up, also when it fails. [Process.Wait] does the waiting on its own goroutine and has to be called.
func (p *Plan) StartPrepared(ctx context.Context, l *Prepared, c Command) (*Process, error) {
	proc, err := p.begin(ctx, l, c)
	if err != nil {
		return nil, err
	}
	proc.inline.Store(true)
	return proc, nil
}

// begin hands the Plan to a prepared sandbox and returns when the command runs. On error the sandbox has ended.
func (p *Plan) begin(ctx context.Context, l *Prepared, c Command) (*Process, error) {
	err := ctx.Err()
	if p.Tier != TierFull || p.rules == nil {
		err = errors.New("internal error: a Plan that Compile did not make")
	}
	if err == nil {
		err = p.deliver(l, c)
	}
	if err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) { // then the stage has said why
		l.Close()
		return nil, err
	}
	proc := l.proc
	if err := proc.listen(func() bool { return proc.end.running || proc.end.failed != nil }); err != nil {
		proc.finish()
		return nil, p.explain(err)
	}
	if ctx.Done() != nil || p.Wall > 0 {
		go proc.watch(ctx, p.Wall, l.begin, c.grace())
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
	if p.inline.CompareAndSwap(true, false) {
		p.finish()
	}
	<-p.done
	return p.result, p.err
}

// Done is closed when every process of the sandbox has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Terminal is the controlling side of the command's terminal; nil without one. The caller closes it.
func (p *Process) Terminal() *os.File { return p.terminal }

// Signal passes a signal on to the command, unless the kernel has sent it to the whole process group already.
func (p *Process) Signal(sig syscall.Signal) error {
	return p.send(stage.Message{Kind: stage.Signal, Signal: sig})
}

// send gives the stage a message, with descriptors.
func (p *Process) send(m stage.Message, fds ...int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control < 0 {
		return os.ErrProcessDone
	}
	return unix.Sendmsg(p.control, m.Encode(), rights, nil, unix.MSG_NOSIGNAL)
}

// hangUp tells the stage that nobody needs it any more; its end of the socket reads end of file.
func (p *Process) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control >= 0 {
		_ = unix.Shutdown(p.control, unix.SHUT_WR)
	}
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

// finish takes the stage's messages to the end, reaps it and settles the result.
func (p *Process) finish() {
	defer close(p.done)
	_ = p.listen(func() bool { return false }) // it reports the end, which is what we wait for
	status := p.reap()
	p.closeControl()
	end, input := p.end, p.prepared.streams.Stdin
	if end.exited != nil && end.exited.Offset >= 0 && input != nil {
		// The command read its input from a description of its own; whoever shares ours goes on where it stopped.
		_, _ = input.Seek(end.exited.Offset, io.SeekStart)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.Elapsed = time.Since(p.prepared.begin)
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
	}
}

// ending is what the stage has said so far.
type ending struct {
	running bool
	failed  *stage.Failure
	exited  *stage.Message
}

// listen takes the stage's messages until enough says so. The error is the stage's failure, or that its end of the socket
// closed.
func (p *Process) listen(enough func() bool) error {
	buf, oob := make([]byte, 16<<10), make([]byte, unix.CmsgSpace(4))
	for !enough() {
		n, oobn, _, _, err := unix.Recvmsg(p.control, buf, oob, unix.MSG_CMSG_CLOEXEC)
		// ECONNRESET: the stage ended without reading what we sent. It comes once, and before what the stage has sent.
		if err == unix.EINTR || err == unix.ECONNRESET {
			continue
		}
		if err != nil || n == 0 {
			return &SetupError{Err: errors.New("the sandbox ended while it was set up")}
		}
		m, err := stage.DecodeMessage(buf[:n])
		if err != nil {
			continue
		}
		switch e := &p.end; m.Kind {
		case stage.Terminal:
			if p.terminal == nil {
				p.terminal = receivedFile(oob[:oobn])
			}
		case stage.Failed:
			if e.failed == nil && !e.running && m.Fail != nil {
				e.failed = m.Fail
			}
		case stage.Started:
			e.running = e.failed == nil
		case stage.Exited:
			e.exited = &m
		}
	}
	if p.end.failed != nil {
		return p.end.failed
	}
	return nil
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

func (p *Process) reap() syscall.WaitStatus {
	var status syscall.WaitStatus
	p.mu.Lock()
	pid := p.pid
	p.mu.Unlock()
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
