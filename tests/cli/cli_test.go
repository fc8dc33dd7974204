package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

func TestScripts(t *testing.T) {
	bin := testkit.Binary(t)
	testkit.NeedFull(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		WorkdirRoot:   workRoot(t),
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			e.Setenv("HOME", home)
			e.Setenv("PATH", filepath.Dir(link(t, bin))+":"+os.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": code,
		},
	})
}

// code runs a program and compares its exit status: code 127 sandboxctl run -- nosuch. Its output is for stdout and stderr.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code STATUS PROGRAM [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ProcessState.String()
		got = strings.TrimPrefix(got, "exit status ")
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// link puts sandboxctl, and srt as a second name for it, into a directory for PATH.
func link(t *testing.T, bin string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sandboxctl", "srt"} {
		if err := os.Symlink(bin, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "sandboxctl")
}

// workRoot is outside of /tmp, where the sandbox would have its own.
func workRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "sandboxctl-cli-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
