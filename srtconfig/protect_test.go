package srtconfig

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// protectedPaths gives the protected paths below the home of the test, marked as in shown.
func protectedPaths(rules *Rules, root string) []string {
	var out []string
	for _, line := range shown(rules, root, Protected) {
		if line = strings.TrimPrefix(line, "protected "); !strings.HasPrefix(line, "/") {
			out = append(out, line)
		}
	}
	return out
}

// below keeps the lines about a directory.
func below(lines []string, dir string) []string {
	var out []string
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, dir+"/"); ok {
			out = append(out, rest)
		}
	}
	return out
}

// absentNames is what stands in every directory that is protected whether or not the names exist.
var absentNames = []string{
	".gitconfig?", ".gitmodules?", ".bashrc?", ".bash_profile?", ".zshrc?", ".zprofile?", ".profile?", ".ripgreprc?", ".mcp.json?",
	".vscode/?", ".idea/?", ".claude/commands/?", ".claude/agents/?", ".claude/settings.json?", ".claude/settings.local.json?",
	".git/hooks/?", ".git/info/attributes?", ".git/config?", ".git/config.worktree?", ".git/commondir?",
}

func with(names []string, more ...string) []string { return append(slices.Clone(names), more...) }

func TestProtectedWhetherOrNotTheyExist(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "w/", "file")
	rules := mustDerive(t, host, `{"filesystem": {"allowWrite": ["~/w", "~/file"]}}`)
	got := protectedPaths(rules, host.Home)
	for _, dir := range []string{"p", "w"} {
		equalLines(t, below(got, dir), slices.Clone(absentNames))
	}
	var home []string
	for _, l := range got {
		if !strings.HasPrefix(l, "p/") && !strings.HasPrefix(l, "w/") {
			home = append(home, l)
		}
	}
	equalLines(t, home, with(absentNames, ".srt-settings.json?"))
	for _, r := range rules.Paths() {
		if r.List == Protected && (r.Source.Text == "" || r.Source.File != "" || r.Source.Line != 0) {
			t.Errorf("source of %s: %+v, want a built-in one with a name", r.Path, r.Source)
		}
	}
}

// Below the roots names are protected where they exist; in a .git or .claude that exists, all of its names are.
func TestProtectedToTheSearchDepth(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Cwd, "1/.bashrc", "1/2/3/.mcp.json", "1/2/3/4/.mcp.json", "1/2/3/.git/HEAD", "1/.vscode/tasks.json", "1/.claude/x",
		"1/node_modules/.bashrc", "1/.idea => 2", "1/2/.zshrc => /dev/null", "bare/HEAD", "bare/objects/", "bare/refs/", "1/.gitignore")
	rules := mustDerive(t, host, `{"filesystem": {"allowWrite": ["."]}}`)
	got := below(protectedPaths(rules, host.Home), "p")
	got = slices.DeleteFunc(got, func(l string) bool { return slices.Contains(absentNames, l) })
	equalLines(t, got, []string{
		"1/.bashrc", "1/.vscode/", "1/2/ via p/1/.idea", "1/2/.zshrc? via p/1/2/.zshrc", "1/2/3/.mcp.json",
		"1/.claude/commands/?", "1/.claude/agents/?", "1/.claude/settings.json?", "1/.claude/settings.local.json?",
		"1/2/3/.git/hooks/?", "1/2/3/.git/info/attributes?", "1/2/3/.git/config?", "1/2/3/.git/config.worktree?", "1/2/3/.git/commondir?",
		"bare/hooks/?", "bare/info/attributes?", "bare/config?", "bare/config.worktree?", "bare/commondir?",
	})
	rules = mustDerive(t, host, `{"filesystem": {"allowWrite": ["."]}, "mandatoryDenySearchDepth": 1}`)
	got = below(protectedPaths(rules, host.Home), "p/1")
	if slices.Contains(got, "2/3/.mcp.json") || !slices.Contains(got, ".bashrc") {
		t.Errorf("depth 1 gave %v", got)
	}
	rules = mustDerive(t, host, `{"filesystem": {"allowWrite": ["."]}, "mandatoryDenySearchDepth": 4}`)
	if got = below(protectedPaths(rules, host.Home), "p/1/2/3/4"); !slices.Equal(got, []string{".mcp.json"}) {
		t.Errorf("depth 4 gave %v", got)
	}
	// Where nothing can be written, nothing is looked for.
	if s := mustDerive(t, host, `{}`).Stats(); s.Walks != 0 {
		t.Errorf("%+v without a writable tree", s)
	}
}

func TestSearchStartsAtWhatAPatternOpens(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "w/a/b/c/d/.bashrc", "w/x/.bashrc", "deep/1/2/3/4/5/")
	rules := mustDerive(t, host, `{"filesystem": {"allowWrite": ["~/w/a/*"]}}`)
	got := protectedPaths(rules, host.Home)
	if !slices.Contains(got, "w/a/b/c/d/.bashrc") || slices.Contains(got, "w/x/.bashrc") || !slices.Contains(got, "w/a/b/.bashrc?") {
		t.Errorf("got %v", got)
	}
	// The working directory is searched, however far below the writable tree it lies.
	host.Cwd = host.Home + "/deep/1/2/3/4/5"
	plant(t, host.Cwd, "6/.bashrc")
	if got := protectedPaths(mustDerive(t, host, `{"filesystem": {"allowWrite": ["~/*"]}}`), host.Home); !slices.Contains(got, "deep/1/2/3/4/5/6/.bashrc") {
		t.Errorf("got %v", got)
	}
}

func TestProtectedNamesThatAreLinks(t *testing.T) {
	for name, c := range map[string]struct {
		plant []string
		want  []string // of the lines about hooks
	}{
		"existing directory":   {[]string{"p/.git/HEAD", "p/hooks/pre-commit", "p/.git/hooks => ../hooks"}, []string{"p/hooks/ via p/.git/hooks"}},
		"dangling":             {[]string{"p/.git/HEAD", "p/.git/hooks => ../hooks"}, []string{"p/hooks/? via p/.git/hooks"}},
		"absolute and outside": {[]string{"p/.git/HEAD", "out/hooks/x", "p/.git/hooks => ROOT/out/hooks"}, []string{"out/hooks/ via p/.git/hooks"}},
		"the whole of .git":    {[]string{"store/HEAD", "p/.git => ../store"}, []string{"store/hooks/? via p/.git"}},
		"loop":                 {[]string{"p/.git/HEAD", "p/.git/hooks => hooks"}, []string{"p/.git/hooks? via p/.git/hooks"}},
	} {
		t.Run(name, func(t *testing.T) {
			host := tempHost(t)
			plant(t, host.Home, c.plant...)
			got := protectedPaths(mustDerive(t, host, `{"filesystem": {"allowWrite": ["."]}}`), host.Home)
			got = slices.DeleteFunc(got, func(l string) bool { return !strings.Contains(l, "hooks") || l == ".git/hooks/?" })
			equalLines(t, got, c.want)
		})
	}
}

// A start file that is a link to /dev/null does not make /dev/null read-only.
func TestProtectedLinkToADevice(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, ".bashrc => /dev/null", ".profile => dots/profile", "dots/profile", ".config/git/config = [core]\n\thooksPath = /dev/null\n")
	rules := mustDerive(t, host, `{"filesystem": {"allowWrite": ["~"]}}`)
	for _, r := range rules.Paths() {
		if strings.HasPrefix(r.Path, "/dev") {
			t.Errorf("%+v", r)
		}
	}
	got := protectedPaths(rules, host.Home)
	for _, want := range []string{".bashrc? via .bashrc", "dots/profile via .profile"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing from %v", want, got)
		}
	}
}

func TestOwnFilesAreProtected(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "bin/sandboxctl", "p/conf.json => ../real.json", "real.json = {\"filesystem\": {\"allowWrite\": [\"~\"]}, \"sandboxctl\": {\"seccompProfile\": \"profile.json\"}}", "p/profile.json")
	host.Executable, host.SettingsFile = host.Home+"/bin/sandboxctl", host.Home+"/p/other.json"
	s, err := Load(host.Cwd + "/conf.json")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := Derive(t.Context(), s, host)
	if err != nil {
		t.Fatal(err)
	}
	got := protectedPaths(rules, host.Home)
	for _, want := range []string{"bin/sandboxctl", "real.json via p/conf.json", "p/other.json?", "p/profile.json", ".srt-settings.json?"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing from %v", want, got)
		}
	}
	if rules.Own().SeccompProfile != host.Cwd+"/profile.json" {
		t.Errorf("profile %q", rules.Own().SeccompProfile)
	}
	_, err = derive(t, host, `{"sandboxctl": {"seccompProfile": "none.json"}}`)
	wantError(t, err, "/sandboxctl/seccompProfile", "is no file")
}

func TestAllowGitConfig(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "p/.git/config = [include]\n\tpath = ../extra\n", ".gitconfig = [include]\n\tpath = .gitconfig.mine\n")
	free := protectedPaths(mustDerive(t, host, `{"filesystem": {"allowWrite": ["~"], "allowGitConfig": true}}`), host.Home)
	kept := protectedPaths(mustDerive(t, host, `{"filesystem": {"allowWrite": ["~"]}}`), host.Home)
	for name, freed := range map[string]bool{
		"p/.git/config": true, "p/.git/config.worktree?": true, "p/extra?": true,
		"p/.git/hooks/?": false, "p/.git/info/attributes?": false, "p/.git/commondir?": false, ".gitconfig": false, ".gitconfig.mine?": false, "p/.gitmodules?": false,
	} {
		if slices.Contains(free, name) == freed || !slices.Contains(kept, name) {
			t.Errorf("%s: protected %t with allowGitConfig, %t without", name, slices.Contains(free, name), slices.Contains(kept, name))
		}
	}
}

func TestWriteEntryInsideAProtectedName(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Cwd, ".vscode/sub/")
	rules := mustDerive(t, host, `{"filesystem": {"allowWrite": [".vscode/sub"]}}`)
	wantWarning(t, rules, "/filesystem/allowWrite/0", "is protected (.vscode)")
}

func TestProtectingMakesNothing(t *testing.T) {
	host := tempHost(t)
	mustDerive(t, host, `{"filesystem": {"allowWrite": ["."], "denyRead": ["secret", "**/*.x"]}}`)
	for _, dir := range []string{host.Home, host.Cwd} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if filepath.Join(dir, e.Name()) != host.Cwd {
				t.Errorf("%s appeared in %s", e.Name(), dir)
			}
		}
	}
}
