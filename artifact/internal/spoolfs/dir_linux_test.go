package spoolfs

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// holdEnv makes the test binary act as a process that owns a spool directory until it is killed.
const holdEnv = "SPOOLFS_TEST_HOLD"

func TestMain(m *testing.M) {
	if parent := os.Getenv(holdEnv); parent != "" {
		holdSpool(parent)
	}
	os.Exit(m.Run())
}

func holdSpool(parent string) {
	dir, err := Create(parent)
	if err != nil {
		panic(err)
	}
	f, err := dir.NewFile()
	if err != nil {
		panic(err)
	}
	path, err := f.Publish()
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(path + "\n")
	io.Copy(io.Discard, os.Stdin)
	select {}
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestDirectoryIsPrivateAndGoneAfterClose(t *testing.T) {
	parent := t.TempDir()
	dir, err := Create(parent)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(dir.Path())
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != os.ModeDir|0o700 {
		t.Errorf("mode %v, want drwx------", got)
	}
	f, err := dir.NewFile()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("kept"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Publish(); err != nil {
		t.Fatal(err)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	if left := entries(t, parent); len(left) != 0 {
		t.Errorf("left in the parent: %v", left)
	}
	b := make([]byte, 4)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "kept" {
		t.Errorf("open file after Close of the directory: %q, %v", b, err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("closing the file after its directory: %v", err)
	}
}

func TestNewFileHasNoNameUntilPublished(t *testing.T) {
	for _, named := range []bool{false, true} {
		dir, err := Create(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		dir.named.Store(named)
		f, err := dir.NewFile()
		if err != nil {
			t.Fatal(err)
		}
		before := len(entries(t, dir.Path()))
		if !named && dir.named.Load() {
			t.Log("this filesystem has no O_TMPFILE")
		} else if want := map[bool]int{false: 0, true: 1}[named]; before != want {
			t.Errorf("named=%v: %d entries before Publish, want %d", named, before, want)
		}
		if _, err := f.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		path, err := f.Publish()
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.Publish()
		if err != nil || again != path {
			t.Errorf("second Publish: %q, %v; want %q", again, err, path)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != 0o600 || filepath.Dir(path) != dir.Path() {
			t.Errorf("published file: %v, %v", info, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "x" {
			t.Errorf("read by name: %q, %v", b, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if left := entries(t, dir.Path()); len(left) != 0 {
			t.Errorf("left after Close: %v", left)
		}
		if err := dir.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKilledOwnerIsSweptAndLivingOneIsNot(t *testing.T) {
	parent := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+parent)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, err := stdout.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSpace(string(line[:n]))

	first, err := Create(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("a living owner's spool was removed: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the owner ended by itself")
	}
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("nothing to sweep, the test proves nothing: %v", err)
	}
	second, err := Create(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if got := entries(t, parent); len(got) != 1 || got[0] != filepath.Base(second.Path()) {
		t.Errorf("after the sweep: %v", got)
	}
}

func TestSweepTouchesNothingOfOthers(t *testing.T) {
	parent := t.TempDir()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "keep"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(parent, prefix+"link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(parent, prefix+"file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(parent, prefix+"tree", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(parent, "unrelated"), 0o700); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(parent, prefix+"foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // an ordinary user can neither give a directory away nor remove what is in another's
		if err := os.Chown(foreign, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Remove(foreign); err != nil {
		t.Fatal(err)
	} else {
		foreign = parent
	}
	dir, err := Create(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for _, p := range []string{
		foreign,
		filepath.Join(outside, "keep"), filepath.Join(parent, prefix+"link"), filepath.Join(parent, prefix+"file"),
		filepath.Join(parent, prefix+"tree", "sub"), filepath.Join(parent, "unrelated"),
	} {
		if _, err := os.Lstat(p); err != nil {
			t.Errorf("swept away: %v", err)
		}
	}
}

func TestManyOwnersAtOnce(t *testing.T) {
	parent := t.TempDir()
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	for range 32 {
		wg.Go(func() {
			for range 8 {
				dir, err := Create(parent)
				if err != nil {
					errs <- err
					return
				}
				f, err := dir.NewFile()
				if err != nil {
					errs <- err
					return
				}
				_, pubErr := f.Publish()
				if err := errors.Join(pubErr, f.Close(), dir.Close()); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if left := entries(t, parent); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
