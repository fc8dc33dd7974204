package field

import (
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// Tools save a file by writing another one beside it and renaming it. Where a single file is what may be written, that fails,
// and nobody was told why.
func TestSingleWritableFileIsWrittenInPlace(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/f", "a\n")
	settings := w.Settings(testkit.FS{AllowWrite: []string{"./f"}})
	inside(t, w, settings, "echo b > f; cat f; echo c >> f; truncate -s 2 f; cat f").code(0).prints("b\nb\n")
	wantFile(t, w, "home/p/f", "b\n")
	for _, line := range []string{"sed -i s/b/c/ f", "mv f g", "rm -f f", "echo x > g", "echo c > /tmp/new; mv /tmp/new f"} {
		o := inside(t, w, settings, line)
		if o.Code == 0 {
			t.Errorf("%s works on a single writable file: %q", line, o.Stderr)
		}
		o.saysOneOf(readOnly, busy)
	}
	wantFile(t, w, "home/p/f", "b\n")
	inside(t, w, w.Settings(testkit.Base()), "sed -i s/b/c/ f; mv f g; cat g").code(0).prints("c\n")
}
