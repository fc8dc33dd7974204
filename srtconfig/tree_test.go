package srtconfig

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// plant makes a tree from lines: "dir/", "file", "file = content", "link => target". Parents are made.
func plant(t testing.TB, root string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		name, target, link := strings.Cut(line, " => ")
		name, content, _ := strings.Cut(name, " = ")
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case link:
			err = os.Symlink(strings.ReplaceAll(target, "ROOT", root), at)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, []byte(strings.ReplaceAll(content, "ROOT", root)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// mustDerive is derive for settings that are right.
func mustDerive(t *testing.T, host Host, settings string) *Rules {
	t.Helper()
	rules, err := derive(t, host, settings)
	if err != nil {
		t.Fatalf("Derive: %v", err)
	}
	return rules
}

// shown writes the rules of some lists, one a line: list, path relative to the home of the test, "?" when absent, "/"
// after a directory, and the links.
func shown(rules *Rules, root string, lists ...List) []string {
	short := func(p string) string {
		rel, err := filepath.Rel(root, p)
		if err != nil || strings.HasPrefix(rel, "..") {
			return p
		}
		return rel
	}
	var out []string
	for _, r := range rules.Paths() {
		if !slices.Contains(lists, r.List) {
			continue
		}
		line := r.List.String() + " " + short(r.Path)
		if r.Dir {
			line += "/"
		}
		if !r.Exists {
			line += "?"
		}
		for _, l := range r.Links {
			line += " via " + short(l)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func equalLines(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// wantError checks that err is a SettingsError at a pointer whose text holds a fragment.
func wantError(t *testing.T, err error, pointer, fragment string) {
	t.Helper()
	for _, e := range SettingsErrors(err) {
		if e.Pointer == pointer && strings.Contains(e.Error(), fragment) {
			if e.Code() != "E_INVALID_SANDBOX_CONFIG" {
				t.Errorf("code %s", e.Code())
			}
			return
		}
	}
	t.Errorf("error %v, want one at %q that says %q", err, pointer, fragment)
}

func wantWarning(t *testing.T, rules *Rules, pointer, fragment string) {
	t.Helper()
	for _, w := range rules.Warnings() {
		if w.Source.Pointer == pointer && strings.Contains(w.Message, fragment) {
			return
		}
	}
	t.Errorf("warnings %+v, want one at %q that says %q", rules.Warnings(), pointer, fragment)
}

// nobody is the uid that asOrdinaryUser takes.
const nobody = 65534

// asOrdinaryUser runs f without the privileges of root over files. It changes the whole process.
func asOrdinaryUser(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	if err := syscall.Setresuid(-1, nobody, -1); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setresuid(-1, 0, -1); err != nil {
			panic(err)
		}
	}()
	f()
}
