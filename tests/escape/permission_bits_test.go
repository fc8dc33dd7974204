package escape

import (
	"os"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// One run takes the permissions of a directory away, so that the next launch cannot look below it; the next run gives them
// back. What the settings deny there must stay denied, or the launch be refused.
func TestPermissionBitsHideNothingFromTheNextLaunch(t *testing.T) {
	testkit.NeedFull(t)
	for _, mode := range []string{"000", "600", "311"} {
		for _, c := range []struct {
			name, dir string // whose permissions go
			fs        testkit.FS
			read      string // must not be seen
			attempt   string
			written   string // must not be changed
		}{
			{name: "denied file", dir: "d", fs: testkit.FS{DenyRead: []string{"./d/secret"}}, attempt: "cat d/secret", read: "SECRET"},
			{name: "denied pattern", dir: "d", fs: testkit.FS{DenyRead: []string{"**/sec*"}}, attempt: "cat d/secret", read: "SECRET"},
			{name: "denied write", dir: "d", fs: testkit.FS{DenyWrite: []string{"./d/secret"}}, attempt: "echo evil > d/secret", written: "d/secret"},
			{name: "git hook", dir: ".git", attempt: "echo evil > .git/hooks/pre-commit", written: ".git/hooks/pre-commit"},
			{name: "git hook below", dir: "n", attempt: "echo evil > n/.git/hooks/pre-commit", written: "n/.git/hooks/pre-commit"},
			{name: "nested name", dir: "n", attempt: "echo evil > n/.bashrc", written: "n/.bashrc"},
		} {
			t.Run(c.name+" "+mode, func(t *testing.T) {
				w := testkit.NewWorld(t)
				const before = "SECRET\n"
				for _, f := range []string{"d/secret", ".git/hooks/pre-commit", "n/.git/hooks/pre-commit", "n/.bashrc"} {
					w.Write("home/p/"+f, before)
				}
				w.Mkdir("home/p/.git/objects", "home/p/.git/refs", "home/p/n/.git/objects", "home/p/n/.git/refs")
				w.Write("home/p/.git/HEAD", "ref: refs/heads/main\n")
				w.Write("home/p/n/.git/HEAD", "ref: refs/heads/main\n")
				c.fs.AllowWrite = []string{"."}
				settings := w.Settings(lists(c.fs))

				first := inside(t, w, standard{}, settings, c.attempt+"; chmod "+mode+" "+c.dir)
				if c.read != "" && strings.Contains(first.Stdout, c.read) {
					t.Errorf("the plain attempt read %q", first.Stdout)
				}
				second := w.Run("run", "-q", "-s", settings, "-c", "chmod 755 "+c.dir+"; "+c.attempt)
				if second.Code == refused && !oneLine(second.Stderr) {
					t.Errorf("the refusal says %q", second.Stderr)
				}
				if err := os.Chmod(w.P+"/"+c.dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if c.read != "" && strings.Contains(second.Stdout, c.read) {
					t.Errorf("the second run read %q, stderr %q", second.Stdout, second.Stderr)
				}
				if c.written != "" {
					wantContent(t, w.P+"/"+c.written, before)
				}

				control := w.Outside("chmod " + mode + " " + c.dir + "; chmod 755 " + c.dir + "; " + c.attempt)
				if c.read != "" && !strings.Contains(control.Stdout, c.read) {
					t.Errorf("control: outside it reads %q", control.Stdout)
				}
				if c.written != "" {
					wantContent(t, w.P+"/"+c.written, "evil\n")
				}
			})
		}
	}
}
