package field

import (
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// The message of the tool says EBUSY or EROFS; the line after it has to name the entry to change.
func TestSavingBesideASingleWritableFileNamesTheEntry(t *testing.T) {
	for _, line := range []string{"sed -i s/a/c/ f", "echo x > g", "rm -f f", "mv f g", "cp f g"} {
		t.Run(line, func(t *testing.T) {
			w := newWorld(t)
			w.Write("home/p/f", "a\n")
			settings := w.Settings(testkit.FS{AllowWrite: []string{"./f"}})
			inside(t, w, settings, line).says("\nsandboxctl: ").says("allowWrite")
			start(t, w, "run", "-q", "-s", settings, "-c", line).never("sandboxctl: ")
			inside(t, w, w.Settings(testkit.Base()), line).code(0).never("sandboxctl")
		})
	}
}

// In a repository that exists the configuration is protected: what needs it says so, with the key that allows it.
func TestGitConfigurationIsRefusedWithTheRuleOrWorks(t *testing.T) {
	testkit.NeedProgram(t, "git")
	for _, c := range []struct{ name, line, check string }{
		{"config", "git config user.name x", "git config user.name"},
		{"config unset", "git config --unset core.bare", "git config core.bare || echo unset"},
		{"remote add", "git remote add o ../x", "git remote get-url o"},
		{"branch with upstream", "git branch -q --set-upstream-to=main other", "git config branch.other.merge"},
		{"push with upstream", "git push -q -u origin other", "git config branch.other.remote"},
		{"edited by hand", "echo '[x] y = z' >> .git/config", "git config x.y"},
		{"replaced by hand", "cp .git/config /tmp/c; echo '[x] y = z' >> /tmp/c; cp /tmp/c .git/config.new; mv -f .git/config.new .git/config", "git config x.y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ground := func() *testkit.World {
				w := newWorld(t)
				outside(t, w, "git init -q -b main . && git init -q --bare ../up.git && git remote add origin ../up.git && "+commit+" --allow-empty -m one && git branch other").code(0)
				return w
			}
			w := ground()
			was, _ := w.Read("home/p/.git/config")
			fs := []string{".", "~/up.git"}
			o := inside(t, w, w.Settings(testkit.FS{AllowWrite: fs}), c.line)
			wantFile(t, w, "home/p/.git/config", was)
			if o.Code != 0 { // git takes an upstream that it could not record for done
				o.says("sandboxctl: ").says(".git/config").says("allowGitConfig")
			}

			w = ground()
			settings := w.Write("settings.json", `{"filesystem": {"allowWrite": [".", "~/up.git"], "allowGitConfig": true}}`)
			if o := inside(t, w, settings, c.line).code(0); strings.Contains(o.Stderr, "sandboxctl") {
				t.Errorf("with allowGitConfig it says %q", o.Stderr)
			}
			outside(t, w, c.check).code(0)
			inside(t, w, settings, "echo evil > .git/hooks/pre-commit").says(readOnly)
		})
	}
}

// A submodule or a worktree needs names that are protected in the project.
func TestSubmodulesAndWorktreesAreAddedOrRefusedWithTheRule(t *testing.T) {
	testkit.NeedProgram(t, "git")
	for _, c := range []struct{ name, line, works, check string }{
		{"submodule", "git -c protocol.file.allow=always submodule --quiet add file://$HOME/src s", "allowGitConfig", "git -C s log --format=%s"},
		{"submodule again", "git -c protocol.file.allow=always submodule --quiet add file://$HOME/src s && rm -rf s && git -c protocol.file.allow=always submodule --quiet update --init && ls -A s", "allowGitConfig", "git -C s log --format=%s"},
		{"worktree inside", "git worktree add -q wt2", "", "git -C wt2 log --format=%s"},
		{"worktree beside", "git worktree add -q ../wt2", "never", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, allow := range []bool{false, true} {
				w := newWorld(t)
				outside(t, w, "git init -q -b main ~/src && git -C ~/src -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one && git clone -q ~/src .").code(0)
				o := inside(t, w, gitSettings(w, allow), c.line)
				switch {
				case c.works == "never":
					if o.Code == 0 {
						t.Errorf("it ends with 0")
					}
					wantAbsent(t, w, "home/wt2")
				case c.works == "" || allow:
					o.code(0)
					outside(t, w, c.check).prints("one\n")
				case o.Code != 0:
					o.says("\nsandboxctl: ").saysOneOf("allowGitConfig", ".gitmodules")
				default: // git takes a submodule that it could not configure for added
					o.says("could not write config file")
					outside(t, w, "git config --get-regexp '^submodule\\.s\\.'").prints("")
				}
			}
		})
	}
}
