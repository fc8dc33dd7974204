package field

import (
	"os"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// A variable was removed for the command and left in the memory of the launcher, which the command could read.
func TestSecretsOfTheLauncherAreNowhereInProc(t *testing.T) {
	const value = "MYSECRETVALUE"
	for _, c := range []struct {
		name, line string
		own        bool // it looks at the command's own variables too
	}{
		{"own variables", "env | grep -c ^SECRET_T=", true},
		{"every environ", "cat /proc/*/environ /proc/*/task/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c ^SECRET_T=", true},
		{"every argument", "cat /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '^--en[v]=\\|^OTHER_[T]=\\|MYSECRETVALU[E]'", false},
		{"the own environ", "cat /proc/self/environ | tr '\\0' '\\n' | grep -c ^SECRET_T=", true},
		{"PID 1", "cat /proc/1/environ /proc/1/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c _T", false},
		{"the parent", "cat /proc/$PPID/environ /proc/$PPID/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c _T", false},
		{"the parent's memory", "cat /proc/$PPID/mem /proc/1/mem /proc/1/maps 2>/dev/null | wc -c", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.Env = append(w.Env, "SECRET_T="+value, "OTHER_T="+value)
			settings := w.Settings(testkit.Base())
			// The line is read from standard input, or it would find itself.
			run := func(args ...string) outcome {
				args = append(append([]string{"run", "-s", settings}, args...), "--", "/bin/sh")
				return outcome{t, c.line, w.RunIn(w.P, w.Env, c.line, args...)}
			}
			run().prints("0\n")
			// Passed on by name it is the command's own, and still nobody else's.
			if passed := run("--env=SECRET_T"); c.own == (passed.Stdout == "0\n") {
				t.Errorf("passed on, it is found %q times", passed.Stdout)
			}
		})
	}
	w := newWorld(t)
	w.Env = append(w.Env, "SECRET_T="+value)
	outside(t, w, "sh -c 'cat /proc/$PPID/environ; :' | tr '\\0' '\\n' | grep -c ^SECRET_T=").prints("1\n")
}

// The command sees its own processes and no others.
func TestProcHoldsOwnProcessesOnly(t *testing.T) {
	w := newWorld(t)
	settings := w.Settings(testkit.Base())
	const count = "ls /proc | grep -c '^[0-9]'"
	// The shell, ls and grep; to root PID 1 too, whom hidepid does not hide from.
	if o := inside(t, w, settings, count); o.Stdout != "3\n" && o.Stdout != "4\n" {
		t.Errorf("inside there are %q processes", o.Stdout)
	}
	inside(t, w, settings, "cat /proc/1/environ /proc/1/maps; readlink /proc/1/exe /proc/1/cwd /proc/1/root").prints("")
	if o := outside(t, w, count); o.Stdout == "3\n" || o.Stdout == "4\n" {
		t.Errorf("control: outside there are %q processes", o.Stdout)
	}
	inside(t, w, settings, "cat /proc/self/comm; cat /proc/$$/comm; [ -r /proc/meminfo ] && [ -r /proc/cpuinfo ] && [ -d /proc/self/fd ] && echo ok").prints("cat\nsh\nok\n")
}

// TMPDIR named a place that is not there or not writable, and programs with a fixed /tmp failed; a here-document emptied its
// target before it failed.
func TestTemporaryFilesWorkWhateverTMPDIRIs(t *testing.T) {
	const line = `mktemp >/dev/null && echo mktemp
cat <<END >out
hi
END
cat out
python3 -c "import tempfile; tempfile.mkstemp(); print('python')"
seq 20000 | sort -S1 | wc -l
echo > /tmp/x && echo fixed
stat -c %A /tmp
ls -A /tmp | grep -cv '^tmp'`
	const want = "mktemp\nhi\npython\n20000\nfixed\ndrwxrwxrwt\n1\n"
	for name, value := range map[string]string{
		"unset": "", "missing": "ROOT/home/.scratch", "outside": "ROOT/out", "relative": "tmp", "with spaces": "ROOT/a b",
		"a link": "ROOT/l", "a file": "ROOT/f", "the usual": "/tmp", "denied": "ROOT/home/.ssh",
	} {
		t.Run(name, func(t *testing.T) {
			testkit.NeedProgram(t, "python3")
			w := newWorld(t)
			w.Mkdir("out", "a b", "home/.ssh")
			w.Write("f", "")
			symlink(t, w, w.Path("out"), "l")
			if value != "" {
				w.Env = append(w.Env, "TMPDIR="+strings.ReplaceAll(value, "ROOT", w.Root))
			}
			settings := w.Settings(testkit.FS{DenyRead: []string{"~/.ssh"}, AllowWrite: []string{"."}})
			inside(t, w, settings, line).code(0).prints(want)
		})
	}
	// Passed on, it is the caller's choice, which the settings have to open.
	w := newWorld(t)
	w.Mkdir("out")
	w.Env = append(w.Env, "TMPDIR="+w.Path("out"))
	const passed = "dirname $(mktemp)"
	start(t, w, "run", "-s", w.Settings(testkit.FS{AllowWrite: []string{".", w.Path("out")}}), "--env", "TMPDIR", "-c", passed).prints(w.Path("out") + "\n")
	start(t, w, "run", "-s", w.Settings(testkit.Base()), "--env", "TMPDIR", "-c", passed).says(readOnly)
}

// /tmp is each run's own, and is gone after it.
func TestTmpIsNotSharedBetweenRuns(t *testing.T) {
	w := newWorld(t)
	settings := w.Settings(testkit.Base())
	name := "/tmp/sandboxctl-field-" + strings.TrimPrefix(w.Root, "/var/tmp/sandboxctl-world-")
	if err := os.WriteFile(name+"-host", []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(name + "-host") })
	p := spawn(t, w, "run", "-s", settings, "-c", "echo own > "+name+"; cat "+name+"; read x; cat "+name)
	p.line("own\n")
	inside(t, w, settings, "cat "+name+"; cat "+name+"-host; ls -A /tmp /dev/shm").prints("/dev/shm:\n\n/tmp:\n")
	outside(t, w, "ls "+name).prints("")
	outside(t, w, "cat "+name+"-host").prints(secret)
	p.in.Close()
	p.line("own\n")
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	inside(t, w, settings, "cat "+name).prints("")
	if _, err := os.Lstat(name); err == nil {
		t.Errorf("outside, %s exists", name)
	}
	host := w.Settings(testkit.Base(), map[string]any{"sandboxctl": map[string]any{"tmp": "host"}})
	inside(t, w, host, "cat "+name+"-host").prints(secret)
}
