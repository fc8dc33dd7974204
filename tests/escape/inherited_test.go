package escape

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"golang.org/x/sys/unix"
)

// A caller that leaks descriptors leaks what they lead to, whatever the rules say about names.
func TestInheritedDescriptorsAreClosed(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: w.P + "/host.sock"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	leaked := []*os.File{
		open(t, w.Path("home/.ssh/id_rsa"), os.O_RDONLY), // 3
		open(t, "/", os.O_RDONLY),                        // 4
		open(t, "/", unix.O_PATH),                        // 5
		socket,                                           // 6
		open(t, "/proc/self/ns/net", os.O_RDONLY),        // 7
		open(t, w.Path("home/outside"), os.O_RDWR),       // 8
		open(t, "/proc", os.O_RDONLY),                    // 9
	}
	for len(leaked) < 18 { // to 20
		leaked = append(leaked, open(t, w.Path("home/p/locked/f"), os.O_RDWR))
	}
	s := standard{extra: leaked}
	a := testkit.Attempts(t)
	path := strings.TrimPrefix(w.Path("home/.ssh/id_rsa"), "/")
	for _, c := range []struct{ attempt, inside, outside string }{
		// A shell may hold descriptors of its own; this one is executed in place of it.
		{"exec " + a + " descriptors", "none", "3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"},
		{a + " readfd 3", "EBADF", "SECRET"},
		{a + " readat 4 " + path, "openat: EBADF", "SECRET"},
		{a + " readat 5 " + path, "openat: EBADF", "SECRET"},
		{a + " read /proc/self/fd/4/" + path, "open: ENOENT", "SECRET"},
		{a + " read /proc/self/fd/5/" + path, "open: ENOENT", "SECRET"},
		{a + " read /dev/fd/4/" + path, "open: ENOENT", "SECRET"},
		{a + " setns /proc/self/fd/7", "open: ENOENT", "ok|EPERM"},
		{"{ echo evil >&8; } 2>/dev/null && echo written", "", "written"},
	} {
		t.Run(strings.TrimPrefix(c.attempt, a), func(t *testing.T) {
			if got := inside(t, w, s, settings, c.attempt).Stdout; !fits(got, c.inside) {
				t.Errorf("inside it prints %q, want %q", got, c.inside)
			}
			wantContent(t, w.Path("home/outside"), before)
			if _, err := leaked[0].Seek(0, 0); err != nil {
				t.Fatal(err)
			}
			// The test's own caller may have leaked more.
			if got := outside(t, w, s, c.attempt).Stdout; !fits(got, c.outside) && !strings.HasPrefix(got, c.outside) {
				t.Errorf("control: outside it prints %q, want %q", got, c.outside)
			}
		})
	}
}

// Names are looked up from a directory on the mounts that it was opened on, which are the host's.
func TestDirectoriesAsStandardDescriptorsAreRefused(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	a := testkit.Attempts(t)
	for _, c := range []struct {
		name    string
		s       standard
		attempt string
	}{
		{"directory as input", standard{in: open(t, w.P, os.O_RDONLY)}, "readat 0 secret/f"},
		{"name of a directory as input", standard{in: open(t, w.P, unix.O_PATH)}, "readat 0 secret/f"},
		{"name of a file as input", standard{in: open(t, w.P+"/secret/f", unix.O_PATH)}, "read /proc/self/fd/0"},
		{"directory as output", standard{out: open(t, w.P, os.O_RDONLY)}, "readat 1 secret/f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, w, c.s, w.Bin, "run", "-s", settings, "-c", a+" "+c.attempt)
			if r.Code != refused || r.Stdout != "" || !oneLine(r.Stderr) || !strings.Contains(r.Stderr, "director") {
				t.Errorf("code %d, stdout %q, stderr %q, want %d and one line about it", r.Code, r.Stdout, r.Stderr, refused)
			}
			line := a + " " + c.attempt
			if c.s.out != nil {
				line += " 1>&2" // the answer goes where it can be read; the directory is descriptor 3 then
				line = strings.Replace(line, "readat 1", "readat 3", 1)
				line = "exec 3>&1; " + line
			}
			if r := outside(t, w, c.s, line); !strings.Contains(r.Stdout+r.Stderr, "SECRET") {
				t.Errorf("control: outside it prints %q, %q", r.Stdout, r.Stderr)
			}
		})
	}
}

// oneLine reports a message of sandboxctl's own, alone.
func oneLine(s string) bool {
	return strings.HasPrefix(s, "sandboxctl: ") && strings.Count(s, "\n") == 1 && strings.HasSuffix(s, "\n")
}

// A variable of the caller changes what a program loads or runs, or holds a secret.
func TestVariablesOfTheCallerStayOutside(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	names := []string{"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "IFS", "PS4", "GIT_CONFIG_COUNT",
		"GIT_CONFIG_GLOBAL", "GIT_SSH_COMMAND", "GIT_DIR", "RIPGREP_CONFIG_PATH", "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT",
		"SSH_AUTH_SOCK", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DBUS_SESSION_BUS_ADDRESS", "GOFLAGS", "GODEBUG", "GOGC", "MAKEFLAGS",
		"SANDBOXCTL_BIN", "BASH_FUNC_ls%%"}
	for _, name := range names {
		w.Env = append(w.Env, name+"=HOSTVALUE")
	}
	// The attempt reads its environment from the kernel: a shell drops or sets variables.
	const attempt = "tr '\\0' '\\n' < /proc/self/environ"
	args := []string{"-c", `import os
for name in sorted(os.environ): print(name + "=" + os.environ[name])`}
	python := testkit.NeedProgram(t, "python3")
	in := run(t, w, standard{}, w.Bin, append([]string{"run", "-s", settings, "--", python, "-IE"}, args...)...)
	if in.Code != 0 || strings.Contains(in.Stdout, "HOSTVALUE") || !strings.Contains(in.Stdout, "HOME="+w.Home) {
		t.Errorf("inside, code %d, a program sees\n%s%s", in.Code, in.Stdout, in.Stderr)
	}
	if r := inside(t, w, standard{}, settings, attempt); strings.Contains(r.Stdout, "HOSTVALUE") {
		t.Errorf("inside, a program sees\n%s", r.Stdout)
	}
	out := run(t, w, standard{}, "/usr/bin/env")
	for _, name := range names {
		if !strings.Contains(out.Stdout, name+"=HOSTVALUE\n") {
			t.Errorf("control: outside %s is not seen", name)
		}
	}
}
