package field

import (
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// A second name took a file out of the list of denied paths, or out of a read-only mount.
func TestHardLinksLeadNowhereElse(t *testing.T) {
	attempts := testkit.Attempts(t)
	for _, rule := range []struct {
		name string
		fs   testkit.FS
		rel  string // the file
		read bool   // it may be read
	}{
		{name: "a file denied for reading", fs: testkit.FS{DenyRead: []string{"./secret"}}, rel: "secret"},
		{name: "a file below a directory denied for reading", fs: testkit.FS{DenyRead: []string{"./d"}}, rel: "d/secret"},
		{name: "a pattern denied for reading", fs: testkit.FS{DenyRead: []string{"**/sec*"}}, rel: "n/secret"},
		{name: "a file denied for writing", fs: testkit.FS{DenyWrite: []string{"./secret"}}, rel: "secret", read: true},
		{name: "a file below a directory denied for writing", fs: testkit.FS{DenyWrite: []string{"./d"}}, rel: "d/secret", read: true},
		{name: "a file outside of the writable tree", rel: "../secret", read: true},
		{name: "a protected file", rel: ".mcp.json", read: true},
	} {
		for _, make := range []string{
			"ln F w/a", "ln -P F w/a", "ln -L F w/a", "cp -l F w/a", "cp -al F w/a", "mv F w/a", "ln -s F w/s; ln -L w/s w/a",
			"python3 -c 'import os; os.link(\"F\", \"w/a\")'", attempts + " exchange w/own F; cp w/own w/a",
			attempts + " rename F w/a", "mv -T w F", "ln -f w/own F",
		} {
			t.Run(rule.name+": "+strings.ReplaceAll(make, attempts, "attempt"), func(t *testing.T) {
				w := newWorld(t)
				w.Write("home/p/"+rule.rel, secret)
				w.Write("home/p/w/own", "own\n")
				fs := rule.fs
				fs.AllowWrite = []string{"."}
				line := strings.ReplaceAll(make, "F", rule.rel)
				o := inside(t, w, w.Settings(fs), line+"; cat w/a; echo evil >> w/a; echo evil >> w/own")
				if !rule.read {
					o.never("TOP")
				}
				wantFile(t, w, "home/p/"+rule.rel, secret)
			})
		}
	}
	// Without a rule all of them work.
	for _, make := range []string{"ln F w/a", "cp -l F w/a", "ln -s ../F w/s; ln -L w/s w/a", attempts + " exchange w/own F >&2; mv w/own w/a"} {
		w := newWorld(t)
		w.Write("home/p/secret", secret)
		w.Write("home/p/w/own", "own\n")
		line := strings.ReplaceAll(make, "F", "secret")
		inside(t, w, w.Settings(testkit.Base()), line+"; cat w/a; echo evil >> w/a").code(0).prints(secret)
	}
}

// Refusing link(2) altogether broke the caches of package managers.
func TestHardLinksInsideTheWritableTreeWork(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/secret", secret)
	w.Mkdir("home/p/w")
	settings := w.Settings(testkit.FS{DenyRead: []string{"./secret"}, AllowWrite: []string{"."}})
	inside(t, w, settings, "cd w; echo 1 > x; ln x y && stat -c %h y && echo 2 >> y && cat x").code(0).prints("2\n1\n2\n")
	inside(t, w, settings, "mkdir c && echo 3 > c/f && cp -al c d && cmp c/f d/f && stat -c %h d/f").code(0).prints("2\n")
	inside(t, w, settings, "cd /tmp; echo 4 > x; ln x y && stat -c %h y").code(0).prints("2\n")
}
