package field

import (
	"os"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// layout is a way in which a working tree finds its repository.
type layout struct {
	name   string
	make   string   // in the project
	tree   string   // the working tree, below the project
	stores []string // git directories that hooks and configuration belong to, below the project
}

func layouts() []layout {
	const first = "git init -q -b main m && git -C m -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one"
	return []layout{
		{"an ordinary clone", first + " && git clone -q m c", "c", []string{"c/.git"}},
		{"a linked worktree", first + " && git -C m worktree add -q ../wt", "wt", []string{"m/.git"}},
		{"a linked worktree inside the main one", first + " && git -C m worktree add -q wt", "m/wt", []string{"m/.git"}},
		{"a submodule", first + " && git init -q -b main top && git -C top -c protocol.file.allow=always submodule --quiet add ../m sub", "top/sub", []string{"top/.git/modules/sub"}},
		{"the project with a submodule", first + " && git init -q -b main top && git -C top -c protocol.file.allow=always submodule --quiet add ../m sub", "top", []string{"top/.git", "top/.git/modules/sub"}},
		{"a separate git directory", first + " && git clone -q --separate-git-dir store m c", "c", []string{"store"}},
		{"a bare repository", first + " && git clone -q --bare m b.git", "b.git", []string{"b.git"}},
		{"a worktree of a bare repository", first + " && git clone -q --bare m b.git && git -C b.git worktree add -q ../wt", "wt", []string{"b.git"}},
	}
}

func newRepository(t *testing.T, l layout) *testkit.World {
	t.Helper()
	testkit.NeedProgram(t, "git")
	w := newWorld(t)
	outside(t, w, l.make).code(0)
	return w
}

// The launcher took .git for a directory where it was a file, and later for a file where it was a directory.
func TestGitWorksWhateverGitIs(t *testing.T) {
	for _, l := range layouts() {
		t.Run(l.name, func(t *testing.T) {
			w := newRepository(t, l)
			dir := w.P + "/" + l.tree
			before := testkit.Tree(t, w.P)
			for _, settings := range []string{w.Settings(testkit.Base()), w.Settings(testkit.FS{}), w.Settings(testkit.FS{AllowWrite: []string{"~/p"}})} {
				o := startIn(t, w, dir, w.Env, "run", "-q", "-s", settings, "-c", "git log --format=%s; git rev-parse --git-dir >/dev/null && echo ok")
				if l.name == "the project with a submodule" {
					o.prints("ok\n") // it has no commit of its own
				} else {
					o.prints("one\nok\n")
				}
			}
			if after := testkit.Tree(t, w.P); after != before {
				t.Errorf("outside, the tree is now\n%swas\n%s", after, before)
			}
		})
	}
	for name, make := range map[string]string{
		"an empty file":         ": > .git",
		"a file without sense":  "echo nonsense > .git",
		"a file to nowhere":     "echo 'gitdir: /nonexistent/x' > .git",
		"an empty directory":    "mkdir .git",
		"a link to nowhere":     "ln -s nowhere .git",
		"a link to itself":      "ln -s .git .git",
		"a FIFO":                "mkfifo .git",
		"a file to itself":      "echo 'gitdir: .git' > .git",
		"a directory of a file": "mkdir .git; : > .git/hooks",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			outside(t, w, make).code(0)
			before := testkit.Tree(t, w.P)
			inside(t, w, w.Settings(testkit.Base()), "echo ok; git status >/dev/null 2>&1 </dev/null; :").code(0).prints("ok\n")
			if after := testkit.Tree(t, w.P); after != before {
				t.Errorf("outside, the tree is now\n%swas\n%s", after, before)
			}
		})
	}
}

// Hooks and configuration are those of the main repository, wherever it is.
func TestHooksAndConfigOfEveryLayoutAreProtected(t *testing.T) {
	for _, l := range layouts() {
		t.Run(l.name, func(t *testing.T) {
			w := newRepository(t, l)
			dir := w.P + "/" + l.tree
			for _, git := range l.stores {
				for _, f := range []string{"hooks/pre-commit", "info/attributes"} {
					w.Write("home/p/"+git+"/"+f, "before\n")
				}
			}
			// All of it is writable, so that only the protection is in the way.
			for _, fs := range []testkit.FS{{AllowWrite: []string{"~/p"}}, {AllowWrite: []string{".", "~/p/" + l.stores[0]}}} {
				settings := w.Settings(fs)
				for _, git := range l.stores {
					store := w.P + "/" + git
					if git != l.stores[0] && fs.AllowWrite[0] == "." && !strings.HasPrefix(git, l.tree) {
						continue
					}
					for _, file := range []string{store + "/hooks/pre-commit", store + "/hooks/new", store + "/info/attributes", store + "/config"} {
						startIn(t, w, dir, w.Env, "run", "-q", "-s", settings, "-c", "echo evil >> "+file).says(readOnly)
					}
					startIn(t, w, dir, w.Env, "run", "-q", "-s", settings, "-c", "mv "+store+"/hooks "+store+"/h").says(busy)
					startIn(t, w, dir, w.Env, "run", "-q", "-s", settings, "-c", "mv "+store+" "+w.P+"/moved").saysOneOf(busy, readOnly)
					startIn(t, w, dir, w.Env, "run", "-q", "-s", settings, "-c", "echo x > "+store+"/ordinary && rm "+store+"/ordinary").code(0)
					wantFile(t, w, "home/p/"+git+"/hooks/pre-commit", "before\n")
					wantFile(t, w, "home/p/"+git+"/info/attributes", "before\n")
				}
				if st, err := os.Lstat(dir + "/.git"); err == nil && st.Mode().IsRegular() {
					startIn(t, w, dir, w.Env, "run", "-q", "-s", settings, "-c", "echo 'gitdir: /tmp' > .git").says(readOnly)
					startIn(t, w, dir, w.Env, "run", "-q", "-s", settings, "-c", "mv .git x").says(busy)
				}
			}
			for _, git := range l.stores {
				outside(t, w, "echo evil >> "+git+"/hooks/pre-commit && echo >> "+git+"/config && mv "+git+"/hooks "+git+"/h").code(0)
			}
		})
	}
}

// The index lock of a linked worktree lies in the main repository, so that work was finished and could not be committed.
func TestCommitInALinkedWorktree(t *testing.T) {
	for _, l := range layouts() {
		if l.name == "a bare repository" || l.name == "the project with a submodule" {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			w := newRepository(t, l)
			dir := w.P + "/" + l.tree
			store := w.P + "/" + l.stores[0]
			const work = "echo a > f; git add f && " + commit + " -m two && git log -1 --format=%s"
			in := func(fs testkit.FS, line string) outcome {
				return startIn(t, w, dir, w.Env, "run", "-s", w.Settings(fs), "-c", line)
			}
			if !strings.HasPrefix(l.stores[0], l.tree) {
				o := in(testkit.Base(), work).prints("")
				if o.Code == 0 {
					t.Errorf("with the working tree alone it ends with 0, %q", o.Stderr)
				}
				o.says(readOnly)
			}
			for _, fs := range []testkit.FS{
				{AllowWrite: []string{".", store}}, {AllowWrite: []string{store, "."}}, {AllowWrite: []string{"~/p"}},
				{DenyRead: []string{"~"}, AllowRead: []string{"."}, AllowWrite: []string{".", store}},
			} {
				in(fs, work+" && git rm -q f && "+commit+" -m three && git log -1 --format=%s").code(0).prints("two\nthree\n")
				in(fs, "git branch b && git checkout -q b && git checkout -q - && git branch -q -D b && echo branched").prints("branched\n")
				in(fs, "echo evil > "+store+"/hooks/pre-commit; echo '[x]' >> "+store+"/config").says(readOnly)
			}
			wantAbsent(t, w, "home/p/"+l.stores[0]+"/hooks/pre-commit")
			outside(t, w, "git -C "+l.tree+" log -1 --format=%s; git -C "+l.tree+" fsck --no-progress").prints("three\n")
		})
	}
}

// Everyday commands that make a repository or change its configuration failed with a raw EPERM; the key that was to allow
// them did nothing.
func TestGitMakesRepositoriesInside(t *testing.T) {
	testkit.NeedProgram(t, "git")
	for _, allow := range []bool{false, true} {
		name := map[bool]string{false: "by default", true: "with allowGitConfig"}[allow]
		for _, c := range []struct{ name, line, prints string }{
			{"init", "git init -q new && cd new && git remote add o ../x && git config x.y z && git remote && git config x.y", "o\nz\n"},
			{"init in a deeper directory", "mkdir -p a/b/c/d && cd a/b/c/d && git init -q . && git config x.y z && git config x.y", "z\n"},
			{"init bare", "git init -q --bare b.git && git -C b.git config x.y z && ls b.git/HEAD", "b.git/HEAD\n"},
			{"clone", "git clone -q file://$HOME/src c && git -C c log --format=%s && git -C c config remote.origin.url >/dev/null && echo ok", "one\nok\n"},
			{"clone from a path", "git clone -q ~/src c && git -C c status --short --branch | head -1", "## main...origin/main\n"},
			{"clone shallow and bare", "git clone -q --depth 1 --bare file://$HOME/src c.git && git -C c.git log --format=%s", "one\n"},
			{"clone, change, push", "git clone -q --bare ~/src c.git && git clone -q c.git d && cd d && " + commit + " --allow-empty -m two && git push -q origin HEAD:main && git -C ../c.git log --format=%s", "two\none\n"},
		} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				w := newWorld(t)
				outside(t, w, "git init -q -b main ~/src && git -C ~/src -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one").code(0)
				inside(t, w, gitSettings(w, allow), c.line).code(0).prints(c.prints)
			})
		}
	}
}

func gitSettings(w *testkit.World, allowConfig bool) string {
	b := `{"filesystem": {"allowWrite": ["."]}}`
	if allowConfig {
		b = `{"filesystem": {"allowWrite": ["."], "allowGitConfig": true}}`
	}
	return w.Write("settings.json", b)
}
