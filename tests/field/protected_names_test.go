package field

import (
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// Start files were protected in the working directory and nowhere else, so that the next login ran what a command wrote.
func TestStartFilesOfTheHomeDirectoryAreProtected(t *testing.T) {
	promised := []string{".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile", ".ripgreprc", ".mcp.json",
		".vscode/tasks.json", ".idea/x.xml", ".claude/commands/c.md", ".claude/agents/a.md", ".claude/settings.json", ".claude/settings.local.json"}
	// The documentation says that these are not in the list.
	others := []string{".config/git/config", ".ssh/authorized_keys", ".config/autostart/x.desktop", ".config/systemd/user/x.service"}
	for _, place := range []struct {
		name, dir string
		fs        testkit.FS
	}{
		{"home, by its name", "home", testkit.FS{AllowWrite: []string{"~"}}},
		{"home, by what holds it", "home", testkit.FS{AllowWrite: []string{"~/.."}}},
		{"home, with the project", "home", testkit.FS{AllowWrite: []string{".", "~"}}},
		{"the project", "home/p", testkit.Base()},
		{"another writable tree", "home/other", testkit.FS{AllowWrite: []string{"~/other"}}},
		{"below a writable tree", "home/p/a/b", testkit.Base()},
	} {
		t.Run(place.name, func(t *testing.T) {
			w := newWorld(t)
			var loop strings.Builder
			for _, f := range promised {
				w.Write(place.dir+"/"+f, "before\n")
			}
			for _, f := range append(promised, others...) {
				loop.WriteString("F=" + w.Path(place.dir) + "/" + f + "; mkdir -p ${F%/*} 2>/dev/null; echo x >> $F && echo " + f + "\n")
			}
			settings := w.Settings(place.fs)
			inside(t, w, settings, loop.String()).prints(strings.Join(others, "\n") + "\n").says(readOnly)
			for _, attempt := range []string{"rm -f F", "mv F F.old", "ln -sf /etc/hostname F", "echo x > /tmp/g; mv /tmp/g F", "truncate -s 0 F"} {
				var all strings.Builder
				for _, f := range promised {
					all.WriteString(strings.ReplaceAll(attempt, "F", w.Path(place.dir)+"/"+f) + " && echo " + f + "\n")
				}
				inside(t, w, settings, all.String()).prints("")
			}
			for _, f := range promised {
				wantFile(t, w, place.dir+"/"+f, "before\n")
			}
			outside(t, w, loop.String()).prints(strings.Join(append(promised, others...), "\n") + "\n")
		})
	}
}

// Protected names that do not exist: the evaluator denies them, explain says that the kernel cannot yet, and nothing is made
// on the host to help it.
func TestAbsentProtectedNamesAreDeniedByTheEvaluatorAlone(t *testing.T) {
	w := newWorld(t)
	settings := w.Settings(testkit.Base())
	for _, f := range []string{".claude/settings.json", ".claude/settings.local.json", ".vscode/tasks.json", ".mcp.json", ".git/hooks/pre-commit", ".git/config",
		".bashrc", "~/.bashrc", "~/.srt-settings.json"} {
		path := strings.Replace(f, "~", w.Home, 1)
		o := start(t, w, "explain", "write", "-s", settings, path).code(1)
		if !strings.Contains(o.Stdout, "denied") {
			t.Errorf("explain write %s prints %q", f, o.Stdout)
		}
		if strings.HasPrefix(f, "~") {
			continue // the home directory is not writable here, so that the kernel does deny it
		}
		if !strings.Contains(o.Stdout, "evaluator only") {
			t.Errorf("explain write %s does not say that the kernel lets it pass: %q", f, o.Stdout)
		}
	}
	before := testkit.Tree(t, w.Home)
	inside(t, w, settings, "true").code(0)
	inside(t, w, settings, "ls -A").code(0).prints("")
	if after := testkit.Tree(t, w.Home); after != before {
		t.Errorf("outside, the home directory holds\n%swant\n%s", after, before)
	}
	start(t, w, "explain", "write", "-s", settings, "ordinary", "sub/.bashrc").code(0)
}

// One protected name existed and was protected; the one beside it did not and could be made, with a hook in it.
func TestExistingProtectedNamesHoldBesideAbsentOnes(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/.claude/settings.local.json", "{}\n")
	w.Write("home/p/.claude/commands/c.md", "before\n")
	w.Write("home/p/.vscode/settings.json", "{}\n")
	settings := w.Settings(testkit.Base())
	inside(t, w, settings, "echo evil > .claude/settings.local.json; echo evil > .claude/commands/new; echo evil > .vscode/tasks.json").says(readOnly)
	inside(t, w, settings, "rm -rf .claude .vscode; mv .claude c; mv .vscode v; ls -A | xargs").prints(".claude .vscode\n").says(busy)
	wantFile(t, w, "home/p/.claude/settings.local.json", "{}\n")
	wantFile(t, w, "home/p/.claude/commands/c.md", "before\n")
	wantAbsent(t, w, "home/p/.vscode/tasks.json")
	wantAbsent(t, w, "home/p/.claude/commands/new")
	inside(t, w, settings, "echo fine > .claude/notes && cat .claude/notes").code(0).prints("fine\n")
	outside(t, w, "echo x > .vscode/tasks.json; mv .claude c; ls -A | xargs").prints(".vscode c\n")
}

// Mount points for names that do not exist were left in the project, and in the home directory: an empty ~/.bash_profile
// keeps login shells from reading ~/.profile.
func TestNothingIsMadeForNamesThatDoNotExist(t *testing.T) {
	for name, settings := range map[string]func(w *testkit.World) string{
		"protected names": func(w *testkit.World) string { return w.Settings(testkit.Base()) },
		"in all of home":  func(w *testkit.World) string { return w.Settings(testkit.FS{AllowWrite: []string{"~"}}) },
		"denied names": func(w *testkit.World) string {
			return w.Settings(testkit.FS{DenyRead: []string{"./secret/k", "~/.ssh"}, AllowWrite: []string{"."}, DenyWrite: []string{"./closed/f", "./**/gen"}})
		},
		"re-opened and writable names": func(w *testkit.World) string {
			return w.Settings(testkit.FS{DenyRead: []string{"~"}, AllowRead: []string{".", "~/absent/a"}, AllowWrite: []string{"./w/x", "."}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			file := settings(w)
			before := testkit.Tree(t, w.Root)
			same := func(when string) {
				t.Helper()
				if after := testkit.Tree(t, w.Root); after != before {
					t.Errorf("%s, outside there is\n%swant\n%s", when, after, before)
				}
			}
			start(t, w, "run", "-q", "-s", file, "--", "true").code(0)
			same("after a run")

			p := spawn(t, w, "run", "-q", "-s", file, "-c", "echo up; read x")
			p.line("up\n")
			same("while a command runs")
			p.kill()
			same("after kill -9")

			var running []*process
			for range 20 {
				running = append(running, spawn(t, w, "run", "-q", "-s", file, "-c", "echo up; read x; echo done"))
			}
			for _, r := range running {
				r.line("up\n")
			}
			same("while 20 run")
			for _, r := range running {
				r.in.Close()
				r.line("done\n")
				if err := r.cmd.Wait(); err != nil {
					t.Errorf("one of 20: %v, %s", err, r.stderr.String())
				}
			}
			same("after 20 runs side by side")
		})
	}
}

// The same names must not keep git from making a repository.
func TestGitInitWorksInAnEmptyProject(t *testing.T) {
	testkit.NeedProgram(t, "git")
	w := newWorld(t)
	inside(t, w, w.Settings(testkit.Base()), "git init -q -b main . && git status --short && git rev-parse --git-dir").code(0).prints(".git\n")
	outside(t, w, "git status --porcelain; git rev-parse --git-dir").code(0).prints(".git\n")
}
