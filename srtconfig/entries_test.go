package srtconfig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestEntryForms(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "abs/", "p/x/", "x/", "outer/")
	for entry, want := range map[string]string{
		host.Home + "/abs":                   "denyRead abs/",
		"/" + host.Home + "//abs":            "denyRead abs/",
		"./x":                                "denyRead p/x/",
		"x":                                  "denyRead p/x/",
		"x/":                                 "denyRead p/x/",
		"x/**":                               "denyRead p/x/",
		"x/**/**":                            "denyRead p/x/",
		"~/x":                                "denyRead x/",
		"../x":                               "denyRead x/",
		"x/../../outer":                      "denyRead outer/",
		"gone":                               "denyRead p/gone?",
		"gone/":                              "denyRead p/gone/?",
		"gone/../x":                          "denyRead p/x/",
		"x/file/../../gone/./deep":           "denyRead p/gone/deep?",
		`{"path": "x", "literal": true}`:     "denyRead p/x/",
		`{"path": "~/x", "literal": true}`:   "denyRead x/",
		`{"path": "$HOME", "literal": true}`: "denyRead p/$HOME?",
		`{"path": " x", "literal": true}`:    "denyRead p/ x?",
		`{"path": "*", "literal": true}`:     "denyRead p/*?",
		"cost$":                              "denyRead p/cost$?",
	} {
		if !strings.HasPrefix(entry, "{") {
			entry = fmt.Sprintf("%q", entry)
		}
		rules := mustDerive(t, host, `{"filesystem": {"denyRead": [`+entry+`]}}`)
		t.Run(entry, func(t *testing.T) { equalLines(t, shown(rules, host.Home, DenyRead), []string{want}) })
	}
}

func TestEntriesThatNothingExpands(t *testing.T) {
	for entry, fragment := range map[string]string{
		`""`:                              "empty path",
		`"  "`:                            "blank",
		`" /x"`:                           "begins or ends with a space",
		`"/x "`:                           "begins or ends with a space",
		`"~root/x"`:                       "home directory out",
		`"~nobody"`:                       "home directory out",
		`"$HOME/x"`:                       "variables are not expanded",
		`"a/${TMPDIR}"`:                   "variables are not expanded",
		`"$TMPDIR"`:                       "variables are not expanded",
		`"a\u0000b"`:                      "NUL",
		`"dir/**.pem"`:                    `"dir/**/*.pem"`,
		`"a**/b"`:                         `"**" stands alone`,
		`"\ud800/x"`:                      "surrogate",
		`{"path": ""}`:                    "empty path",
		`{"path": "~u", "literal": true}`: "home directory out",
	} {
		for _, list := range []string{"denyRead", "allowRead", "allowWrite", "denyWrite"} {
			_, err := Parse([]byte(`{"filesystem": {"`+list+`": ["ok", `+entry+`]}}`), "s.json")
			wantError(t, err, "/filesystem/"+list+"/1", fragment)
		}
	}
}

func TestHomeIsNeeded(t *testing.T) {
	host := tempHost(t)
	host.Home = ""
	_, err := derive(t, host, `{"filesystem": {"denyRead": ["~/x"]}}`)
	wantError(t, err, "/filesystem/denyRead/0", "no home directory")
}

func TestSymlinksAreFollowedOnceAndKept(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "real/secret", "one => two", "two => real", "p/abs => ROOT/one/secret", "p/dangling => ../nowhere/x",
		"loop => loop", "long0 => real")
	for i := range 45 {
		plant(t, host.Home, fmt.Sprintf("long%d => long%d", i+1, i))
	}
	rules := mustDerive(t, host, `{"filesystem": {"denyRead": ["abs", "dangling", "~/one/absent", "~/long30", "~/one/../real"]}}`)
	long := "denyRead real/ via long30"
	for i := 29; i >= 0; i-- {
		long += fmt.Sprintf(" via long%d", i)
	}
	equalLines(t, shown(rules, host.Home, DenyRead), []string{
		"denyRead real/secret via p/abs via one via two",
		"denyRead nowhere/x? via p/dangling",
		"denyRead real/absent? via one via two",
		long + " via one via two",
	})
	for _, name := range []string{"loop", "long45"} {
		_, err := derive(t, host, `{"filesystem": {"denyRead": ["~/`+name+`"]}}`)
		wantError(t, err, "/filesystem/denyRead/0", "loop")
	}
}

// Each list takes each form of a pattern, and none of them makes a file called "**".
func TestDirectoryFormsMeanTheSameInEveryList(t *testing.T) {
	for _, list := range []List{DenyRead, AllowRead, AllowWrite, DenyWrite} {
		host := tempHost(t)
		plant(t, host.Cwd, "d/x", "d/e/y")
		for entry, want := range map[string][]string{
			"./d/**": {"p/d/"}, "./d/": {"p/d/"}, "./d": {"p/d/"}, "d/*": {"p/d/e/", "p/d/x"}, "d/**/y": {"p/d/e/y"}, "*/e": {"p/d/e/"},
			"d/*/": {"p/d/e/", "p/d/x"},
		} {
			t.Run(list.String()+" "+entry, func(t *testing.T) {
				rules := mustDerive(t, host, fmt.Sprintf(`{"filesystem": {%q: [%q]}}`, list, entry))
				var lines []string
				for _, w := range want {
					lines = append(lines, list.String()+" "+w)
				}
				equalLines(t, shown(rules, host.Home, list), lines)
			})
		}
		if _, err := os.Lstat(host.Cwd + "/d/**"); err == nil {
			t.Error("something called ** was made")
		}
	}
}

func TestPatternThatExistsAsWrittenIsLiteral(t *testing.T) {
	host := tempHost(t)
	host.Cwd = filepath.Join(host.Home, "p[1]")
	plant(t, host.Home, "p[1]/secret/k", "p[1]/pages/[id]/page.tsx", "p[1]/pages/i", "p[1]/q*/", "p[1]/qq/", "p[1]/new\nline {a,b} !/", "p1/secret/k")
	rules := mustDerive(t, host, fmt.Sprintf(`{"filesystem": {"denyRead": ["%[1]s/secret"], "allowWrite": ["%[1]s", "%[1]s/q*", "pages/[id]", "new\nline {a,b} !"]}}`, host.Cwd))
	equalLines(t, shown(rules, host.Home, DenyRead, AllowWrite), []string{
		"allowWrite p[1]/", "allowWrite p[1]/q*/", "allowWrite p[1]/pages/[id]/", "allowWrite p[1]/new\nline {a,b} !/",
		// A denial counts in both readings: what was made under the name of a pattern does not turn the pattern off.
		"denyRead p[1]/secret/", "denyRead p1/secret/",
	})
	rules = mustDerive(t, host, fmt.Sprintf(`{"filesystem": {"denyRead": [{"path": "%s/secret", "literal": true}]}}`, host.Cwd))
	equalLines(t, shown(rules, host.Home, DenyRead), []string{"denyRead p[1]/secret/"})
	if len(rules.Globs()) != 0 {
		t.Errorf("a literal entry left the patterns %v", rules.Globs())
	}
	// Relative patterns start in a directory that is not read as one.
	rules = mustDerive(t, host, `{"filesystem": {"denyRead": ["**/*.tsx"]}}`)
	equalLines(t, shown(rules, host.Home, DenyRead), []string{"denyRead p[1]/pages/[id]/page.tsx"})
	g := rules.Globs()[0]
	if !g.Match(host.Cwd+"/later.tsx") || g.Match(host.Home+"/p1/later.tsx") || !g.Covers(host.Cwd+"/d.tsx/below") {
		t.Errorf("the pattern %s does not speak of later files as it should", g.Pattern)
	}
}

func TestFileNamedLikeAPatternDoesNotTurnItOff(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Cwd, "*.env", "a.env", "**/x")
	rules := mustDerive(t, host, `{"filesystem": {"denyRead": ["*.env", "**/a.env"]}}`)
	equalLines(t, shown(rules, host.Home, DenyRead), []string{"denyRead p/*.env", "denyRead p/a.env", "denyRead p/**/a.env?"})
	wantWarning(t, rules, "/filesystem/denyRead/0", `"literal": true`)
}

func TestPatternsAndLinks(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "out/key.pem", "out/dir/", "p/in.pem", "p/link.pem => ../out/key.pem", "p/gone.pem => ../out/none", "p/up.pem => ..",
		"p/loop.pem => loop.pem", "p/dirlink => ../out", "viadir => p")
	rules := mustDerive(t, host, `{"filesystem": {"denyRead": ["~/viadir/**/*.pem"], "allowRead": ["*.pem"], "allowWrite": ["*.pem", "dirl*/dir"]}}`)
	equalLines(t, shown(rules, host.Home, DenyRead, AllowRead, AllowWrite), []string{
		"denyRead p/in.pem via viadir",
		"denyRead out/key.pem via viadir via p/link.pem",
		"denyRead out/none? via viadir via p/gone.pem",
		// Of a link to what holds the pattern's own directory, and of a loop, the name alone is closed. A walk follows no link.
		"denyRead p/up.pem? via viadir via p/up.pem", "denyRead p/loop.pem? via viadir via p/loop.pem",
		"allowRead p/in.pem", "allowWrite p/in.pem",
	})
	wantWarning(t, rules, "/filesystem/denyRead/0", "holds the pattern's own directory")
	wantWarning(t, rules, "/filesystem/allowWrite/0", "matches the link")
	wantWarning(t, rules, "/filesystem/allowWrite/1", "matches nothing that exists")
}

func TestOneWalkForEverything(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "p/a/b/c/x.key", "p/a/.env", "p/self => .", "p/a/up => ../..", "p/sub/.git/HEAD", "q/y.key", "q/deep/er/z.key")
	if err := syscall.Mkfifo(host.Cwd+"/fifo.key", 0o600); err != nil {
		t.Fatal(err)
	}
	rules := mustDerive(t, host, `{"filesystem": {"denyRead": ["**/*.key", "~/q/*.key", "~/q/deep/**/z*", "**/.env"], "denyWrite": ["a/*/c"], "allowWrite": ["."], "allowRead": ["~/q/**/z.key"]}}`)
	equalLines(t, shown(rules, host.Home, DenyRead, DenyWrite, AllowRead), []string{
		"denyRead p/a/b/c/x.key", "denyRead p/fifo.key", "denyRead p/a/.env", "denyRead q/y.key", "denyRead q/deep/er/z.key",
		"denyWrite p/a/b/c/", "allowRead q/deep/er/z.key",
	})
	s := rules.Stats()
	// p, a, b, c, sub, q, deep, er: each once. ".git" is read for patterns, too.
	if s.Walks != 1 || s.Directories != 9 {
		t.Errorf("%+v, want one walk of 9 directories", s)
	}
	if s := mustDerive(t, host, `{"filesystem": {"denyRead": ["a/.env"]}}`).Stats(); s != (DeriveStats{}) {
		t.Errorf("%+v for settings without patterns and writes, want no walk", s)
	}
}

func TestUnreadableDirectories(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "p/shut/x.pem", "p/through/x.pem", "p/open/x.pem")
	for dir := host.Home; dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		if os.Geteuid() == 0 {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for dir, mode := range map[string]os.FileMode{"shut": 0, "through": 0o311} {
		if os.Geteuid() == 0 {
			if err := os.Chown(filepath.Join(host.Cwd, dir), nobody, -1); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(host.Cwd, dir), mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(filepath.Join(host.Cwd, dir), 0o755) })
	}
	asOrdinaryUser(t, func() {
		rules := mustDerive(t, host, `{"filesystem": {"denyRead": ["**/*.pem"], "allowWrite": ["op*/**", "shut/x.pem"]}}`)
		// What can be entered and not listed is closed as a whole: a name in it can be guessed. So is what cannot be entered
		// by its owner, who can change that.
		equalLines(t, shown(rules, host.Home, DenyRead), []string{"denyRead p/open/x.pem", "denyRead p/through/", "denyRead p/shut/"})
		equalLines(t, shown(rules, host.Home, AllowWrite), []string{"allowWrite p/open/"})
		wantWarning(t, rules, "/filesystem/denyRead/0", "cannot be listed")
		wantWarning(t, rules, "/filesystem/allowWrite/1", "permission denied")
	})
}

func TestBudget(t *testing.T) {
	host := tempHost(t)
	for i := range 30 {
		plant(t, host.Cwd, fmt.Sprintf("d%d/a.pem", i), fmt.Sprintf("d%d/b.pem", i))
	}
	const settings = `{"filesystem": {"denyRead": ["**/*.pem"], "allowWrite": ["."]}}`
	for _, c := range []struct {
		budget   Budget
		fragment string
	}{
		{Budget{Entries: 20}, "more than 20 names"},
		{Budget{Matches: 10}, "more than 10 paths"},
		{Budget{Time: time.Nanosecond}, "took more than 1ns"},
	} {
		host.Budget = c.budget
		_, err := derive(t, host, settings)
		wantError(t, err, "/filesystem/denyRead/0", c.fragment)
		wantError(t, err, "/filesystem/denyRead/0", "s.json:1:")
	}
	host.Budget = Budget{Entries: 20}
	_, err := derive(t, host, `{"filesystem": {"allowWrite": ["."]}}`)
	wantError(t, err, "/mandatoryDenySearchDepth", "more than 20 names")
	host.Budget = Budget{}
	if rules := mustDerive(t, host, settings); len(shown(rules, host.Home, DenyRead)) != 60 {
		t.Error("the control does not find 60 files")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := Parse([]byte(settings), "s.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Derive(ctx, s, host); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after cancel", err)
	}
}

func TestWorkingDirectoryStaysVisible(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "p/sub/deep/")
	for _, c := range []struct{ settings, pointer string }{
		{`{"denyRead": [".."]}`, "/filesystem/denyRead/0"},
		{`{"denyRead": ["."]}`, "/filesystem/denyRead/0"},
		{`{"denyRead": ["/"]}`, "/filesystem/denyRead/0"},
		{`{"denyRead": ["~/*"]}`, "/filesystem/denyRead/0"},
		{`{"denyRead": ["."], "allowWrite": ["."]}`, "/filesystem/denyRead/0"}, // equal: the denial stays
		{`{"denyRead": ["/", "."], "allowRead": [".."]}`, "/filesystem/denyRead/1"},
		{`{"denyRead": [".."], "allowRead": ["sub"]}`, "/filesystem/denyRead/0"},
		{`{"denyRead": [".."], "allowRead": ["."]}`, ""},
		{`{"denyRead": ["~"], "allowWrite": ["."]}`, ""},
		{`{"denyRead": ["."], "allowRead": ["."]}`, ""},
		{`{"denyRead": ["sub", "~/other"]}`, ""},
		{`{"denyRead": ["/"], "disabled": true}`, ""},
	} {
		_, err := derive(t, host, `{"filesystem": `+c.settings+`}`)
		if c.pointer == "" {
			if err != nil {
				t.Errorf("%s: %v", c.settings, err)
			}
			continue
		}
		wantError(t, err, c.pointer, "hides the working directory "+host.Cwd)
	}
}

func TestWorkingDirectoryThatIsNone(t *testing.T) {
	host := tempHost(t)
	// A link of /proc to what was removed reads as the name of the second one.
	plant(t, host.Home, "file", "gone/", "gone (deleted)/", "link => p", "loop => loop")
	gone, err := os.Open(host.Home + "/gone")
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	here, err := os.Open(host.Cwd)
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	if err := os.Remove(host.Home + "/gone"); err != nil {
		t.Fatal(err)
	}
	for cwd, fragment := range map[string]string{
		"":                  "not an absolute path",
		"p":                 "not an absolute path",
		host.Home + "/file": "is no directory",
		host.Home + "/gone": "no such file",
		host.Home + "/loop": "too many levels",
		fmt.Sprintf("/proc/self/fd/%d", gone.Fd()): "has been removed",
	} {
		h := host
		h.Cwd = cwd
		if _, err := Derive(t.Context(), Default(), h); err == nil || !strings.Contains(err.Error(), fragment) {
			t.Errorf("cwd %q: %v, want %q", cwd, err, fragment)
		}
	}
	for _, cwd := range []string{host.Home + "/link", host.Cwd + "/", fmt.Sprintf("/proc/self/fd/%d", here.Fd())} {
		h := host
		h.Cwd = cwd
		rules, err := Derive(t.Context(), Default(), h)
		if err != nil {
			t.Fatalf("cwd %q: %v", cwd, err)
		}
		if rules.Cwd() != host.Cwd {
			t.Errorf("cwd %q became %q, want %q", cwd, rules.Cwd(), host.Cwd)
		}
	}
}

func TestContradictions(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Cwd, "a/", "b/", "c/")
	rules := mustDerive(t, host, `{"filesystem": {"denyRead": ["a", "c"], "allowRead": ["c"], "denyWrite": ["b"], "allowWrite": ["./a/", "b", "c"]}}`)
	wantWarning(t, rules, "/filesystem/allowWrite/0", "contradicts the denyRead entry")
	wantWarning(t, rules, "/filesystem/allowWrite/1", "contradicts the denyWrite entry")
	for _, w := range rules.Warnings() {
		if w.Source.Pointer == "/filesystem/allowWrite/2" {
			t.Errorf("allowRead re-opens the third, and yet: %s", w.Message)
		}
	}
}

// A command may replace a directory that it can write by a link. The next session does not follow it out.
func TestLinkThatACommandCouldHaveMadeOpensNothing(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "keys/id", "elsewhere/", "p/build => ../keys", "p/inner => real", "p/real/", "outside => elsewhere")
	rules := mustDerive(t, host, `{"filesystem": {"denyRead": ["~/keys"], "allowRead": ["build"], "allowWrite": [".", "build", "inner", "~/outside", "build/*"]}}`)
	equalLines(t, shown(rules, host.Home, AllowRead, AllowWrite), []string{
		"allowWrite p/", "allowWrite p/real/ via p/inner", "allowWrite elsewhere/ via outside",
	})
	wantWarning(t, rules, "/filesystem/allowWrite/1", "leads out of it")
	wantWarning(t, rules, "/filesystem/allowRead/0", "leads out of it")
	wantWarning(t, rules, "/filesystem/allowWrite/4", "leads out of it")
	// Named by itself, the target is open, whatever links lead there.
	rules = mustDerive(t, host, `{"filesystem": {"allowWrite": [".", "build", "~/keys"]}}`)
	equalLines(t, shown(rules, host.Home, AllowWrite), []string{"allowWrite p/", "allowWrite keys/ via p/build"})
	// Where nothing around the link can be written, it is followed.
	rules = mustDerive(t, host, `{"filesystem": {"allowWrite": ["build"]}}`)
	equalLines(t, shown(rules, host.Home, AllowWrite), []string{"allowWrite keys/ via p/build"})
}

func TestPrivateTmp(t *testing.T) {
	host := Host{Cwd: "/tmp", Home: t.TempDir()}
	_, err := derive(t, host, `{"filesystem": {"allowWrite": ["."]}}`)
	wantError(t, err, "/sandboxctl/tmp", `"sandboxctl": {"tmp": "host"}`)
	rules := mustDerive(t, host, `{"filesystem": {"denyWrite": ["/tmp"]}, "sandboxctl": {"tmp": "host"}}`)
	if rules.Tmp() != TmpHost {
		t.Errorf("tmp is %v", rules.Tmp())
	}
	host = tempHost(t)
	rules = mustDerive(t, host, `{"filesystem": {"allowWrite": ["/tmp/"], "denyWrite": ["/tmp"]}, "mandatoryDenySearchDepth": 1}`)
	wantWarning(t, rules, "/filesystem/allowWrite/0", "/tmp of their own")
}

func TestSearchLeavesATmpOfTheirOwnOut(t *testing.T) {
	host := tempHost(t)
	dir, err := os.MkdirTemp("/tmp", "srtconfig-search-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	plant(t, dir, ".bashrc")
	for settings, want := range map[string]bool{
		`{"filesystem": {"allowWrite": ["/tmp"]}, "mandatoryDenySearchDepth": 1}`:                                false,
		`{"filesystem": {"allowWrite": ["/"]}, "mandatoryDenySearchDepth": 2}`:                                   false,
		`{"filesystem": {"allowWrite": ["/", "` + dir + `"]}, "mandatoryDenySearchDepth": 2}`:                    true,
		`{"filesystem": {"allowWrite": ["/tmp"]}, "mandatoryDenySearchDepth": 1, "sandboxctl": {"tmp": "host"}}`: true,
		`{"filesystem": {"allowWrite": ["/"]}, "mandatoryDenySearchDepth": 2, "sandboxctl": {"tmp": "host"}}`:    true,
	} {
		rules := mustDerive(t, host, settings)
		got := slices.ContainsFunc(rules.Paths(), func(r PathRule) bool { return r.List == Protected && r.Path == dir+"/.bashrc" && r.Exists })
		if got != want {
			t.Errorf("%s: protected in /tmp: %t, want %t", settings, got, want)
		}
	}
}

// Commands see other trees there than the host's, and a walk of them would not end.
func TestPatternsLeaveTheTreesOfTheKernelOut(t *testing.T) {
	host := tempHost(t)
	rules := mustDerive(t, host, `{"filesystem": {"denyRead": ["/*/version", "/*/null", "/*/kernel", "/proc/vers*"]}}`)
	for _, r := range rules.Paths() {
		if r.List == DenyRead && (within(r.Path, "/proc") || within(r.Path, "/dev") || within(r.Path, "/sys")) && r.Source.Pointer != "/filesystem/denyRead/3" {
			t.Errorf("%s from %s", r.Path, r.Source.Text)
		}
	}
	if !slices.ContainsFunc(rules.Paths(), func(r PathRule) bool { return r.Path == "/proc/version" }) {
		t.Error("a pattern that starts in /proc finds nothing there")
	}
}

func TestFilesystemDisabled(t *testing.T) {
	host := tempHost(t)
	rules := mustDerive(t, host, `{"filesystem": {"disabled": true, "denyRead": ["**/x"], "allowWrite": ["."]}}`)
	if !rules.FilesystemDisabled() || len(rules.Paths()) != 0 || len(rules.Globs()) != 0 || rules.Stats().Walks != 0 {
		t.Errorf("paths %v, patterns %v, %+v", rules.Paths(), rules.Globs(), rules.Stats())
	}
}
