package field

import (
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// With /dev bound from the host and no devices allowed, /dev/null failed, and with it git, ssh and every "2>/dev/null".
func TestDeviceFilesWorkUnderAnySettings(t *testing.T) {
	testkit.NeedProgram(t, "git")
	for name, fs := range map[string]testkit.FS{
		"by default":       testkit.Base(),
		"nothing writable": {},
		"/dev writable":    {AllowWrite: []string{"/dev"}},
		"/ writable":       {AllowWrite: []string{"/"}},
		"/dev denied":      {DenyRead: []string{"/dev"}, AllowWrite: []string{"."}},
		"/dev closed":      {AllowWrite: []string{"."}, DenyWrite: []string{"/dev"}},
		"home denied":      {DenyRead: []string{"~"}, AllowWrite: []string{"."}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			settings := w.Settings(fs)
			in := func(line string) outcome { return outcome{t, line, w.Run("run", "-q", "-s", settings, "-c", line)} }
			in("echo x >/dev/null && cat /dev/null && echo x | tee /dev/null").code(0).prints("x\n")
			in("git --version >/dev/null 2>&1 && head -c4 /dev/urandom | wc -c && head -c4 /dev/random | wc -c").code(0).prints("4\n4\n")
			in(": < /dev/zero && head -c3 /dev/zero | od -An -tx1").code(0).prints(" 00 00 00\n")
			in("/bin/echo e >/dev/full").says("No space left on device")
			in("echo a > /dev/stderr; echo b > /dev/stdout; cat < /dev/stdin").code(0).prints("b\n").says("a\n")
			in("cd /dev && ls -d null zero full random urandom tty ptmx pts shm fd stdin | xargs").code(0).prints("fd full null ptmx pts random shm stdin tty urandom zero\n")
			in("echo x > /dev/shm/f && cat /dev/shm/f && : > /dev/new").prints("x\n").saysOneOf(readOnly, accessDenied)
		})
	}
}

// Devices of the host are not there, and none can be made, even where /dev is writable by the settings.
func TestWritableDevShowsNoDeviceOfTheHost(t *testing.T) {
	for _, entry := range []string{"/dev", "/"} {
		w := newWorld(t)
		settings := w.Settings(testkit.FS{AllowWrite: []string{entry}})
		inside(t, w, settings, "ls /dev | xargs").prints("fd full null ptmx pts random shm stderr stdin stdout tty urandom zero\n")
		inside(t, w, settings, "rm -f /dev/null; mv /dev/zero /dev/z; mknod /dev/b b 7 0; [ -c /dev/null ] && [ -c /dev/zero ] && echo kept").prints("kept\n")
		outside(t, w, "[ -c /dev/null ] && [ -c /dev/zero ] && echo kept").prints("kept\n")
	}
}

// A pseudo-terminal could not be opened, or its name not be found, which showed as "fork failed" in tmux.
func TestPseudoTerminalsWorkInside(t *testing.T) {
	w := newWorld(t)
	settings := w.Settings(testkit.Base())
	for _, c := range []struct{ program, line, want string }{
		{"script", `script -qec "echo hi; tty" /dev/null </dev/null | tr -d '\r'`, "hi\n/dev/pts/0\n"},
		{"python3", `python3 -c 'import os, pty; print(os.ttyname(pty.openpty()[1]))'`, "/dev/pts/0\n"},
		{"python3", `python3 -c 'import pty; pty.spawn(["sh", "-c", "tty && test -t 0 && echo terminal"])' </dev/null | tr -d '\r'`, "/dev/pts/0\nterminal\n"},
		{"python3", `python3 -c 'import pty; [pty.openpty() for _ in range(100)]; print("many")'`, "many\n"},
		{"tmux", `TERM=xterm tmux -L t -f /dev/null new-session -d "sleep 60" && tmux -L t ls -F '#{session_windows}' && tmux -L t kill-server`, "1\n"},
	} {
		t.Run(c.program, func(t *testing.T) {
			testkit.NeedProgram(t, c.program)
			if c.program == "tmux" {
				// Its server is reached by a local socket, which needs a setting of its own.
				settings = w.Settings(testkit.Base(), map[string]any{"network": map[string]any{"allowAllUnixSockets": true}})
			}
			inside(t, w, settings, c.line).code(0).prints(c.want)
			outside(t, w, strings.ReplaceAll(c.line, "/dev/pts/0", "")).code(0)
		})
	}
	// The numbers are the sandbox's own, and so are the terminals.
	inside(t, w, settings, "ls /dev/pts; tty").prints("ptmx\nnot a tty\n")
}
