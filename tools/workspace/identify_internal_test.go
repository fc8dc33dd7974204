package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/evaluator"
)

type openJudge struct{}

func (openJudge) CanRead(string) evaluator.Decision   { return evaluator.Decision{Allowed: true} }
func (openJudge) CanWrite(string) evaluator.Decision  { return evaluator.Decision{Allowed: true} }
func (openJudge) CanRemove(string) evaluator.Decision { return evaluator.Decision{Allowed: true} }

// The kernel names a removed file "f (deleted)". A file of that very name is another one, and its rules are not the
// removed one's.
func TestIdentifyTakesNoOtherFile(t *testing.T) {
	root := t.TempDir()
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := NewRoot(root, openJudge{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for name, c := range map[string]struct {
		change func()
		rel    string
		err    error
	}{
		"control":                   {func() {}, "f", nil},
		"renamed":                   {func() { os.Rename(filepath.Join(root, "f"), filepath.Join(root, "g")) }, "g", nil},
		"named so":                  {func() { os.Rename(filepath.Join(root, "f"), filepath.Join(root, "f (deleted)")) }, "f (deleted)", nil},
		"removed":                   {func() { os.Remove(filepath.Join(root, "f")) }, "", errMoving},
		"removed, another so named": {func() { os.Remove(filepath.Join(root, "f")); write("f (deleted)") }, "", errMoving},
		"moved out":                 {func() { os.Rename(filepath.Join(root, "f"), filepath.Join(t.TempDir(), "f")) }, "", errMoving},
	} {
		write("f")
		fd, err := unix.Open(filepath.Join(root, "f"), unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.change()
		o := object{fd: fd}
		if err := r.identify(&o); !errors.Is(err, c.err) || o.rel != c.rel {
			t.Errorf("%s: %q, %v", name, o.rel, err)
		}
		o.close()
		os.Remove(filepath.Join(root, "f (deleted)"))
	}
}
