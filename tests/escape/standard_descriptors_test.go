package escape

import (
	"os"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// A standard descriptor is a file on the host's own mounts, which no read-only view or mask covers.
func TestStandardInputCannotBeReopenedForWriting(t *testing.T) {
	testkit.NeedFull(t)
	for _, c := range []struct{ name, file string }{
		{"outside of the writable tree", "home/outside"},
		{"denied inside the writable tree", "home/p/locked/f"},
		{"protected inside the writable tree", "home/p/.git/hooks/pre-commit"},
	} {
		for _, attempt := range []string{"echo evil > /proc/self/fd/0", "echo evil > /dev/stdin", "exec 9<&0; echo evil >> /proc/self/fd/9"} {
			t.Run(c.name+": "+attempt, func(t *testing.T) {
				w := testkit.NewWorld(t)
				w.Mkdir("home/p/locked", "home/p/.git/hooks", "home/p/.git/objects", "home/p/.git/refs")
				w.Write("home/p/.git/HEAD", "ref: refs/heads/main\n")
				path := w.Write(c.file, "before\n")
				settings := w.Settings(lists(testkit.FS{AllowWrite: []string{"."}, DenyWrite: []string{"locked"}}))
				r := inside(t, w, standard{in: open(t, path, os.O_RDONLY)}, settings, attempt)
				if !strings.Contains(r.Stderr, "Read-only file system") {
					t.Errorf("code %d, stderr %q, want EROFS", r.Code, r.Stderr)
				}
				wantContent(t, path, "before\n")
				outside(t, w, standard{in: open(t, path, os.O_RDONLY)}, attempt)
				if b, _ := os.ReadFile(path); !strings.Contains(string(b), "evil") {
					t.Errorf("control: outside the file holds %q", b)
				}
			})
		}
	}
}

func TestWriteOnlyOutputCannotBeReopenedForReading(t *testing.T) {
	testkit.NeedFull(t)
	w := testkit.NewWorld(t)
	path := w.Write("home/p/secret/log", "LOGSECRET\n")
	settings := w.Settings(lists(testkit.FS{DenyRead: []string{"./secret"}, AllowWrite: []string{"."}}))
	const attempt = "cat < /proc/self/fd/1 >&2"
	if r := inside(t, w, standard{out: open(t, path, os.O_WRONLY|os.O_APPEND)}, settings, attempt); strings.Contains(r.Stderr, "LOGSECRET") {
		t.Errorf("a denied file was read through the write-only standard output: %q", r.Stderr)
	}
	if r := outside(t, w, standard{out: open(t, path, os.O_WRONLY|os.O_APPEND)}, attempt); !strings.Contains(r.Stderr, "LOGSECRET") {
		t.Errorf("control: outside it reads %q", r.Stderr)
	}
}

// fchmod(2), futimens(2) and fsetxattr(2) ask nothing of the descriptor but the owner's uid.
func TestModeOfStandardInputStays(t *testing.T) {
	testkit.NeedFull(t)
	w := testkit.NewWorld(t)
	path := w.Write("home/outside", "before\n")
	const attempt = "chmod 4777 /proc/self/fd/0"
	inside(t, w, standard{in: open(t, path, os.O_RDONLY)}, w.Settings(testkit.Base()), attempt)
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o644 {
		t.Errorf("mode %v, %v, want 0644: a file outside of every writable tree was made set-user-ID", st.Mode(), err)
	}
	outside(t, w, standard{in: open(t, path, os.O_RDONLY)}, attempt)
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o777|os.ModeSetuid {
		t.Errorf("control: mode %v, %v", st.Mode(), err)
	}
}
