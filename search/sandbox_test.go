package search_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/search"
	"github.com/sandboxctl/sandboxctl/srtconfig"
	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// content gives the paths of the matches, sorted, or the error.
func content(t testing.TB, s search.Search, q search.ContentQuery) ([]string, error) {
	t.Helper()
	var names []string
	_, err := frame.Each(s.SearchContent(t.Context(), q), func(m search.Match) error {
		names = append(names, m.Path)
		return nil
	})
	slices.Sort(names)
	return names, err
}

func paths(t testing.TB, s search.Search, q search.PathQuery) ([]string, error) {
	t.Helper()
	var names []string
	_, err := frame.Each(s.FindPaths(t.Context(), q), func(name string) error {
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
}

func wantNames(t testing.TB, got []string, err error, want ...string) {
	t.Helper()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func wantOutcome(t testing.TB, got []string, err error, want outcome.Outcome) {
	t.Helper()
	if e := outcome.Of(err, ""); e == nil || e.Outcome != want || len(got) != 0 {
		t.Errorf("got %q, %v; want the outcome %v", got, err, want)
	}
}

var secrets = map[string]string{"a.txt": "needle\n", "private/k": "needle\n", "private/sub/k2": "needle\n", "id_rsa": "needle\n"}

const closed = `{"filesystem": {"denyRead": ["./private", "./id_rsa"]}}`

func TestDeniedEntriesAreWithheldAndCounted(t *testing.T) {
	dir := workspaceDir(t)
	write(t, dir, secrets)
	for _, c := range []struct {
		name     string
		search   *search.Ripgrep
		content  []string
		paths    []string
		withheld int64
	}{
		{"control", open(t, dir, `{}`), []string{"a.txt", "id_rsa", "private/k", "private/sub/k2"}, []string{"a.txt", "id_rsa", "private/k", "private/sub/k2"}, 0},
		{"denied", open(t, dir, closed), []string{"a.txt"}, []string{"a.txt"}, 2},
		{"confined", confined(t, dir, closed), []string{"a.txt"}, []string{"a.txt"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var report search.Report
			got, err := content(t, c.search, search.ContentQuery{Pattern: "needle", Scope: search.Scope{Report: &report}})
			wantNames(t, got, err, c.content...)
			if report.Withheld != c.withheld || report.Failed != 0 {
				t.Errorf("report %+v; want %d withheld", report, c.withheld)
			}
			got, err = paths(t, c.search, search.PathQuery{Glob: "*"})
			wantNames(t, got, err, c.paths...)
		})
	}
}

func TestADeniedEntryReadsLikeAMissingOne(t *testing.T) {
	dir := workspaceDir(t)
	write(t, dir, secrets)
	s := open(t, dir, closed)
	var words []string
	for _, path := range []string{"private", "id_rsa", "private/k", "private/no", "missing", "missing/no", "id_rsa/no"} {
		_, err := content(t, s, search.ContentQuery{Pattern: "needle", Scope: search.Scope{Path: path}})
		e := outcome.Of(err, path)
		if e == nil {
			t.Fatalf("%s: searched", path)
		}
		view := e.View()
		words = append(words, string(view.Code)+view.Outcome+strings.ReplaceAll(view.Message, path, "X"))
	}
	for i, w := range words {
		if w != words[0] {
			t.Errorf("%d: %q; the first is %q", i, w, words[0])
		}
	}
	got, err := paths(t, s, search.PathQuery{Glob: "*", Scope: search.Scope{Path: "id_rsa"}})
	wantOutcome(t, got, err, outcome.Denied)
	// A glob that names a closed entry, and one that names none: neither result nor count tells them apart.
	for _, glob := range []string{"id_rsa", "no_rsa"} {
		var report search.Report
		got, err := content(t, s, search.ContentQuery{Pattern: "needle", Glob: glob, Scope: search.Scope{Report: &report}})
		wantNames(t, got, err)
		if report != (search.Report{Withheld: 1}) {
			t.Errorf("glob %s: report %+v; want the closed directory and nothing else", glob, report)
		}
	}
	for _, glob := range []string{"private/**", "nothing/**", "id_rsa", "no_rsa"} {
		var report search.Report
		got, err := paths(t, s, search.PathQuery{Glob: glob, Scope: search.Scope{Report: &report}})
		wantNames(t, got, err)
		if report.Withheld > 1 {
			t.Errorf("glob %s: report %+v", glob, report)
		}
	}
}

func TestNothingThatAModelWritesRunsAProgram(t *testing.T) {
	dir := workspaceDir(t)
	script := filepath.Join(dir, "p.sh")
	write(t, dir, map[string]string{"p.sh": "#!/bin/sh\ntouch '" + dir + "/PWNED'\ncat \"$1\"\n", "f": "needle\n", "config": "--pre=" + script + "\n--invert-match\n", ".ripgreprc": "--pre=" + script + "\n"})
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	settings := `{"filesystem": {"allowWrite": ["."]}, "sandboxctl": {"env": {"set": {"RIPGREP_CONFIG_PATH": "` + filepath.Join(dir, "config") + `"}}}}`
	pwned := func() bool {
		_, err := os.Lstat(filepath.Join(dir, "PWNED"))
		return err == nil
	}
	s := open(t, dir, settings)
	for _, value := range []string{"--pre=" + script, "--pre " + script, "-zneedle", "--search-zip", "--hostname-bin=" + script, "-f" + script, "--config"} {
		for _, q := range []search.ContentQuery{{Pattern: value}, {Pattern: value, Literal: true}, {Pattern: "needle", Glob: value}, {Pattern: "needle", Scope: search.Scope{IGlob: value}}} {
			if _, err := content(t, s, q); err != nil {
				t.Errorf("%+v: %v", q, err)
			}
		}
		_, err := content(t, s, search.ContentQuery{Pattern: "needle", Scope: search.Scope{Path: value}})
		if e := outcome.Of(err, ""); e == nil || e.Outcome != outcome.NotFound && e.Outcome != outcome.PathRejected {
			t.Errorf("path %s: %v", value, err)
		}
		if _, err := paths(t, s, search.PathQuery{Glob: value}); err != nil {
			t.Errorf("find %s: %v", value, err)
		}
	}
	if pwned() {
		t.Fatal("a program ran")
	}
	got, err := content(t, s, search.ContentQuery{Pattern: "needle"})
	if wantNames(t, got, err, "f"); err != nil {
		t.Fatal("the configuration file is read")
	}
	// The control: the same configuration, given to ripgrep by the one who writes the settings, runs the program.
	s = open(t, dir, `{"filesystem": {"allowWrite": ["."]}, "ripgrep": {"command": "/bin/sh", "args": ["-c", "exec rg --pre=`+script+` needle ./f"]}}`)
	_, _ = content(t, s, search.ContentQuery{Pattern: "needle"}) // what ripgrep writes then is not JSON
	if !pwned() {
		t.Fatal("the control did not run the program")
	}
}

func TestLinksAsTheStart(t *testing.T) {
	dir, outside := workspaceDir(t), workspaceDir(t)
	write(t, outside, map[string]string{"secret": "needle\n"})
	write(t, dir, map[string]string{"real/f": "needle\n", "private/k": "needle\n"})
	for link, target := range map[string]string{"in": "real", "out": outside, "rel": "../" + filepath.Base(outside), "to-private": "private", "proc": "/proc/self/root"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, closed)
	at := func(path string) ([]string, error) {
		return content(t, s, search.ContentQuery{Pattern: "needle", Scope: search.Scope{Path: path}})
	}
	got, err := at("in")
	wantNames(t, got, err, "real/f")
	for _, link := range []string{"out", "rel", "proc"} {
		got, err = at(link)
		wantOutcome(t, got, err, outcome.PathRejected)
	}
	got, err = at("to-private")
	wantOutcome(t, got, err, outcome.Denied)
	got, err = at("fifo")
	wantOutcome(t, got, err, outcome.NotRegularFile)
	got, err = at(".")
	wantNames(t, got, err, "real/f")
}

func TestNamesThatAreNotUTF8(t *testing.T) {
	dir := workspaceDir(t)
	write(t, dir, map[string]string{"\xff\xfe.txt": "needle \xff\n", "d\xe9/f": "needle\n"})
	s := open(t, dir, `{}`)
	got, err := content(t, s, search.ContentQuery{Pattern: "needle"})
	wantNames(t, got, err, "d\xe9/f", "\xff\xfe.txt")
	got, err = paths(t, s, search.PathQuery{Glob: "**"})
	wantNames(t, got, err, "d\xe9/f", "\xff\xfe.txt")
	for f, err := range s.SearchContent(t.Context(), search.ContentQuery{Pattern: "needle", Scope: search.Scope{Path: "\xff\xfe.txt"}}) {
		if err != nil || f.Done == nil && !bytes.Equal(f.Item.Text, []byte("needle \xff")) {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

func TestUnreadableEntriesOfTheHost(t *testing.T) {
	if os.Geteuid() == 0 {
		// Without capabilities in its namespace the sandboxed root is held to the modes of its own files too.
		t.Log("as root")
	}
	dir := workspaceDir(t)
	write(t, dir, map[string]string{"open": "needle\n", "shut": "needle\n", "shutdir/f": "needle\n"})
	for _, name := range []string{"shut", "shutdir"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	var report search.Report
	got, err := content(t, open(t, dir, `{}`), search.ContentQuery{Pattern: "needle", Scope: search.Scope{Report: &report}})
	wantNames(t, got, err, "open")
	if report.Withheld != 2 {
		t.Errorf("report %+v; want 2 withheld", report)
	}
}

// shutFS is a tree in which one file and one directory cannot be opened, and one file breaks.
type shutFS struct{ fs.FS }

func (s shutFS) Open(name string) (fs.File, error) {
	switch path.Base(name) {
	case "shut", "shutdir":
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	case "broken":
		return nil, &fs.PathError{Op: "open", Path: name, Err: unix.EIO}
	}
	return s.FS.Open(name)
}

func TestUnreadableEntriesOfATree(t *testing.T) {
	tree := fstest.MapFS{"open": {Data: []byte("needle")}, "shut": {Data: []byte("needle")}, "broken": {Data: []byte("needle")}, "shutdir/f": {Data: []byte("needle")}}
	var report search.Report
	got, err := content(t, search.NewMemory(shutFS{tree}), search.ContentQuery{Pattern: "needle", Scope: search.Scope{Report: &report}})
	wantNames(t, got, err, "open")
	if want := (search.Report{Withheld: 2, Failed: 1}); report != want {
		t.Errorf("report %+v; want %+v", report, want)
	}
}

func TestAfterCloseNothingIsSearched(t *testing.T) {
	dir := workspaceDir(t)
	write(t, dir, map[string]string{"f": "needle\n"})
	rules := deriveIn(t, dir)
	e, err := enforcer.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	s := over(t, dir, rules, search.Sandboxed(e))
	got, err := content(t, s, search.ContentQuery{Pattern: "needle"})
	wantNames(t, got, err, "f")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	got, err = content(t, s, search.ContentQuery{Pattern: "needle"})
	wantOutcome(t, got, err, outcome.SessionClosed)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err = paths(t, s, search.PathQuery{Glob: "*"})
	wantOutcome(t, got, err, outcome.SessionClosed)
}

func TestOptionsThatWillNotDo(t *testing.T) {
	dir := workspaceDir(t)
	write(t, dir, map[string]string{"f": ""})
	judge, err := evaluator.New(deriveIn(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	runner := failing{errors.New("not started here")}
	good := search.RipgrepOptions{Root: dir, Runner: runner, Judge: judge}
	if s, err := search.NewRipgrep(good); err != nil {
		t.Fatalf("control: %v", err)
	} else {
		s.Close()
	}
	for name, change := range map[string]func(*search.RipgrepOptions){
		"no runner":     func(o *search.RipgrepOptions) { o.Runner = nil },
		"no judge":      func(o *search.RipgrepOptions) { o.Judge = nil },
		"no root":       func(o *search.RipgrepOptions) { o.Root = "" },
		"relative root": func(o *search.RipgrepOptions) { o.Root = "search" },
		"missing root":  func(o *search.RipgrepOptions) { o.Root = filepath.Join(dir, "missing") },
		"a file":        func(o *search.RipgrepOptions) { o.Root = filepath.Join(dir, "f") },
	} {
		o := good
		change(&o)
		var setup *outcome.SetupError
		if _, err := search.NewRipgrep(o); !errors.As(err, &setup) || setup.Code != outcome.CodeInvalidConfig {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func deriveIn(t testing.TB, dir string) *srtconfig.Rules {
	t.Helper()
	rules, err := srtconfig.Derive(t.Context(), settingsOf(t, `{}`), srtconfig.Host{Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// waitFor polls a state that has no event, until the test's patience ends.
func waitFor(t testing.TB, what string, state func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !state() {
		select {
		case <-deadline:
			t.Fatalf("still not: %s", what)
		case <-tick.C:
		}
	}
}
