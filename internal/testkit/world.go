package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// World is a home directory with a project in it, outside of /tmp. It is removed when the test ends.
type World struct {
	t    testing.TB
	Root string // holds everything below
	Home string
	P    string // the project: the working directory of runs
	Bin  string // sandboxctl
	Env  []string
}

// NewWorld makes a World.
func NewWorld(t testing.TB) *World {
	t.Helper()
	root, err := os.MkdirTemp("/var/tmp", "sandboxctl-world-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A test may leave directories without permissions.
		_ = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(p, 0o700)
			}
			return nil
		})
		if err := os.RemoveAll(root); err != nil {
			t.Errorf("remove the world: %v", err)
		}
	})
	w := &World{t: t, Root: root, Home: filepath.Join(root, "home"), P: filepath.Join(root, "home", "p"), Bin: Binary(t)}
	w.Mkdir("home/p")
	w.Env = []string{"HOME=" + w.Home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "USER=tester", "TERM=dumb"}
	return w
}

// Path returns a path below Root.
func (w *World) Path(rel string) string { return filepath.Join(w.Root, rel) }

// Mkdir makes directories below Root.
func (w *World) Mkdir(rel ...string) {
	w.t.Helper()
	for _, r := range rel {
		if err := os.MkdirAll(w.Path(r), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
}

// Write makes a file below Root, with its directories.
func (w *World) Write(rel, content string) string {
	w.t.Helper()
	w.Mkdir(filepath.Dir(rel))
	if err := os.WriteFile(w.Path(rel), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return w.Path(rel)
}

// Read returns a file below Root; "" with ok false when it does not exist.
func (w *World) Read(rel string) (content string, ok bool) {
	w.t.Helper()
	b, err := os.ReadFile(w.Path(rel))
	if errors.Is(err, os.ErrNotExist) {
		return "", false
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b), true
}

// FS are the four lists of a settings file, for [World.Settings].
type FS struct {
	DenyRead   []string `json:"denyRead,omitempty"`
	AllowRead  []string `json:"allowRead,omitempty"`
	AllowWrite []string `json:"allowWrite,omitempty"`
	DenyWrite  []string `json:"denyWrite,omitempty"`
}

// Base is the usual policy of an agent: the project may be written, all else read.
func Base() FS { return FS{DenyRead: []string{}, AllowWrite: []string{"."}, DenyWrite: []string{}} }

// Settings writes a settings file outside of the project and returns its path. more are further top-level keys.
func (w *World) Settings(fs FS, more ...map[string]any) string {
	w.t.Helper()
	all := map[string]any{"filesystem": fs, "network": map[string]any{"allowedDomains": []string{}, "deniedDomains": []string{}}}
	for _, m := range more {
		for k, v := range m {
			all[k] = v
		}
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		w.t.Fatal(err)
	}
	f, err := os.CreateTemp(w.Root, "settings-*.json")
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		w.t.Fatal(err)
	}
	return f.Name()
}

// Result is how a run ended.
type Result struct {
	Stdout, Stderr string
	Code           int // -1 when a signal ended the launcher itself
}

// RunTimeout ends a run that hangs, and fails the test.
const RunTimeout = 60 * time.Second

// Run runs a command line of sandboxctl in P.
func (w *World) Run(args ...string) Result {
	w.t.Helper()
	return w.RunIn(w.P, w.Env, "", args...)
}

// RunIn runs sandboxctl in a directory with an environment and a standard input.
func (w *World) RunIn(dir string, env []string, stdin string, args ...string) Result {
	w.t.Helper()
	return w.exec(dir, env, stdin, w.Bin, args...)
}

// Shell runs a shell line in the sandbox under a settings file, in P. A sandbox that does not start fails the test, or every
// denial would seem to hold.
func (w *World) Shell(settings, line string) Result {
	w.t.Helper()
	r := w.Run("run", "--settings", settings, "-c", line)
	if r.Code == 125 {
		w.t.Fatalf("%q did not start: %s", line, r.Stderr)
	}
	return r
}

// Outside runs a shell line without a sandbox, in P: the control that shows that an attempt could have worked.
func (w *World) Outside(line string) Result {
	w.t.Helper()
	return w.exec(w.P, w.Env, "", "/bin/sh", "-c", line)
}

func (w *World) exec(dir string, env []string, stdin, name string, args ...string) Result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), RunTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		w.t.Fatalf("%s %q hangs; stdout %q, stderr %q", name, args, stdout.String(), stderr.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%s %q: %v", name, args, err)
	}
	r := Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		r.Code = -1
	}
	return r
}

// Tree lists everything below a directory, relative, sorted by name, with contents of small files: for "nothing changed".
func Tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		b.WriteString(d.Type().String() + " " + rel)
		switch {
		case d.Type()&os.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			b.WriteString(" -> " + target)
		case d.Type().IsRegular():
			if data, err := os.ReadFile(p); err == nil && len(data) < 4096 {
				b.WriteString(" " + strings.ReplaceAll(string(data), "\n", "\\n"))
			}
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
