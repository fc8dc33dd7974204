package field

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal with a program on it, as a person at a keyboard has it.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File // open, so that the modes stay when the program ends
	cmd    *exec.Cmd
	seen   bytes.Buffer // everything it printed
	read   int          // how much of it was waited for
}

// onTerminal starts a program in a session of its own, on a new terminal of 80 columns and 24 lines.
func onTerminal(t *testing.T, w *testkit.World, name string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, master: master}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	// Fd makes it blocking; a deadline needs the poller.
	if err := unix.SetNonblock(int(master.Fd()), true); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	master.Close()
	term.master = os.NewFile(uintptr(fd), "terminal")
	if term.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	term.size(80, 24)
	term.cmd = exec.Command(name, args...)
	term.cmd.Dir, term.cmd.Env = w.P, w.Env
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = term.slave, term.slave, term.slave
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		_ = term.cmd.Wait()
		term.slave.Close()
		term.master.Close()
	})
	return term
}

func (term *terminal) size(columns, lines uint16) {
	term.t.Helper()
	if err := unix.IoctlSetWinsize(int(term.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines}); err != nil {
		term.t.Fatal(err)
	}
}

func (term *terminal) modes() unix.Termios {
	term.t.Helper()
	m, err := unix.IoctlGetTermios(int(term.slave.Fd()), unix.TCGETS)
	if err != nil {
		term.t.Fatal(err)
	}
	return *m
}

// keys types.
func (term *terminal) keys(s string) {
	term.t.Helper()
	if _, err := term.master.WriteString(s); err != nil {
		term.t.Fatal(err)
	}
}

// shows waits until the terminal has printed a text after what was waited for before.
func (term *terminal) shows(text string) {
	term.t.Helper()
	if err := term.master.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		term.t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for {
		if i := strings.Index(term.seen.String()[term.read:], text); i >= 0 {
			term.read += i + len(text)
			return
		}
		n, err := term.master.Read(buf)
		if err != nil {
			term.t.Fatalf("the terminal does not show %q but %q: %v", text, term.seen.String()[term.read:], err)
		}
		term.seen.Write(buf[:n])
	}
}

// ends waits for the program's end, taking what it prints.
func (term *terminal) ends(code int) {
	term.t.Helper()
	done := make(chan error, 1)
	go func() { done <- term.cmd.Wait() }()
	hang := time.Now().Add(20 * time.Second)
	for {
		if time.Now().After(hang) {
			term.t.Fatalf("it does not end; the terminal shows %q", term.seen.String())
		}
		select {
		case <-done:
			if got := term.cmd.ProcessState.ExitCode(); got != code {
				term.t.Errorf("it ends with %d, want %d; the terminal shows %q", got, code, term.seen.String())
			}
			return
		default:
		}
		if err := term.master.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			term.t.Fatal(err)
		}
		buf := make([]byte, 4096)
		n, _ := term.master.Read(buf)
		term.seen.Write(buf[:n])
	}
}

// quiet is a shell whose prompt and echo do not get in the way of what is waited for.
const quiet = "PS1='' PS2='' exec bash --norc --noprofile --noediting -i"

// Characters were pushed into the queue of the terminal, and the shell that had started the sandbox ran them.
func TestNothingIsTypedIntoTheShellOutside(t *testing.T) {
	program := testkit.Attempts(t)
	// The shell does not show its input, so that INJECTED is the work of a command.
	line := "for r in 0x5412 0x100005412 0x541c; do for f in /dev/stdin /dev/tty; do " + program + " type $r 'X=ED; echo INJECT$X\n' <$f; done; done; echo tried"
	line = strings.ReplaceAll(line, `\n'`, "\n'")
	try := func(t *testing.T, w *testkit.World, command string) string {
		term := onTerminal(t, w, "/bin/sh", "-c", "stty -echo; echo up; "+quiet)
		term.shows("up")
		term.keys(command + "; echo after\n")
		term.shows("after")
		term.keys("echo ready\n")
		term.shows("ready")
		term.keys("exit 3\n")
		term.ends(3)
		return term.seen.String()
	}
	for _, redirect := range []string{"", "</dev/null", ">out 2>&1", "</dev/null >out 2>&1", "--tty"} {
		t.Run("redirected "+strings.ReplaceAll(redirect, "/", "|"), func(t *testing.T) {
			w := newWorld(t)
			options := ""
			if redirect == "--tty" {
				options, redirect = "--tty ", ""
			}
			seen := try(t, w, w.Bin+" run "+options+"-q -s "+w.Settings(testkit.Base())+" -c "+quote(line)+" "+redirect)
			if strings.Contains(seen, "INJECTED") {
				t.Errorf("the shell outside ran what was typed: %q", seen)
			}
			if out, ok := w.Read("home/p/out"); ok {
				seen = out
			}
			if !strings.Contains(seen, "tried") {
				t.Errorf("nothing was tried: %q", seen)
			}
		})
	}
	allowed, err := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti")
	if os.Geteuid() != 0 && err == nil && string(allowed) != "1\n" {
		t.Log("no control: this kernel lets only root do it")
		return
	}
	if seen := try(t, newWorld(t), "/bin/sh -c "+quote(line)); !strings.Contains(seen, "INJECTED") {
		t.Errorf("control: outside the shell does not run what was typed: %q", seen)
	}
}

// With a terminal of its own a shell has job control: Ctrl-C, Ctrl-Z, fg, and Ctrl-D for the end.
func TestJobControlOnATerminalOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		tty  string
	}{
		{"a terminal of its own", []string{"run", "--tty", "-q"}, "/dev/pts/0\r\n"},
		{"the caller's terminal", []string{"run", "-q"}, "/dev/console\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			term := onTerminal(t, w, w.Bin, append(c.args, "-s", w.Settings(testkit.Base()), "-c", "stty -echo; echo up; "+quiet)...)
			term.shows("up")
			term.keys("tty; test -t 0 && test -t 1 && test -t 2 && echo all-three\n")
			term.shows(c.tty)
			term.shows("all-three")
			term.keys("sh -c 'trap \"echo interrupted; exit 5\" INT; echo waiting; while :; do sleep 0.05; done'; echo code=$?\n")
			term.shows("waiting")
			term.keys("\x03")
			term.shows("interrupted")
			term.shows("code=5")
			// A program that does not fork: one that is stopped between vfork(2) and execve(2) keeps its parent from stopping.
			term.keys("cat\n")
			term.keys("first\n")
			term.shows("first")
			term.keys("\x1a")
			term.shows("Stopped")
			term.keys("fg; echo code=$?\n")
			term.shows("cat")
			term.keys("second\n")
			term.shows("second")
			term.keys("\x04")
			term.shows("code=0")
			term.keys("echo bye; exit 7\n")
			term.shows("bye")
			term.ends(7)
		})
	}
}

// The size of the caller's terminal is that of the command's, and its changes arrive.
func TestSizeOfTheTerminalIsPassedOn(t *testing.T) {
	for _, options := range [][]string{{"--tty"}, nil} {
		w := newWorld(t)
		args := append([]string{"run", "-q"}, options...)
		term := onTerminal(t, w, w.Bin, append(args, "-s", w.Settings(testkit.Base()), "-c",
			"stty -echo; trap 'stty size' WINCH; stty size; echo up; while :; do sleep 0.05; done")...)
		term.shows("24 80")
		term.shows("up")
		term.size(132, 50)
		term.shows("50 132")
		term.keys("\x03")
		term.ends(130)
	}
}

// A command that leaves its terminal in raw mode, or is killed, leaves the caller's as it was.
func TestModesOfTheTerminalAreRestored(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		code int
	}{
		"left raw":        {"stty raw -echo; echo done", 0},
		"killed":          {"stty raw -echo; kill -9 $$", 137},
		"ended by itself": {"exit 3", 3},
		"not started":     {"exec /nonexistent/program", 127},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			was := onTerminal(t, w, "true")
			before := was.modes()
			term := onTerminal(t, w, w.Bin, "run", "--tty", "-q", "-s", w.Settings(testkit.Base()), "-c", c.line)
			term.ends(c.code)
			if after := term.modes(); after != before {
				t.Errorf("the modes were %+v and are %+v", before, after)
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		w := newWorld(t)
		term := onTerminal(t, w, "/bin/sh", "-c", "stty -a >/dev/null; echo up; read x; stty raw -echo")
		term.shows("up")
		before := term.modes()
		term.keys("\n")
		term.ends(0)
		if term.modes() == before {
			t.Error("outside the modes stay")
		}
	})
}

// Without --tty and without a terminal there is none; with --tty there is one, whatever the caller has.
func TestTerminalIsThereWhenItIsAskedFor(t *testing.T) {
	w := newWorld(t)
	settings := w.Settings(testkit.Base())
	inside(t, w, settings, "tty; test -t 1 || echo none; : </dev/tty && echo opened").prints("not a tty\nnone\n")
	start(t, w, "run", "-q", "--tty", "-s", settings, "-c", "tty; test -t 1 && echo one; : </dev/tty && echo opened").code(0).prints("/dev/pts/0\r\none\r\nopened\r\n")
	start(t, w, "run", "-q", "--tty", "-s", settings, "-c", "exit 9").code(9)
	r := w.RunIn(w.P, w.Env, "typed\n", "run", "-q", "--tty", "-s", settings, "-c", "read x; echo got $x")
	if !strings.Contains(r.Stdout, "got typed") {
		t.Errorf("it prints %q, %q", r.Stdout, r.Stderr)
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
