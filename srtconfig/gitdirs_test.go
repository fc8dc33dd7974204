package srtconfig

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitPaths gives the protected lines about git in a session, without the names that are absent in cwd and home.
func gitPaths(t *testing.T, host Host, settings string) []string {
	t.Helper()
	return slices.DeleteFunc(protectedPaths(mustDerive(t, host, settings), host.Home), func(l string) bool {
		rel, err := filepath.Rel(host.Home, host.Cwd)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(absentNames, l) || slices.Contains(absentNames, strings.TrimPrefix(l, rel+"/")) || l == ".srt-settings.json?"
	})
}

const writeHere = `{"filesystem": {"allowWrite": ["."]}}`

func TestLinkedWorktree(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home,
		"m/.git/HEAD", "m/.git/config = [core]\n\thooksPath = tracked\n", "m/.git/objects/", "m/.git/refs/", "m/.git/hooks/",
		"m/.git/worktrees/wt/HEAD", "m/.git/worktrees/wt/commondir = ../..\n", "m/.git/worktrees/wt/gitdir = ROOT/p/.git\n",
		"m/.git/worktrees/other/HEAD", "m/.git/worktrees/other/commondir = ../..\n", "m/.git/worktrees/other/gitdir = ROOT/other/.git\n",
		"p/.git = gitdir: ROOT/m/.git/worktrees/wt\n")
	common := []string{
		"p/.git",
		"m/.git/hooks/", "m/.git/config", "m/.git/config.worktree?", "m/.git/info/attributes?", "m/.git/commondir?",
		"m/.git/worktrees/wt/commondir", "m/.git/worktrees/wt/config.worktree?",
		"m/.git/worktrees/other/commondir", "m/.git/worktrees/other/config.worktree?",
		"p/tracked/?", "other/tracked/?",
	}
	equalLines(t, gitPaths(t, host, writeHere), slices.Clone(common))
	// With the main repository's directory opened, a commit can be made, and the same names stay protected.
	rules := mustDerive(t, host, `{"filesystem": {"allowWrite": [".", "~/m/.git"]}}`)
	got := protectedPaths(rules, host.Home)
	for _, want := range common {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, l := range got {
		if strings.HasPrefix(l, "m/.git/worktrees/wt/index") || l == "m/.git/" || l == "m/.git/objects/" {
			t.Errorf("%q keeps a commit from being made", l)
		}
	}
}

func TestSubmodules(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Cwd, ".git/HEAD", ".git/modules/lib/deep/HEAD", ".git/modules/lib/deep/objects/", ".git/modules/lib/deep/refs/",
		".git/modules/lib/deep/config = [core]\n\tworktree = ../../../../lib/deep\n\thooksPath = .hooks\n",
		".git/modules/lib/deep/modules/inner/HEAD", ".git/modules/lib/deep/modules/inner/objects/", ".git/modules/lib/deep/modules/inner/refs/",
		"lib/deep/.git = gitdir: ../../.git/modules/lib/deep\n")
	// Opened from the submodule alone, its git directory is found through the file.
	sub := host
	sub.Cwd = host.Cwd + "/lib/deep"
	want := []string{
		"p/lib/deep/.git",
		"p/.git/modules/lib/deep/hooks/?", "p/.git/modules/lib/deep/config", "p/.git/modules/lib/deep/config.worktree?",
		"p/.git/modules/lib/deep/info/attributes?", "p/.git/modules/lib/deep/commondir?",
		"p/.git/modules/lib/deep/modules/inner/hooks/?", "p/.git/modules/lib/deep/modules/inner/config?", "p/.git/modules/lib/deep/modules/inner/config.worktree?",
		"p/.git/modules/lib/deep/modules/inner/info/attributes?", "p/.git/modules/lib/deep/modules/inner/commondir?",
		"p/lib/deep/.hooks/?",
	}
	equalLines(t, gitPaths(t, sub, writeHere), slices.Clone(want))
	got := gitPaths(t, host, writeHere)
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%q is missing from the session above", w)
		}
	}
}

func TestOddRepositories(t *testing.T) {
	for name, c := range map[string]struct{ plant, want []string }{
		"separate git directory": {[]string{"p/.git = gitdir: ../sep\n", "sep/HEAD"},
			[]string{"p/.git", "sep/hooks/?", "sep/config?", "sep/config.worktree?", "sep/info/attributes?", "sep/commondir?"}},
		"bare repository": {[]string{"p/HEAD", "p/objects/", "p/refs/", "p/hooks/"},
			[]string{"p/hooks/", "p/config?", "p/config.worktree?", "p/info/attributes?", "p/commondir?"}},
		"empty file":       {[]string{"p/.git"}, []string{"p/.git"}},
		"foreign file":     {[]string{"p/.git = hello"}, []string{"p/.git"}},
		"file to nowhere":  {[]string{"p/.git = gitdir: /nonexistent/x"}, []string{"p/.git"}},
		"file to itself":   {[]string{"p/.git = gitdir: .git"}, []string{"p/.git"}},
		"empty directory":  {[]string{"p/.git/"}, nil},
		"commondir itself": {[]string{"p/.git/commondir = .\n"}, []string{"p/.git/commondir"}},
		"commondir in a circle": {[]string{"p/.git/HEAD", "p/.git/commondir = ../../a\n", "a/HEAD", "a/commondir = ../p/.git\n"},
			[]string{"p/.git/commondir", "a/commondir", "a/config.worktree?"}},
	} {
		t.Run(name, func(t *testing.T) {
			host := tempHost(t)
			plant(t, host.Home, c.plant...)
			equalLines(t, gitPaths(t, host, writeHere), c.want)
		})
	}
}

func TestHooksPath(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home,
		"p/.git/config = [Core] HooksPath = \"tr\\\"acked\" # comment\n[include]\n\tpath = ../more.conf\n[includeIf \"gitdir:/x\"]\n\tpath = ~/cond.conf\n",
		"p/more.conf = [core]\n\thooksPath = ~/shared-hooks\n[include]\n\tpath = more.conf\n", "cond.conf = [core]\n\thookspath = /opt/hooks\n",
		"p/.git/config.worktree = [core]\n\thooksPath = wt-hooks\n",
		".gitconfig = [core]\n\thooksPath = ~/global-hooks\n", ".config/git/config = [core]\n\thooksPath = ~nobody/x\n")
	rules := mustDerive(t, host, writeHere)
	got := protectedPaths(rules, host.Home)
	for _, want := range []string{"p/tr\"acked/?", "shared-hooks/?", "p/wt-hooks/?", "global-hooks/?", "p/more.conf", "cond.conf"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing from %q", want, got)
		}
	}
	if !slices.ContainsFunc(rules.Paths(), func(r PathRule) bool { return r.Path == "/opt/hooks" && r.Source.Text == "core.hooksPath" }) {
		t.Error("the hooks of a conditional include are missing")
	}
}

// TestRepositoriesOfGit compares with what git itself says of repositories that it made.
func TestRepositoriesOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("git is not installed")
	}
	host := tempHost(t)
	env := []string{"HOME=" + host.Home, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	run := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run(host.Home, "init", "-q", "lib")
	run(host.Home+"/lib", "commit", "-q", "--allow-empty", "-m", "x")
	run(host.Home, "init", "-q", "m")
	run(host.Home+"/m", "commit", "-q", "--allow-empty", "-m", "x")
	run(host.Home+"/m", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "deep/lib")
	run(host.Home+"/m", "worktree", "add", "-q", "../wt")
	run(host.Home, "init", "-q", "--separate-git-dir", "sep", "apart")
	run(host.Home, "init", "-q", "--bare", "bare")
	run(host.Home, "init", "-q", "own-hooks")
	run(host.Home+"/own-hooks", "config", "core.hooksPath", "tracked hooks")
	for _, dir := range []string{"m", "m/deep/lib", "wt", "apart", "bare", "own-hooks", "lib"} {
		h := host
		h.Cwd = filepath.Join(host.Home, dir)
		rules := mustDerive(t, h, writeHere)
		for _, name := range []string{"hooks", "config", "info/attributes", "config.worktree"} {
			want := run(h.Cwd, "rev-parse", "--git-path", name)
			if !filepath.IsAbs(want) {
				want = filepath.Join(h.Cwd, want)
			}
			if !slices.ContainsFunc(rules.Paths(), func(r PathRule) bool { return r.List == Protected && r.Path == want }) {
				t.Errorf("%s: git reads %s from %s, which is not protected", dir, name, want)
			}
		}
	}
}
