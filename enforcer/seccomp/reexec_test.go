package seccomp

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A filter cannot be taken off, so each test that loads one runs again in a copy of the test binary, in the role that
// this variable names.
const roleVariable = "SECCOMP_TEST_ROLE"

// role is "" in the parent.
func role() string { return os.Getenv(roleVariable) }

// requireFilters skips where the kernel has no filters; SANDBOXCTL_TEST_REQUIRE=seccomp makes that a failure.
func requireFilters(t *testing.T) {
	t.Helper()
	err := Probe()
	if err != nil && (!errors.Is(err, ErrNotSupported) || strings.Contains(os.Getenv("SANDBOXCTL_TEST_REQUIRE"), "seccomp")) {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
}

// again starts the calling test in a copy of this binary.
func again(t *testing.T, as string, configure ...func(*exec.Cmd)) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), roleVariable+"="+as)
	for _, f := range configure {
		f(cmd)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// mustPass starts the test again and trusts the exit status and the line that says that this very test ran and
// passed: a copy that ran no test, panicked or was killed fails.
func mustPass(t *testing.T, as string, configure ...func(*exec.Cmd)) string {
	t.Helper()
	out, err := again(t, as, configure...)
	if err != nil || !strings.Contains(out, "--- PASS: "+t.Name()+" (") {
		t.Errorf("as %q: %v\n%s", as, err, out)
	}
	return out
}

// mustDie starts the test again and demands that a filter kills it.
func mustDie(t *testing.T, as string) {
	t.Helper()
	out, err := again(t, as)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Errorf("as %q: %v, want SIGSYS\n%s", as, err, out)
		return
	}
	if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != unix.SIGSYS {
		t.Errorf("as %q: %v, want SIGSYS\n%s", as, err, out)
	}
}

// confine loads the programs on this goroutine's thread, which ends with the goroutine.
func confine(t *testing.T, o Options, narrowing ...Program) {
	t.Helper()
	programs, err := Programs(o)
	if err != nil {
		t.Fatal(err)
	}
	loadHere(t, append(programs, narrowing...)...)
}

func loadHere(t *testing.T, programs ...Program) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := Load(programs...); err != nil {
		t.Fatal(err)
	}
}

// become replaces this process, with the filter of this goroutine's thread, by a program.
func become(t *testing.T, as, path string, argv ...string) {
	t.Helper()
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, roleVariable+"=") })
	t.Fatalf("exec %s: %v", path, syscall.Exec(path, argv, append(env, roleVariable+"="+as)))
}
