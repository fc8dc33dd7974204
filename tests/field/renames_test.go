package field

import (
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// What stands at a protected name cannot be written, so it was renamed, or the directory that holds it, and a new one made.
func TestRenamesDoNotGoRoundTheProtection(t *testing.T) {
	testkit.NeedProgram(t, "git")
	const plant = `printf '#!/bin/sh\necho RAN >> "$OUT"\n' > H; chmod 755 H`
	for _, c := range []struct{ name, line string }{
		{"onto the hook", "cp evil .git/x && mv -f .git/x .git/hooks/pre-commit"},
		{"onto the sample", "cp evil .git/x && mv -f .git/x .git/hooks/pre-commit.sample && mv .git/hooks/pre-commit.sample .git/hooks/pre-commit"},
		{"the hooks away", "mv .git/hooks .git/h; mkdir -p .git/hooks; cp -p evil .git/hooks/pre-commit"},
		{"the hooks exchanged", "mkdir .git/h; cp -p evil .git/h/pre-commit; mv -T .git/h .git/hooks; mv --exchange .git/h .git/hooks"},
		{"the repository away", "mv .git old && mkdir -p .git/hooks && cp -p evil .git/hooks/pre-commit && cp -a old/HEAD old/refs old/objects old/config .git/"},
		{"the repository copied", "cp -a .git new; rm -rf .git; mv new .git; cp -p evil .git/hooks/pre-commit"},
		{"a link in place of it", "cp -a .git new; mkdir -p new/hooks; cp -p evil new/hooks/pre-commit; rm -rf .git; ln -s new .git"},
		{"a file in place of it", "cp -a .git new; mkdir -p new/hooks; cp -p evil new/hooks/pre-commit; mv .git old; echo 'gitdir: new' > .git"},
		{"the project away", "mkdir ../q; mv $PWD ../q/p; cp -p evil .git/hooks/pre-commit"},
		{"another hooks path", "git config core.hooksPath $PWD/h; mkdir h; cp -p evil h/pre-commit"},
		{"another hooks path, edited", "mkdir h; cp -p evil h/pre-commit; printf '[core]\\n\\thooksPath = h\\n' >> .git/config"},
		{"another configuration file", "mkdir h; cp -p evil h/pre-commit; git config extensions.worktreeConfig true; printf '[core]\\n\\thooksPath = h\\n' > .git/config.worktree"},
		{"attributes and a filter", "echo '* filter=x' > .git/info/attributes; git config filter.x.clean 'echo RAN >> \"$OUT\"; cat'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.Env = append(w.Env, "OUT="+w.Path("ran"))
			outside(t, w, "git init -q -b main . && echo 1 > f && git add f && "+commit+" -m one").code(0)
			line := strings.ReplaceAll(plant, "H", "evil") + "; " + c.line
			inside(t, w, w.Settings(testkit.Base()), line)
			outside(t, w, "echo 2 >> f; git add f; "+commit+" -m two")
			if got, ran := w.Read("ran"); ran {
				t.Errorf("a hook that was planted inside ran outside: %q", got)
			}
			outside(t, w, "ls -d .git/hooks").prints(".git/hooks\n")
		})
	}
	t.Run("control", func(t *testing.T) {
		w := newWorld(t)
		w.Env = append(w.Env, "OUT="+w.Path("ran"))
		outside(t, w, "git init -q -b main . && "+strings.ReplaceAll(plant, "H", ".git/hooks/pre-commit")+"; "+commit+" --allow-empty -m one").code(0)
		wantFile(t, w, "ran", "RAN\n")
	})
}

// commit makes a commit without a configured identity.
const commit = "git -c user.name=a -c user.email=a@example.com commit -q"

// The same for other protected names and for denied ones: the directory that holds them is moved, not they.
func TestRenamesOfTheDirectoryAbove(t *testing.T) {
	for _, c := range []struct{ name, file, above string }{
		{"denied file", "home/p/d/secret", "d"},
		{"denied file, deep", "home/p/d/e/f/secret", "d"},
		{"denied file, in the middle", "home/p/d/e/f/secret", "d/e"},
		{"protected directory", "home/p/.vscode/tasks.json", ".vscode"},
		{"commands", "home/p/.claude/commands/c.md", ".claude"},
		{"settings of an agent", "home/p/.claude/settings.json", ".claude"},
		{"protected file below", "home/p/n/m/.bashrc", "n"},
		{"write-denied file", "home/p/c/closed", "c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.Write(c.file, secret)
			settings := w.Settings(testkit.FS{DenyRead: []string{"**/secret"}, AllowWrite: []string{"."}, DenyWrite: []string{"**/closed"}})
			rel := strings.TrimPrefix(c.file, "home/p/")
			moved := "moved" + strings.TrimPrefix(rel, c.above)
			denied := strings.HasSuffix(rel, "secret")
			for _, line := range []string{
				"mv A moved; cat M; echo evil > M", "mv -T A moved; mkdir -p A; echo evil > F", "mkdir x; mv -T x A; echo evil > F", "cp -a A moved; rm -rf A; mv moved A; echo evil > F",
				"mkdir x; mv A x/; cat x/*; echo evil > F", "ln -sfn moved A; rm -rf A; ln -s moved A; echo evil > F",
			} {
				o := inside(t, w, settings, strings.NewReplacer("A", c.above, "M", moved, "F", rel).Replace(line))
				if denied {
					o.never("TOP")
				}
				wantFile(t, w, c.file, secret)
				outside(t, w, "rm -rf moved x")
			}
			outside(t, w, strings.NewReplacer("A", c.above, "M", moved).Replace("mv A moved && cat M && echo evil > M && cat M")).prints(secret + "evil\n")
		})
	}
}
