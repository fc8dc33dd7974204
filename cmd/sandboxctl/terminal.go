package main

import (
	"io"
	"os"
	"os/signal"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// attachTerminal couples this program's standard input and output with the command's terminal, and returns the function
// that undoes it. Where standard input is a terminal it is put into raw mode, so that keys reach the command's terminal as
// they are, and changes of its size are passed on.
func attachTerminal(env Env, proc *enforcer.Process) (restore func(), err error) {
	master := proc.Terminal()
	in := int(env.Stdin.Fd())
	undo := func() {}
	if term.IsTerminal(in) {
		old, err := term.MakeRaw(in)
		if err != nil {
			return nil, err
		}
		undo = func() { _ = term.Restore(in, old) }
		resize := make(chan os.Signal, 1)
		signal.Notify(resize, unix.SIGWINCH)
		copySize(in, master)
		go func() {
			for range resize {
				copySize(in, master)
			}
		}()
		stop := undo
		undo = func() {
			signal.Stop(resize)
			close(resize)
			stop()
		}
	}
	// Ends with the process: a read of standard input cannot be called off.
	go func() {
		_, _ = io.Copy(master, env.Stdin)
		_, _ = master.Write([]byte{4}) // end of input, as a terminal says it
	}()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(env.Stdout, master) // EIO when the command's side is closed
	}()
	return func() {
		<-drained
		undo()
		master.Close()
	}, nil
}

func copySize(from int, to *os.File) {
	if ws, err := unix.IoctlGetWinsize(from, unix.TIOCGWINSZ); err == nil {
		_ = unix.IoctlSetWinsize(int(to.Fd()), unix.TIOCSWINSZ, ws)
	}
}
