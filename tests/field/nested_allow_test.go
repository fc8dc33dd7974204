package field

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// Deny a tree, re-open a part for reading, allow writing in a part of that: the writable part was read-only.
func TestAllowWriteBelowAllowReadBelowDenyReadIsWritable(t *testing.T) {
	for _, c := range []struct {
		name  string
		pairs []list
	}{
		{"relative", []list{{"denyRead", []string{"./t"}}, {"allowRead", []string{"./t/ws"}}, {"allowWrite", []string{"./t/ws/proj"}}}},
		{"from home", []list{{"denyRead", []string{"~/p/t"}}, {"allowRead", []string{"~/p/t/ws"}}, {"allowWrite", []string{"~/p/t/ws/proj"}}}},
		{"with slashes", []list{{"denyRead", []string{"./t/"}}, {"allowRead", []string{"./t/ws/"}}, {"allowWrite", []string{"./t/ws/proj/"}}}},
		{"with stars", []list{{"denyRead", []string{"./t/**"}}, {"allowRead", []string{"./t/ws/**"}}, {"allowWrite", []string{"./t/ws/proj/**"}}}},
		{"a pattern", []list{{"denyRead", []string{"./t"}}, {"allowRead", []string{"./t/w*"}}, {"allowWrite", []string{"./t/*/proj"}}}},
		{"allowWrite twice", []list{{"denyRead", []string{"./t"}}, {"allowRead", []string{"./t/ws"}}, {"allowWrite", []string{"./t/ws/proj", "./t/ws/proj/deep"}}}},
	} {
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}} {
			t.Run(c.name, func(t *testing.T) {
				w := newWorld(t)
				w.Write("home/p/t/hidden", secret)
				w.Write("home/p/t/other/f", secret)
				w.Write("home/p/t/ws/f", "read\n")
				w.Mkdir("home/p/t/ws/proj/deep")
				settings := entries(t, w, c.pairs[order[0]], c.pairs[order[1]], c.pairs[order[2]])
				inside(t, w, settings, "touch t/ws/proj/x t/ws/proj/deep/x && echo written").code(0).prints("written\n")
				inside(t, w, settings, "touch t/ws/y").says(readOnly)
				inside(t, w, settings, "cat t/ws/f && ls t").code(0).prints("read\nws\n")
				inside(t, w, settings, "cat t/hidden t/other/f").code(1).prints("")
				inside(t, w, settings, "touch t/new").code(1).prints("")
				wantFile(t, w, "home/p/t/ws/proj/x", "")
				wantFile(t, w, "home/p/t/ws/proj/deep/x", "")
				wantAbsent(t, w, "home/p/t/ws/y")
				wantAbsent(t, w, "home/p/t/new")
				// Each step counts.
				inside(t, w, entries(t, w, c.pairs[2]), "ls t; cat t/hidden").prints("hidden\nother\nws\n" + secret)
				inside(t, w, entries(t, w, c.pairs[0], c.pairs[1]), "touch t/ws/proj/z").says(readOnly)
				inside(t, w, entries(t, w, c.pairs[0], c.pairs[2]), "cat t/ws/f").code(1).prints("")
			})
		}
	}
}

// "Deny home, allow my workspace" is the strict configuration that people write first.
func TestWorkspaceInsideADeniedHome(t *testing.T) {
	w := newWorld(t)
	w.Write("home/.ssh/id", secret)
	w.Write("home/ws/p/f", "own\n")
	w.Write("home/ws/other", "other\n")
	settings := w.Settings(testkit.FS{DenyRead: []string{"~"}, AllowRead: []string{"~/ws"}, AllowWrite: []string{"~/ws/p"}})
	in := func(line string) outcome {
		return outcome{t, line, w.RunIn(w.Path("home/ws/p"), w.Env, "", "run", "-s", settings, "-c", line)}
	}
	in("echo more >> f; cat f ../other; ls -A ~").code(0).prints("own\nmore\nother\nws\n")
	in("cat ~/.ssh/id; ls ~/p").prints("")
	in("echo x >> ../other").says(readOnly)
	in("cd .. && pwd && cd .. && pwd && ls -A").code(0).prints(w.Path("home/ws") + "\n" + w.Home + "\nws\n")
	in("echo x > ~/new").saysOneOf(readOnly, accessDenied)
	outside(t, w, "cat ~/.ssh/id").prints(secret)
}

// Allow and deny in turns, four deep: the nearest entry decides at each depth.
func TestTurnsOfAllowAndDeny(t *testing.T) {
	fs := testkit.FS{
		DenyRead:  []string{"./a", "./a/b/c", "./a/b/c/d/e"},
		AllowRead: []string{"./a/b", "./a/b/c/d"},
	}
	for _, turned := range []bool{false, true} {
		w := newWorld(t)
		for _, dir := range []string{"a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/d/e"} {
			w.Write("home/p/"+dir+"/f", dir+"\n")
		}
		if turned {
			slices.Reverse(fs.DenyRead)
			slices.Reverse(fs.AllowRead)
		}
		const line = "for d in a a/b a/b/c a/b/c/d a/b/c/d/e; do cat $d/f; done"
		inside(t, w, w.Settings(fs), line).prints("a/b\na/b/c/d\n")
		inside(t, w, w.Settings(testkit.FS{}), line).prints("a\na/b\na/b/c\na/b/c/d\na/b/c/d/e\n")
		// What is denied again inside a writable part stays denied.
		writable := fs
		writable.AllowWrite = []string{"./a/b"}
		inside(t, w, w.Settings(writable), "echo x >> a/b/f && echo ok; echo x >> a/b/c/f; echo x >> a/b/c/d/f; echo x >> a/b/c/d/e/f; mv a/b/c a/b/moved").prints("ok\n")
		wantFile(t, w, "home/p/a/b/c/f", "a/b/c\n")
		wantFile(t, w, "home/p/a/b/c/d/e/f", "a/b/c/d/e\n")
	}
}

// An entry that allows writing inside a denied directory opens reading there, and only there.
func TestAllowWriteInsideDenyReadOpensReading(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/t/hidden", secret)
	w.Write("home/p/t/w/f", "own\n")
	settings := w.Settings(testkit.FS{DenyRead: []string{"./t"}, AllowWrite: []string{"./t/w"}})
	inside(t, w, settings, "cat t/w/f; echo x >> t/w/f && ls t; cat t/hidden").prints("own\nw\n")
	same := w.Settings(testkit.FS{DenyRead: []string{"./t"}, AllowWrite: []string{"./t"}})
	inside(t, w, same, "cat t/w/f t/hidden; echo x >> t/w/f").prints("").says(accessDenied)
	if r := start(t, w, "settings", "check", "-s", same).code(0); !strings.Contains(r.Stdout, `allowWrite entry "./t" contradicts the denyRead entry`) {
		t.Errorf("settings check prints %q", r.Stdout)
	}
	wantFile(t, w, "home/p/t/w/f", "own\nx\n")
}
