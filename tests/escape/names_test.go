package escape

import (
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// Paths are bytes. One that is not UTF-8 must reach the stage as it is.
func TestDeniedNamesOfAnyBytes(t *testing.T) {
	testkit.NeedFull(t)
	for _, name := range []string{"plain.key", "a b.key", "n\nl.key", "b[1].key", "back\\slash.key", "tail\n.key", "b\xff.key", "\xc3\x28.key", "d\xff/a.key"} {
		t.Run(strings.ToValidUTF8(name, "?"), func(t *testing.T) {
			w := testkit.NewWorld(t)
			w.Write("home/p/"+name, "SECRET\n")
			const attempt = "cat *.key */*.key"
			settings := w.Settings(lists(testkit.FS{DenyRead: []string{"**/*.key"}, AllowWrite: []string{"."}}))
			if r := inside(t, w, standard{}, settings, attempt); strings.Contains(r.Stdout, "SECRET") {
				t.Errorf("read a denied file: %q", r.Stdout)
			}
			if r := w.Outside(attempt); !strings.Contains(r.Stdout, "SECRET") {
				t.Errorf("control: outside it reads %q, %q", r.Stdout, r.Stderr)
			}
			settings = w.Settings(lists(testkit.FS{DenyWrite: []string{"**/*.key"}, AllowWrite: []string{"."}}))
			const write = `for f in *.key */*.key; do echo evil > "$f"; done`
			inside(t, w, standard{}, settings, write)
			wantContent(t, w.P+"/"+name, "SECRET\n")
			w.Outside(write)
			wantContent(t, w.P+"/"+name, "evil\n")
		})
	}
}

func TestArgumentsAndVariablesOfAnyBytes(t *testing.T) {
	testkit.NeedFull(t)
	w := testkit.NewWorld(t)
	const bytes = "x\xffy"
	if r := w.Run("run", "--env", "V="+bytes, "--", "/bin/sh", "-c", `printf '%s %s' "$1" "$V"`, "sh", bytes); r.Stdout != bytes+" "+bytes {
		t.Errorf("got %q, want the bytes as they were given", r.Stdout)
	}
}
