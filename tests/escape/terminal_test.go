package escape

import (
	"strings"
	"syscall"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// A character that is put into the input of the terminal is read by the shell that started the sandbox.
func TestNothingIsTypedIntoTheTerminal(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	program := testkit.Attempts(t)
	for _, c := range []struct{ name, op, outside string }{
		// EIO: a kernel with dev.tty.legacy_tiocsti=0, to a caller without CAP_SYS_ADMIN.
		{"TIOCSTI", "0x5412", "ok|EIO"},
		{"TIOCSTI with high bits", "0x100005412", "ok|EIO"},
		{"TIOCSTI with the sign bit", "0xffffffff00005412", "ok|EIO"},
		// ENOTTY: a pseudo-terminal is no virtual console.
		{"TIOCLINUX", "0x541c", "ENOTTY"},
		{"TIOCLINUX with high bits", "0x10000541c", "ENOTTY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := program + " terminal " + c.op
			if got := inside(t, w, onTerminal(t), settings, line).Stdout; !fits(got, "EPERM") {
				t.Errorf("inside it prints %q, want EPERM", got)
			}
			if got := outside(t, w, onTerminal(t), line).Stdout; !fits(got, c.outside) {
				t.Errorf("control: outside it prints %q, want %q", got, c.outside)
			}
		})
	}
}

// A terminal of the command's own is read by nobody else; the calls are refused all the same.
func TestNothingIsTypedIntoItsOwnTerminal(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	r := run(t, w, onTerminal(t), w.Bin, "run", "--tty", "-s", settings, "--", testkit.Attempts(t), "terminal", "0x5412")
	if !strings.Contains(r.Stdout, "EPERM") {
		t.Errorf("it prints %q, stderr %q", r.Stdout, r.Stderr)
	}
}

// A command without a terminal cannot read the user's keys through the controlling terminal of its session.
func TestNoControllingTerminalWithoutOne(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	line := testkit.Attempts(t) + " open /dev/tty r"
	term := onTerminal(t)
	session := func(name string, args ...string) string {
		// sh keeps the terminal as the controlling one, and gives the program none.
		all := append([]string{"-c", `"$@" < /dev/null`, "sh", name}, args...)
		return run(t, w, term, "/bin/sh", all...).Stdout
	}
	if got := session(w.Bin, "run", "-s", settings, "-c", line); !fits(got, "ENXIO") {
		t.Errorf("inside it prints %q, want ENXIO", got)
	}
	term = onTerminal(t)
	if got := session("/bin/sh", "-c", line); !fits(got, "ok") {
		t.Errorf("control: outside it prints %q", got)
	}
}

// onTerminal makes a new pseudo-terminal the standard input and the controlling terminal of a new session.
func onTerminal(t *testing.T) standard {
	t.Helper()
	return standard{in: testkit.Terminal(t), attr: &syscall.SysProcAttr{Setsid: true, Setctty: true}}
}
