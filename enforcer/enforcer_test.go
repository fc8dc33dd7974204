package enforcer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

func TestMain(m *testing.M) {
	enforcer.RunInitStage()
	os.Exit(m.Run())
}

func newEnforcer(t *testing.T, settings string) (*enforcer.Enforcer, string) {
	t.Helper()
	dir := t.TempDir()
	e, err := enforcer.New(rulesFor(t, dir, settings))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, dir
}

func rulesFor(t *testing.T, dir, settings string) *srtconfig.Rules {
	t.Helper()
	s, err := srtconfig.Parse([]byte(settings), "settings.json")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := srtconfig.Derive(t.Context(), s, srtconfig.Host{Cwd: dir, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

const writable = `{"filesystem": {"allowWrite": ["."]}}`

func TestRunReturnsAtSpawnAndDeliversOutputBeforeTheEnd(t *testing.T) {
	e, _ := newEnforcer(t, writable)
	stdin, feed := io.Pipe()
	out := make(chanWriter, 1)
	x, err := e.Run(t.Context(), enforcer.Operation{Argv: []string{"sh", "-c", "echo early; read x; exit 3"}, Stdin: stdin, Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-out:
		if text != "early\n" {
			t.Fatalf("first output %q", text)
		}
	case <-x.Done():
		t.Fatal("the command ended before its first line was delivered")
	}
	feed.Close()
	result, err := x.Wait()
	if err != nil || result.Code != 3 || result.Signal != 0 {
		t.Fatalf("result %+v, %v; want code 3", result, err)
	}
}

type chanWriter chan string

func (w chanWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

func TestEnvironmentIsDeniedByDefault(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "abc")
	e, _ := newEnforcer(t, writable)
	var out bytes.Buffer
	x, err := e.Run(t.Context(), enforcer.Operation{Argv: []string{"env"}, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Wait(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "SECRET_TOKEN") || !strings.Contains(out.String(), "PATH=") {
		t.Fatalf("environment %q", out.String())
	}
}

func TestCancelEndsTheCommandAndWhatItStarted(t *testing.T) {
	e, _ := newEnforcer(t, writable)
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	x, err := e.Run(ctx, enforcer.Operation{Argv: []string{"sh", "-c", "sleep 600 & exec sleep 600"}, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case <-x.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("still running 20 s after the cancel")
	}
	if r, err := x.Wait(); err != nil || r.Code != 143 {
		t.Fatalf("result %+v, %v; want 143", r, err)
	}
}

func TestCloseEndsRunsAndRefusesMore(t *testing.T) {
	e, _ := newEnforcer(t, writable)
	x, err := e.Run(t.Context(), enforcer.Operation{Argv: []string{"sleep", "600"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if r, _ := x.Wait(); r.Code != 137 {
		t.Fatalf("result %+v; want 137", r)
	}
	if _, err := e.Run(t.Context(), enforcer.Operation{Argv: []string{"true"}}); !errors.Is(err, enforcer.ErrClosed) {
		t.Fatalf("run after Close: %v", err)
	}
}

func TestNarrowTakesOnlySubsets(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	e, err := enforcer.New(rulesFor(t, dir, writable))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	narrow, err := e.Narrow(rulesFor(t, dir, `{"filesystem": {"allowWrite": ["./sub"]}}`))
	if err != nil {
		t.Fatalf("a subset is refused: %v", err)
	}
	narrow.Close()
	if _, err := e.Narrow(rulesFor(t, dir, `{"filesystem": {"allowWrite": [".", "/var/tmp"]}}`)); err == nil {
		t.Fatal("a wider policy was taken")
	} else if !strings.Contains(err.Error(), "/var/tmp") {
		t.Fatalf("the error does not name the entry: %v", err)
	}
}

func TestAProgramThatCannotRunIsNamedWithItsRule(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "bin", "tool")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	open, err := enforcer.New(rulesFor(t, dir, writable))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if x, err := open.Run(t.Context(), enforcer.Operation{Argv: []string{program}}); err != nil {
		t.Fatalf("control: without the rule it runs: %v", err)
	} else if r, _ := x.Wait(); r.Code != 0 {
		t.Fatalf("control: %+v", r)
	}
	e, err := enforcer.New(rulesFor(t, dir, `{"filesystem": {"denyRead": ["./bin"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(t.Context(), enforcer.Operation{Argv: []string{program}, CorrelationID: "a"})
	var exec *enforcer.ExecError
	if !errors.As(err, &exec) || !errors.Is(err, os.ErrPermission) || !strings.Contains(exec.Hint, `"./bin"`) {
		t.Fatalf("got %v; want an ExecError with EACCES that names the entry", err)
	}
	d := e.Diagnostics("a")
	if len(d) == 0 || d[len(d)-1].Kind != "refused" {
		t.Fatalf("diagnostics %+v", d)
	}
}

func TestAProgramWithoutTheStageIsToldWhatToCall(t *testing.T) {
	goTool := testkit.NeedProgram(t, "go")
	out, err := exec.Command(goTool, "run", "./testdata/nostage").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := "main runs\n" + enforcer.ErrNoStage.Error() + "\n"
	if string(out) != want {
		t.Fatalf("got %q; want %q", out, want)
	}
}

func TestWhatARunMadeIsProtectedFromTheNext(t *testing.T) {
	e, dir := newEnforcer(t, writable)
	run := func(line string) int {
		t.Helper()
		x, err := e.Run(t.Context(), enforcer.Operation{Argv: []string{"sh", "-c", line}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Wait()
		if err != nil {
			t.Fatal(err)
		}
		return r.Code
	}
	if code := run("mkdir -p .git/hooks .git/objects .git/refs && touch .git/HEAD .git/hooks/a"); code != 0 {
		t.Fatalf("control: making a repository where there is none exits with %d", code)
	}
	if code := run("echo evil > .git/hooks/pre-commit"); code == 0 {
		t.Error("the second run planted a hook in the repository that the first had made")
	}
	if _, err := os.Stat(filepath.Join(dir, ".git/hooks/pre-commit")); err == nil {
		t.Error("the hook is on the host")
	}
}
