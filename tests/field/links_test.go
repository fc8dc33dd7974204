package field

import (
	"os"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// gitSkeleton makes what git and we take for a repository, without the program.
func gitSkeleton(w *testkit.World, rel string) {
	w.Write(rel+"/HEAD", "ref: refs/heads/main\n")
	w.Write(rel+"/config", "[core]\n\tbare = false\n")
	w.Mkdir(rel+"/objects", rel+"/refs/heads", rel+"/info")
}

func symlink(t *testing.T, w *testkit.World, target, rel string) {
	t.Helper()
	if err := os.Symlink(target, w.Path(rel)); err != nil {
		t.Fatal(err)
	}
}

func wantLink(t *testing.T, w *testkit.World, rel, target string) {
	t.Helper()
	if got, err := os.Readlink(w.Path(rel)); err != nil || got != target {
		t.Errorf("outside, %s leads to %q, %v, want %q", rel, got, err, target)
	}
}

// A protected name that is a link stopped every command, or only the link was covered and not what it leads to.
func TestProtectedNameThatIsALinkIsProtectedAtBothEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		link   string // below the project
		target string // as the link says
		dir    string // what it leads to, below the root; "" = nothing
		file   string // in dir
	}{
		{"hooks, relative, in the project", ".git/hooks", "../hooks", "home/p/hooks", "pre-commit"},
		{"hooks, absolute, in the project", ".git/hooks", "ROOT/home/p/hooks", "home/p/hooks", "pre-commit"},
		{"hooks, outside, not writable", ".git/hooks", "ROOT/shared", "shared", "pre-commit"},
		{"hooks, outside, writable by another entry", ".git/hooks", "ROOT/home/w/hooks", "home/w/hooks", "pre-commit"},
		{"hooks, by two links", ".git/hooks", "../middle", "home/p/hooks", "pre-commit"},
		{"vscode", ".vscode", "shared/vscode", "home/p/shared/vscode", "tasks.json"},
		{"idea", ".idea", "ROOT/home/w/idea", "home/w/idea", "workspace.xml"},
		{"commands", ".claude/commands", "../shared/commands", "home/p/shared/commands", "c.md"},
		{"claude as a whole", ".claude", "shared/claude", "home/p/shared/claude/commands", "c.md"},
		{"git as a whole", ".git", "repo.git", "home/p/repo.git/hooks", "pre-commit"},
		{"git as a whole, elsewhere", ".git", "ROOT/home/w/repo.git", "home/w/repo.git/hooks", "pre-commit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.Mkdir("home/w")
			switch {
			case c.link == ".git":
				gitSkeleton(w, strings.TrimSuffix(c.dir, "/hooks"))
			default:
				gitSkeleton(w, "home/p/.git")
			}
			w.Mkdir(strings.TrimSuffix("home/p/"+c.link, "/"+c.link[strings.LastIndex(c.link, "/")+1:]))
			w.Write(c.dir+"/"+c.file, "before\n")
			target := strings.ReplaceAll(c.target, "ROOT", w.Root)
			symlink(t, w, target, "home/p/"+c.link)
			if c.target == "../middle" {
				symlink(t, w, "hooks", "home/p/middle")
			}
			settings := w.Settings(testkit.FS{AllowWrite: []string{".", "~/w"}})
			direct := w.Path(c.dir) + "/" + c.file
			through := c.link
			switch c.link {
			case ".git":
				through = ".git/hooks"
			case ".claude":
				through = ".claude/commands"
			}

			inside(t, w, settings, "echo ok").code(0).prints("ok\n")
			inside(t, w, settings, "cat "+through+"/"+c.file).prints("before\n")
			for _, file := range []string{direct, through + "/" + c.file} {
				inside(t, w, settings, "echo evil > "+file).says(readOnly)
				inside(t, w, settings, "rm -f "+file).says(readOnly)
				inside(t, w, settings, "echo x > "+file+".new").says(readOnly)
			}
			for _, line := range []string{
				"ln -sfn /tmp " + c.link, "rm -f " + c.link, "mv " + c.link + " moved", "rm -f " + c.link + "; mkdir " + c.link,
				"mv " + w.Path(c.dir) + " " + w.P + "/gone; mkdir -p " + w.Path(c.dir), "ln -sfn /tmp middle", "rm -rf " + c.link + "/",
			} {
				inside(t, w, settings, line)
			}
			wantLink(t, w, "home/p/"+c.link, target)
			wantFile(t, w, c.dir+"/"+c.file, "before\n")
			wantFile(t, w, "home/p/"+through+"/"+c.file, "before\n")

			outside(t, w, "echo evil > "+direct+"; cat "+through+"/"+c.file+"; ln -sfn /tmp "+c.link+"; readlink "+c.link).prints("evil\n/tmp\n")
		})
	}
}

// A link that leads nowhere is no reason to start nothing, and stays what it is.
func TestProtectedNameThatIsADanglingLink(t *testing.T) {
	for _, link := range []string{".git/hooks", ".vscode", ".mcp.json", ".claude/settings.json", ".bashrc", ".git/config"} {
		t.Run(link, func(t *testing.T) {
			w := newWorld(t)
			gitSkeleton(w, "home/p/.git")
			w.Mkdir("home/p/.claude")
			_ = os.Remove(w.Path("home/p/.git/config"))
			symlink(t, w, "nowhere", "home/p/"+link)
			settings := w.Settings(testkit.Base())
			inside(t, w, settings, "echo ok").code(0).prints("ok\n")
			for _, line := range []string{"ln -sfn /tmp L", "rm -f L", "mv L moved", "rm -f L; echo x > L", "rm -f L; mkdir L"} {
				inside(t, w, settings, strings.ReplaceAll(line, "L", link))
			}
			wantLink(t, w, "home/p/"+link, "nowhere")
			outside(t, w, "ln -sfn /tmp "+link+" && readlink "+link).prints("/tmp\n")
		})
	}
}

// Start files are switched off by a link to /dev/null; the device has to stay usable.
func TestProtectedNameThatLeadsToADevice(t *testing.T) {
	w := newWorld(t)
	symlink(t, w, "/dev/null", "home/p/.bashrc")
	settings := w.Settings(testkit.Base())
	inside(t, w, settings, "echo x > /dev/null && echo x > .bashrc && cat .bashrc && echo ok").code(0).prints("ok\n")
	inside(t, w, settings, "rm -f .bashrc").says(busy)
	wantLink(t, w, "home/p/.bashrc", "/dev/null")
}

// The rule is about what a denied link leads to, and the link may not be turned to something else.
func TestDenialThroughALinkHoldsAtBothEnds(t *testing.T) {
	for _, c := range []struct{ name, link, target, file string }{
		{"a file in the project", "l", "real", "home/p/real"},
		{"a file outside", "l", "../real", "home/real"},
		{"a file below a directory that is a link", "dir/f", "", "home/p/realdir/f"},
		{"by two links", "l", "m", "home/p/real"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.Write(c.file, secret)
			switch {
			case c.target == "":
				symlink(t, w, "realdir", "home/p/dir")
			default:
				symlink(t, w, c.target, "home/p/"+c.link)
			}
			if c.target == "m" {
				symlink(t, w, "real", "home/p/m")
			}
			settings := w.Settings(testkit.FS{DenyRead: []string{"./" + c.link}, AllowWrite: []string{"."}})
			inside(t, w, settings, "cat "+c.link+" "+w.Path(c.file)).code(1).prints("").says(accessDenied)
			// In the next run the denial is still about the same file.
			inside(t, w, settings, "rm -f "+strings.Split(c.link, "/")[0]+" m; ln -sfn free "+strings.Split(c.link, "/")[0]+"; ln -sfn free m")
			inside(t, w, settings, "cat "+w.Path(c.file)).code(1).prints("").says(accessDenied)
			inside(t, w, w.Settings(testkit.Base()), "cat "+c.link+" "+w.Path(c.file)).code(0).prints(secret + secret)
		})
	}
}

// A command makes a link to a secret in one run; an entry of the settings follows it in the next.
func TestLinkOfAnEarlierRunOpensNothing(t *testing.T) {
	w := newWorld(t)
	w.Write("home/.ssh/id", secret)
	w.Write("home/outside", "before\n")
	w.Mkdir("home/p/d")
	settings := w.Settings(testkit.FS{DenyRead: []string{"~/.ssh"}, AllowRead: []string{"./d/r"}, AllowWrite: []string{".", "./d/w"}})
	inside(t, w, settings, "ln -s ~/.ssh d/r; ln -s ~ d/w; ls d | xargs").prints("r w\n")
	inside(t, w, settings, "cat d/r/id ~/.ssh/id").code(1).prints("").says("allowRead").says(accessDenied)
	inside(t, w, settings, "echo evil > d/w/outside").says("allowWrite").says(readOnly)
	wantFile(t, w, "home/outside", "before\n")
	outside(t, w, "cat d/r/id; echo evil > d/w/outside; cat ~/outside").prints(secret + "evil\n")
}

// Links that a command makes lead to what it may reach anyway, under every name.
func TestLinksMadeInsideLeadNowhereElse(t *testing.T) {
	w := newWorld(t)
	w.Write("home/.ssh/id", secret)
	w.Write("home/p/private/k", secret)
	settings := w.Settings(testkit.FS{DenyRead: []string{"~/.ssh", "./private"}, AllowWrite: []string{"."}})
	const line = "ln -s ~/.ssh a; ln -s a b; ln -s private c; ln -s /proc/self/root e; cat a/id b/id c/k e/$HOME/.ssh/id; ln -s / f; cat f/$PWD/private/k"
	inside(t, w, settings, line).prints("")
	outside(t, w, "rm -f [a-f]; "+line).prints(strings.Repeat(secret, 5))
}
