package escape

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// standard are the descriptors that a caller hands to sandboxctl; nil = /dev/null for input, kept in the result for output.
type standard struct {
	in, out *os.File
	extra   []*os.File // from 3 on
	attr    *syscall.SysProcAttr
}

// run runs a program in the project with descriptors of the caller's choice.
func run(t *testing.T, w *testkit.World, s standard, name string, args ...string) testkit.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.RunTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay, cmd.SysProcAttr = w.P, w.Env, time.Second, s.attr
	cmd.ExtraFiles = s.extra
	if s.in != nil {
		cmd.Stdin = s.in
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Writer(&stdout), &stderr
	if s.out != nil {
		cmd.Stdout = s.out
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s %q hangs; stdout %q, stderr %q", name, args, stdout.String(), stderr.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return testkit.Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// inside runs a shell line in the sandbox. A launch that is refused fails the test: it would pass for a denial.
func inside(t *testing.T, w *testkit.World, s standard, settings, line string) testkit.Result {
	t.Helper()
	r := run(t, w, s, w.Bin, "run", "--settings", settings, "-c", line)
	if r.Code == refused {
		t.Fatalf("%q did not start: %s", line, r.Stderr)
	}
	return r
}

// refused is the exit status of sandboxctl when it starts nothing.
const refused = 125

// lists gives every list a value, as a settings file has no null.
func lists(fs testkit.FS) testkit.FS {
	for _, l := range []*[]string{&fs.DenyRead, &fs.AllowWrite, &fs.DenyWrite} {
		if *l == nil {
			*l = []string{}
		}
	}
	return fs
}

// outside runs a shell line without a sandbox.
func outside(t *testing.T, w *testkit.World, s standard, line string) testkit.Result {
	t.Helper()
	return run(t, w, s, "/bin/sh", "-c", line)
}

func open(t *testing.T, path string, flags int) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// wantContent checks a file of the host after an attempt.
func wantContent(t *testing.T, path, want string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != want {
		t.Errorf("%s holds %q, want %q", filepath.Base(path), b, want)
	}
}
