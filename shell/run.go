package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/artifact"
	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Run runs one command line to its end. Its artifact is the output, then lines of ours: what the settings deny of what the
// command named, if it failed, and last "Exit code: N" or "[timed out after Ns]".
//
// Every error is an *outcome.Error. The end of ctx ends the command, first by SIGTERM; its output is then let go of and the
// error has the outcome Aborted or, at a deadline of ctx, TimedOut. In every case, everything that was started is gone.
func (s *Shell) Run(ctx context.Context, r Request) (Result, error) {
	if err := s.check(&r); err != nil {
		return Result{}, err
	}
	rules := s.options.Enforcer.Rules()
	if err := AllowList(rules.Own().Commands.Allow).Check(r.Command); err != nil {
		return Result{}, err
	}
	spool, err := s.options.Spools.Spool(artifact.Meta{Name: "output.txt", LimitBytes: s.options.MaxOutputBytes})
	if err != nil {
		return Result{}, failed(err)
	}
	kept := false
	defer func() {
		if !kept {
			_ = spool.Abort() // nobody has its id, and the error that led here is told
		}
	}()
	limit := r.Timeout
	if wall := s.options.Enforcer.Plan().Wall; wall > 0 && wall < limit {
		limit = wall
	}
	out := &ending{spool: spool, newline: true}
	end, err := s.execute(ctx, r, limit, out)
	if err != nil {
		return Result{}, err
	}
	if end.Code != 0 {
		s.tellDenials(r, out)
	}
	result := Result{TimedOut: end.TimedOut}
	if end.TimedOut {
		out.line("[timed out after " + seconds(limit) + "]")
	} else {
		result.ExitCode = new(end.Code)
		out.line("Exit code: " + strconv.Itoa(end.Code))
	}
	made, err := spool.Finish()
	if err != nil {
		return Result{}, failed(err)
	}
	kept = true
	stats := spool.Stats()
	result.CallID, result.ByteLength, result.LineCount = made.Handle().CallID, stats.Bytes, stats.Lines
	if stats.Truncated != "" {
		result.KeptBytes = stats.Stored
	}
	result.Preview, err = s.previewOf(ctx, made)
	if err != nil {
		return Result{}, failed(err)
	}
	return result, nil
}

// execute runs the command and copies its output. It returns when everything has ended.
func (s *Shell) execute(ctx context.Context, r Request, limit time.Duration, to io.Writer) (enforcer.Result, error) {
	// One pipe for both keeps the order: the kernel appends each write to it.
	out, in, err := os.Pipe()
	if err != nil {
		return enforcer.Result{}, failed(err)
	}
	defer out.Close()
	_, _ = unix.FcntlInt(in.Fd(), unix.F_SETPIPE_SZ, 1<<20) // only slower without it
	x, err := s.options.Enforcer.Run(ctx, enforcer.Operation{
		// Without the "--" a command that begins with a hyphen would be options of sh.
		Argv: []string{"/bin/sh", "-c", "--", r.Command}, Dir: r.Dir, Stdout: in, Stderr: in, Wall: limit,
	})
	in.Close()
	if err != nil {
		return enforcer.Result{}, notStarted(ctx, err)
	}
	copied := make(chan error, 1)
	go func() { copied <- drain(out, x.Done(), to) }()
	end, err := x.Wait()
	copyErr := <-copied
	switch {
	case ctx.Err() != nil:
		return enforcer.Result{}, ended(ctx)
	case err != nil || copyErr != nil:
		return enforcer.Result{}, failed(errors.Join(err, copyErr))
	}
	return end, nil
}

// drain copies a pipe until its end or, when done is closed, until it is empty: a writer outside of the sandbox, which was
// handed the descriptor over a socket, must not hold the command open.
func drain(pipe *os.File, done <-chan struct{}, to io.Writer) error {
	finished := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-done:
			_ = pipe.SetReadDeadline(time.Unix(1, 0)) // wakes the reader; a pipe has deadlines
		case <-finished:
		}
	}()
	defer func() { close(finished); <-watched }()
	buf := make([]byte, 256<<10)
	for {
		n, err := pipe.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return rest(pipe, to, buf)
		case err != nil:
			return err
		}
	}
}

// rest copies what a pipe holds, without waiting for more.
func rest(pipe *os.File, to io.Writer, buf []byte) error {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	for {
		var n int
		var readErr error
		if err := conn.Control(func(fd uintptr) { n, readErr = unix.Read(int(fd), buf) }); err != nil {
			return err
		}
		switch {
		case readErr == unix.EINTR:
			continue
		case readErr == unix.EAGAIN, readErr == nil && n == 0:
			return nil
		case readErr != nil:
			return os.NewSyscallError("read", readErr)
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return err
		}
	}
}

// ending writes to the spool and knows whether a line of ours can begin.
type ending struct {
	spool   *artifact.Spool
	newline bool
}

// Write implements io.Writer.
func (e *ending) Write(p []byte) (int, error) {
	if len(p) > 0 {
		e.newline = p[len(p)-1] == '\n'
	}
	return e.spool.Write(p)
}

func (e *ending) line(text string) {
	if !e.newline {
		text = "\n" + text
	}
	_, _ = e.Write([]byte(text + "\n")) // a spool only fails when it was ended, and then Finish says so
}

func (s *Shell) tellDenials(r Request, out *ending) {
	rules := s.options.Enforcer.Rules() // as they were resolved for this run
	judge, err := evaluator.New(rules)
	if err != nil {
		return // then nothing ran; the lines are only an aid
	}
	for _, d := range denials(r.Command, r.Dir, rules, judge) {
		out.line("[sandbox] denied: " + d + " (observed after)")
	}
}

// markBytes is more than the line takes that stands between the two parts of a preview.
const markBytes = 80

func (s *Shell) previewOf(ctx context.Context, a *artifact.Artifact) (string, error) {
	if s.preview == 0 {
		return "", nil
	}
	p, err := a.Preview(ctx, s.preview)
	if err == nil && p.OmittedBytes > 0 {
		p, err = a.Preview(ctx, max(0, s.preview-markBytes))
	}
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

func failed(err error) error {
	switch {
	case errors.Is(err, artifact.ErrNotInitialized), errors.Is(err, enforcer.ErrClosed):
		return outcome.New(outcome.SessionClosed, "", err)
	}
	return outcome.New(outcome.IOFailure, "", fmt.Errorf("run a command: %w", err))
}

func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return outcome.New(outcome.TimedOut, "", context.Cause(ctx))
	}
	return outcome.New(outcome.Aborted, "", context.Cause(ctx))
}

// notStarted words why a command never ran.
func notStarted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	e := outcome.Of(failed(err), "")
	var exec *enforcer.ExecError
	switch {
	case e.Outcome == outcome.SessionClosed:
	case errors.As(err, &exec) && errors.Is(err, os.ErrPermission):
		e.Outcome = outcome.SandboxViolation
		e.Detail = "The settings keep the shell itself, or the working directory, from being used."
	case errors.Is(err, os.ErrNotExist):
		e.Detail = "The shell or the working directory does not exist in the sandbox."
	default:
		e.Detail = "The sandbox could not be set up, and nothing ran."
	}
	return e
}
