package search

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sandboxctl/sandboxctl/enforcer"
)

// Runner starts programs in a sandbox.
type Runner interface {
	// Start returns when the program runs. The end of ctx ends it. Standard input is empty.
	Start(ctx context.Context, c Command) (Process, error)
}

// Command is a program to start.
type Command struct {
	Argv   []string
	Argv0  string    // what the program is told as its own name; "" = Argv[0]
	Dir    string    // absolute and free of links
	Stdout *os.File  // handed over; the caller closes its own copy
	Stderr io.Writer // nothing is written to it any more when Wait has returned
}

// Process is a program that was started. Its methods are safe for concurrent use.
type Process interface {
	// Kill ends the program and all that it started.
	Kill()
	// Wait returns when the program and all that it started are gone.
	Wait() (Ending, error)
}

// Ending says how a program ended.
type Ending struct {
	Code     int
	Signal   syscall.Signal // 0 = it exited
	TimedOut bool           // the settings' time limit ended it
}

// Sandboxed starts programs under an Enforcer, in the kernel sandbox. An Argv0 of another last part than Argv[0] has is
// refused with ErrArgv0.
func Sandboxed(e *enforcer.Enforcer) Runner { return sandboxed{e} }

// ErrArgv0 says that a program cannot be given another name.
var ErrArgv0 = errors.New("ripgrep.argv0: the sandbox cannot start a program under another name than its own")

type sandboxed struct{ enforcer *enforcer.Enforcer }

func (s sandboxed) Start(ctx context.Context, c Command) (Process, error) {
	if c.Argv0 != "" && filepath.Base(c.Argv0) != filepath.Base(c.Argv[0]) {
		return nil, ErrArgv0
	}
	x, err := s.enforcer.Run(ctx, enforcer.Operation{Argv: c.Argv, Dir: c.Dir, Stdout: c.Stdout, Stderr: c.Stderr})
	if err != nil {
		return nil, err
	}
	return execution{x}, nil
}

type execution struct{ *enforcer.Execution }

func (x execution) Wait() (Ending, error) {
	r, err := x.Execution.Wait()
	return Ending{Code: r.Code, Signal: r.Signal, TimedOut: r.TimedOut}, err
}
