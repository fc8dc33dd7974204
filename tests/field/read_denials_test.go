package field

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

const secret = "TOP\n"

// A directory was made read-only by a mount of itself, which brought the denied file below it back.
func TestDenyReadInsideDenyWriteStaysDenied(t *testing.T) {
	reversed := func(l list) list {
		l.entries = slices.Clone(l.entries)
		slices.Reverse(l.entries)
		return l
	}
	for _, n := range []struct {
		name            string
		denyRead, write []string
	}{
		{"read denials inside", []string{"./secrets/k", "./secrets/sub/k"}, []string{"./secrets", "./secrets/sub"}},
		{"write denials inside", []string{"./secrets", "./secrets/sub"}, []string{"./secrets/k", "./secrets/sub/k"}},
		{"the same paths", []string{"./secrets/k", "./secrets/sub/k"}, []string{"./secrets/k", "./secrets/sub/k"}},
		{"one above the other, crosswise", []string{"./secrets/k", "./secrets/sub"}, []string{"./secrets", "./secrets/sub/k"}},
	} {
		denyRead, denyWrite := list{"denyRead", n.denyRead}, list{"denyWrite", n.write}
		allow := list{"allowWrite", []string{"."}}
		for i, order := range [][]list{
			{denyRead, denyWrite, allow}, {allow, denyWrite, denyRead},
			{reversed(denyRead), reversed(denyWrite), allow}, {reversed(denyWrite), allow, reversed(denyRead)},
		} {
			t.Run(n.name+" "+string(rune('1'+i)), func(t *testing.T) {
				w := newWorld(t)
				w.Write("home/p/secrets/k", secret)
				w.Write("home/p/secrets/sub/k", secret)
				settings := entries(t, w, order...)
				for _, f := range []string{"secrets/k", "secrets/sub/k", "secrets/./sub/../k", w.P + "/secrets/k"} {
					inside(t, w, settings, "cat "+f).code(1).prints("").says(accessDenied)
					inside(t, w, settings, "echo evil >> "+f).prints("").saysOneOf(accessDenied, readOnly)
				}
				wantFile(t, w, "home/p/secrets/k", secret)

				inside(t, w, entries(t, w, denyWrite, allow), "cat secrets/k secrets/sub/k").code(0).prints(secret + secret)
				inside(t, w, entries(t, w, denyRead, allow), "cat secrets/k").code(1).prints("")
			})
		}
	}
}

// The neighbours of a denied file in a write-denied directory are readable, and not more than that.
func TestDenyWriteAroundADenialLeavesTheNeighboursReadable(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/secrets/k", secret)
	w.Write("home/p/secrets/open", "open\n")
	settings := w.Settings(testkit.FS{DenyRead: []string{"./secrets/k"}, AllowWrite: []string{"."}, DenyWrite: []string{"./secrets"}})
	inside(t, w, settings, "cat secrets/open").code(0).prints("open\n")
	inside(t, w, settings, "echo evil > secrets/open").says(readOnly)
	inside(t, w, settings, "echo evil > secrets/new").says(readOnly)
	inside(t, w, w.Settings(testkit.Base()), "echo fine > secrets/open").code(0)
	wantFile(t, w, "home/p/secrets/open", "fine\n")
}

// A denied directory was an empty one in memory, and what a command saved there was lost.
func TestDeniedDirectoryIsNoScratchSpace(t *testing.T) {
	for _, dir := range []string{"./.ssh", "~/.ssh", "./d/e/.ssh"} {
		t.Run(dir, func(t *testing.T) {
			w := newWorld(t)
			rel := strings.NewReplacer("./", "home/p/", "~/", "home/").Replace(dir)
			w.Write(rel+"/id", secret)
			settings := w.Settings(testkit.FS{DenyRead: []string{dir}, AllowWrite: []string{".", "~"}})
			for _, line := range []string{
				"echo x > D/new", "mkdir D/sub", "touch D/id", "cp /etc/hostname D/", "ln -s x D/l", "mktemp D/XXXXXX", "echo x > D/id",
			} {
				line = strings.ReplaceAll(line, "D", dir)
				inside(t, w, settings, line+" && echo saved").prints("").says(accessDenied)
			}
			inside(t, w, settings, "ls -A "+dir).prints("").says(accessDenied)
			inside(t, w, settings, "cd "+dir+" && pwd").prints("")
			if got := testkit.Tree(t, w.Path(rel)); strings.Count(got, "\n") != 2 {
				t.Errorf("outside, the directory holds\n%s", got)
			}
			inside(t, w, w.Settings(testkit.FS{AllowWrite: []string{".", "~"}}), "echo x > "+dir+"/new; ls -A "+dir).code(0).prints("id\nnew\n")
		})
	}
}

// The same for a file: never an empty file that may be read, never one that may be written.
func TestDeniedFileIsNotEmptyButClosed(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/f", secret)
	settings := w.Settings(testkit.FS{DenyRead: []string{"./f"}, AllowWrite: []string{"."}})
	inside(t, w, settings, "cat f").code(1).prints("").says(accessDenied).says("sandboxctl: denied by denyRead")
	inside(t, w, settings, "[ -r f ] && echo readable; [ -w f ] && echo writable; [ -e f ] && echo there").prints("there\n")
	inside(t, w, settings, "echo x > f").saysOneOf(accessDenied, readOnly)
	inside(t, w, settings, "rm -f f").says(busy)
	inside(t, w, settings, "mv f g").says(busy)
	wantFile(t, w, "home/p/f", secret)
	inside(t, w, w.Settings(testkit.Base()), "cat f; mv f g").code(0).prints(secret)
}

// The protection of start files against writing made them readable again, as its mounts came last.
func TestProtectionDoesNotUncoverADenial(t *testing.T) {
	names := []string{".zshrc", ".bashrc", ".profile", ".gitconfig", ".mcp.json", ".ripgreprc", ".vscode/tasks.json", ".git/config", ".git/hooks/pre-commit"}
	ground := func(t *testing.T) *testkit.World {
		w := newWorld(t)
		for _, n := range names {
			w.Write("home/"+n, secret)
		}
		w.Write("home/.git/HEAD", "ref: refs/heads/main\n")
		w.Mkdir("home/.git/objects", "home/.git/refs")
		return w
	}
	home := func(w *testkit.World, settings, line string) testkit.Result {
		return w.RunIn(w.Home, w.Env, "", "run", "-s", settings, "-c", line)
	}
	for _, name := range names {
		t.Run("by name "+name, func(t *testing.T) {
			w := ground(t)
			for _, fs := range []testkit.FS{
				{DenyRead: []string{"~/" + name}},
				{DenyRead: []string{"~/" + name}, AllowWrite: []string{"~"}},
				{DenyRead: []string{"./" + name}, AllowWrite: []string{"."}, DenyWrite: []string{"~/" + name}},
			} {
				if r := home(w, w.Settings(fs), "cat ~/"+name); r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, accessDenied) {
					t.Errorf("%+v: code %d, prints %q, %q", fs, r.Code, r.Stdout, r.Stderr)
				}
			}
			if r := home(w, w.Settings(testkit.FS{AllowWrite: []string{"~"}}), "cat ~/"+name+"; echo evil >> ~/"+name); r.Stdout != secret || !strings.Contains(r.Stderr, readOnly) {
				t.Errorf("control: without the denial it prints %q, %q", r.Stdout, r.Stderr)
			}
		})
	}
	for name, fs := range map[string]testkit.FS{
		"home denied":                         {DenyRead: []string{"~"}, AllowRead: []string{"."}},
		"home denied, the project writable":   {DenyRead: []string{"~"}, AllowWrite: []string{"."}},
		"home denied, all of it writable":     {DenyRead: []string{"~"}, AllowRead: []string{"."}, AllowWrite: []string{"~", "."}},
		"home denied, the names write-denied": {DenyRead: []string{"~"}, AllowRead: []string{"."}, DenyWrite: []string{"~/.zshrc", "~/.bashrc"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := ground(t)
			settings := w.Settings(fs)
			for _, n := range names {
				inside(t, w, settings, "cat ~/"+n).code(1).prints("")
			}
			inside(t, w, settings, "ls -A ~").prints("p\n")
			inside(t, w, w.Settings(testkit.Base()), "cat ~/.zshrc").prints(secret)
		})
	}
}

// A denial that covered the working directory moved the command to the home directory in silence.
func TestDenialOfTheWorkingDirectoryIsRefused(t *testing.T) {
	for _, entry := range []string{"..", ".", "../..", "~", "/", "../../../../home", "../*", "~/**"} {
		t.Run(strings.ReplaceAll(entry, "/", "|"), func(t *testing.T) {
			w := newWorld(t)
			w.Mkdir("home/p/a/b")
			w.Write("home/p/a/b/own", "own\n")
			dir := w.P + "/a/b"
			settings := w.Settings(testkit.FS{DenyRead: []string{entry}})
			startIn(t, w, dir, w.Env, "run", "-s", settings, "-c", "pwd; ls").refuses("denyRead", entry, settings[strings.LastIndex(settings, "/")+1:])
			// Re-opened, it is the same directory as before.
			for _, fs := range []testkit.FS{{DenyRead: []string{entry}, AllowRead: []string{"."}}, {DenyRead: []string{entry}, AllowWrite: []string{"."}}} {
				same := entry == "." || entry == "../*"
				if same && fs.AllowRead == nil || entry == "/" {
					continue // a denial wins over allowWrite at the same path; without / there are no programs
				}
				startIn(t, w, dir, w.Env, "run", "-s", w.Settings(fs), "-c", "pwd; /bin/ls").code(0).prints(dir + "\nown\n")
			}
			startIn(t, w, dir, w.Env, "run", "-s", w.Settings(testkit.FS{}), "-c", "pwd; ls").code(0).prints(dir + "\nown\n")
		})
	}
}
