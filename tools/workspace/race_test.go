package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Somebody swaps a file and a directory with links to outside while every verb runs. Nothing from outside may be read,
// listed or written, and the verbs must still work in between.
func TestSwapsGainNothing(t *testing.T) {
	const swaps = 50_000
	atMost := 2 * time.Second
	if os.Getenv("SANDBOXCTL_TEST_LONG") != "" {
		atMost = 5 * time.Minute
	}
	root, outside, j, ws := placeIn(t, memoryDir(t))
	j.closed = []string{"private"}
	build(t, root, outside, "good = inside", "d/secret = inside", "d/sub/deep = inside", "private/k = "+secret)
	in := func(name string) string { return filepath.Join(root, name) }
	must(t, os.Symlink("good", in("x")))

	stop, stopped := make(chan struct{}), make(chan error, 1)
	var done atomic.Int64
	go func() { stopped <- swap(root, outside, swaps, &done, stop) }()
	t.Cleanup(func() {
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		t.Logf("%d swaps", done.Load())
		must(t, os.RemoveAll(in("x")))
		mustBeUntouched(t, root)
	})
	defer close(stop)

	worked, refused := map[string]int{}, map[string]int{}
	deadline := time.Now().Add(atMost)
	for done.Load() < swaps && time.Now().Before(deadline) {
		for _, v := range verbs() {
			for _, path := range []string{"x", "d/secret", "d/new", "d", "d/sub", "."} {
				if v.name == "save" && path == "d" {
					continue // where there is no d for an instant, it would rightly make one
				}
				got, err := v.do(ws, path)
				if strings.Contains(got, secret) || strings.Contains(got, "private") || v.name != "list" && strings.Contains(got, "work2") {
					t.Fatalf("%s %s gives %q", v.name, path, got)
				}
				if label(err) == "" {
					worked[v.name]++
				} else {
					refused[v.name+" "+label(err)]++
				}
				if strings.HasPrefix(label(err), "foreign") {
					t.Fatalf("%s %s: %v", v.name, path, err)
				}
			}
		}
	}
	t.Logf("worked: %v; refused: %v", worked, refused)
	if worked["open"] == 0 || worked["list"] == 0 || worked["save"] == 0 || refused["open escapes-root"] == 0 || refused["save link-on-write-path"] == 0 {
		t.Errorf("the race did not take place: worked %v, refused %v", worked, refused)
	}
}

// swap replaces x by links in turn, and d by a link and back. A closed directory is one of the places a link leads to.
func swap(root, outside string, times int, done *atomic.Int64, stop <-chan struct{}) error {
	in := func(name string) string { return filepath.Join(root, name) }
	targets := []string{filepath.Join(outside, "secret"), "good", "../work2/secret", "private/k"}
	link := func(target, name string) error {
		if err := os.Symlink(target, in("tmp")); err != nil {
			return err
		}
		return os.Rename(in("tmp"), in(name))
	}
	for i := range times {
		select {
		case <-stop:
			return nil
		default:
		}
		for _, step := range []func() error{
			func() error { return link(targets[i%len(targets)], "x") },
			func() error { return os.Rename(in("d"), in("d2")) },
			func() error { return os.Symlink([]string{outside, "private", "../work2"}[i%3], in("d")) },
			func() error { return os.Remove(in("d")) },
			func() error { return os.Rename(in("d2"), in("d")) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
		done.Add(1)
	}
	return nil
}

// memoryDir gives a directory in memory where there is one: every save waits for the disk otherwise, and so do the swaps.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "swaps-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
