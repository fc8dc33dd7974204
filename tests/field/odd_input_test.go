package field

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"golang.org/x/sys/unix"
)

// A working directory that is a descriptor of the launcher was a way out of containers: it is judged by what it is.
func TestWorkingDirectoryThatIsADescriptor(t *testing.T) {
	w := newWorld(t)
	w.Write("home/.ssh/id_rsa", secret)
	w.Write("home/p/sub/own", "own\n")
	settings := w.Settings(testkit.FS{DenyRead: []string{"~/.ssh"}, AllowWrite: []string{"."}})
	run := func(open string, args ...string) outcome {
		// The shell opens the directory and hands it down.
		all := append([]string{w.Bin, "run", "-s", settings}, args...)
		for i, a := range all {
			all[i] = quote(a)
		}
		line := "exec 8<" + open + "; " + strings.Join(all, " ")
		return outcome{t, line, w.Outside(line)}
	}
	for _, dir := range []string{"/proc/self/fd/8", "/dev/fd/8"} {
		run(w.P+"/sub", "-C", dir, "-c", "pwd; cat own").code(0).prints(w.P + "/sub\nown\n")
		run(w.Path("home/.ssh"), "-C", dir, "-c", "pwd; cat id_rsa").refuses("working directory", "denyRead")
	}
	run(w.Path("home/.ssh"), "-c", "cat <&8; cat /proc/self/fd/8/id_rsa; ls /proc/self/fd/8/").prints("").never("TOP")
	outside(t, w, "exec 8<"+w.Path("home/.ssh")+"; cat /proc/self/fd/8/id_rsa").prints(secret)
}

func TestWorkingDirectoryThatCannotBeUsed(t *testing.T) {
	w := newWorld(t)
	w.Mkdir("home/p/gone", "home/denied", "home/shut", "home/p/a")
	symlink(t, w, "loop", "home/p/loop")
	symlink(t, w, "../denied", "home/p/link")
	settings := w.Settings(testkit.FS{DenyRead: []string{"~/denied"}, AllowWrite: []string{"."}})
	in := func(dir string, args ...string) outcome {
		all := []string{"cd", dir, "&&", "exec", w.Bin, "run", "-s", settings}
		return outcome{t, dir, w.Outside(strings.Join(append(all, args...), " "))}
	}
	in("../denied", "--", "pwd").refuses("working directory", `denyRead`, "~/denied")
	in(".", "-C", "link", "--", "pwd").refuses("working directory", "denyRead")
	in(".", "-C", "loop", "--", "pwd").refuses("loop")
	in(".", "-C", "missing", "--", "pwd").refuses("missing")
	in(".", "-C", settings, "--", "pwd").refuses("directory")
	in("gone && rmdir ../gone", "--", "pwd").refuses("working directory")
	in("a && rmdir ../a && mkdir ../a", "--", "pwd").refuses("working directory")
	in("/tmp", "--", "pwd").refuses("/sandboxctl/tmp", `"tmp": "host"`)
	in("/proc", "-C", "/proc/self", "--", "pwd").code(refused)
	in("/", "--", "pwd").code(0).prints("/\n")
	in("/usr/..//usr/./bin", "--", "pwd").code(0).prints("/usr/bin\n")
	if os.Geteuid() != 0 {
		outside(t, w, "chmod 0 ~/shut")
		in(".", "-C", w.Path("home/shut"), "--", "pwd").code(refused)
	}
}

// The kernel takes one argument of 128 KiB and 2 MiB of all; what it refuses is no crash.
func TestLongArguments(t *testing.T) {
	w := newWorld(t)
	settings := w.Settings(testkit.Base())
	const limit = 32*4096 - 1 // MAX_ARG_STRLEN (include/uapi/linux/binfmts.h) without the final NUL
	long := strings.Repeat("a", limit)
	if r := start(t, w, "run", "-s", settings, "--", "/usr/bin/printf", "%s", long).code(0); r.Stdout != long {
		t.Errorf("%d bytes arrive of %d", len(r.Stdout), limit)
	}
	many := make([]string, 5000)
	for i := range many {
		many[i] = strings.Repeat(fmt.Sprint(i%10), 20)
	}
	start(t, w, append([]string{"run", "-s", settings, "--", "/bin/sh", "-c", "echo $#", "sh"}, many...)...).code(0).prints("5000\n")
	// Too long for the kernel when the command starts; the caller could still say it in one string of shell.
	start(t, w, "run", "-s", settings, "-c", "exec /bin/true $(head -c 200000 /dev/zero | tr '\\0' a)").code(126)
	// With the variables of the sandbox it is too much in all, and the launcher is told so.
	var env []string
	for i := range 17 {
		env = append(env, "--env", fmt.Sprintf("V%d=%s", i, strings.Repeat("b", 100000)))
	}
	start(t, w, append(append([]string{"run", "-s", settings}, env...), "--", "/bin/sh", "-c", "printf %s \"$V16\" | wc -c")...).code(0).prints("100000\n")
	start(t, w, "run", "-s", settings, "-c", strings.Repeat(":;", 60000)+"echo end").code(0).prints("end\n")
}

func TestProgramsThatCannotBeStarted(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/plain", "echo plain\n")
	w.Write("home/p/text", "just text\n")
	w.Mkdir("home/p/dir")
	w.Write("home/p/secret/tool", "#!/bin/sh\necho ran\n")
	w.Write("home/p/wrong", "#!/nonexistent/interpreter\n")
	w.Write("home/p/empty", "")
	symlink(t, w, "nowhere", "home/p/dangling")
	symlink(t, w, "around", "home/p/around")
	outside(t, w, "chmod 755 secret/tool wrong empty").code(0)
	settings := w.Settings(testkit.FS{DenyRead: []string{"./secret"}, AllowWrite: []string{"."}})
	for _, c := range []struct {
		argv []string
		code int
		says string
	}{
		{[]string{"no-such-program"}, 127, "no-such-program: no such file or directory"},
		{[]string{"./no-such-program"}, 127, "no such file or directory"},
		{[]string{"/nonexistent/program"}, 127, "no such file or directory"},
		{[]string{"./dangling"}, 127, "no such file or directory"},
		{[]string{"./plain"}, 126, "permission denied"},
		{[]string{"./dir"}, 126, "permission denied"},
		{[]string{"./secret/tool"}, 126, "permission denied"},
		{[]string{"./around"}, 126, "too many levels of symbolic links"},
		{[]string{"./plain/x"}, 126, "not a directory"},
		{[]string{""}, 125, ""},
		{[]string{"./" + strings.Repeat("n", 300)}, 126, "file name too long"},
	} {
		t.Run(fmt.Sprintf("%.40q", c.argv), func(t *testing.T) {
			for _, args := range [][]string{{"run", "-q", "-s", settings, "--"}, {"run", "-q", "--tty", "-s", settings, "--"}} {
				start(t, w, append(args, c.argv...)...).code(c.code).says("sandboxctl: ").says(c.says).never("panic")
			}
		})
	}
	start(t, w, "run", "-s", settings, "--", "./wrong").says("sandboxctl: ./wrong: ").says("no such file or directory")
	start(t, w, "run", "-s", settings, "--", "./secret/tool").code(126).says("denyRead")
	start(t, w, "run", "-s", settings, "--", "./empty").code(0).prints("")
	outside(t, w, "chmod 755 plain")
	start(t, w, "run", "-s", settings, "--", "./plain").code(0).prints("plain\n")
	// A status of the command that is also one of ours is told apart by the message.
	for _, code := range []int{0, 1, 2, 124, 125, 126, 127, 128, 255} {
		start(t, w, "run", "-s", settings, "-c", fmt.Sprintf("exit %d", code)).code(code).never("sandboxctl")
	}
}

// A caller without standard descriptors; what the launcher opens must not take their place.
func TestClosedStandardDescriptors(t *testing.T) {
	w := newWorld(t)
	settings := w.Settings(testkit.Base())
	for redirect, want := range map[string]string{
		"<&-":            "0:/dev/null",
		">&-":            "1:/dev/null",
		"2>&-":           "2:/dev/null",
		"<&- >&- 2>&-":   "0:/dev/null 1:/dev/null 2:/dev/null",
		"<&- 2>&-":       "0:/dev/null 2:/dev/null",
		"</dev/null >&-": "0:/dev/null 1:/dev/null",
	} {
		t.Run(redirect, func(t *testing.T) {
			const line = `for fd in 0 1 2; do l=$(readlink /proc/$$/fd/$fd); [ "$l" = /dev/null ] && printf "$fd:$l " >> out; done; echo end >> out; ls /proc/$$/fd | xargs >> out`
			o := outcome{t, redirect, w.Outside("rm -f out; " + w.Bin + " run -q -s " + settings + " -- /bin/sh -c " + quote(line) + " " + redirect)}
			o.code(0)
			got, _ := w.Read("home/p/out")
			// A shell may hold one descriptor of its own.
			if !strings.HasPrefix(got, want+" end\n0 1 2") {
				t.Errorf("the command has %q, want %s", got, want)
			}
		})
	}
}

// Whatever the caller leaves open is closed, at any number, and errors of the launch still arrive.
func TestInheritedDescriptorsOfAnyNumber(t *testing.T) {
	w := newWorld(t)
	w.Write("home/secret", secret)
	settings := w.Settings(testkit.FS{DenyRead: []string{"~/secret"}, AllowWrite: []string{"."}})
	f, err := os.Open(w.Path("home/secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run := func(args ...string) (testkit.Result, error) {
		cmd := exec.Command(w.Bin, append([]string{"run", "-q", "-s", settings}, args...)...)
		cmd.Dir, cmd.Env = w.P, w.Env
		for len(cmd.ExtraFiles) < 18 { // 3 to 20
			cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		return testkit.Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}, err
	}
	r, err := run("-c", "for n in 3 4 5 6 7 8 9; do eval \"cat <&$n\"; done; cat /proc/self/fd/[3-9] /proc/self/fd/1? /proc/self/fd/20; ls /proc/self/fd | xargs")
	if err != nil || strings.Contains(r.Stdout, "TOP") || r.Stdout != "0 1 2 3\n" { // 3 is ls's own
		t.Errorf("%v, it prints %q", err, r.Stdout)
	}
	if r, _ := run("--", "no-such-program"); r.Code != 127 || !strings.Contains(r.Stderr, "no-such-program") {
		t.Errorf("an error of the launch: code %d, %q", r.Code, r.Stderr)
	}
	// High numbers too.
	high, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, 900)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(high)
	inside(t, w, settings, fmt.Sprintf("cat /proc/self/fd/%d; [ -e /proc/self/fd/%d ] && echo there", high, high)).prints("")
	outside(t, w, fmt.Sprintf("cat /proc/self/fd/%d", high)).prints(secret)
}
