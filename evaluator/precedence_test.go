package evaluator

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// rule makes an existing entry from "list path". A "?" after the list is for an absent path; links follow the path.
func rule(t *testing.T, text string) srtconfig.PathRule {
	t.Helper()
	fields := strings.Fields(text)
	name, absent := strings.CutSuffix(fields[0], "?")
	for list := srtconfig.DenyRead; list <= srtconfig.Protected; list++ {
		if list.String() == name {
			return srtconfig.PathRule{List: list, Path: fields[1], Exists: !absent, Dir: true, Links: fields[2:],
				Source: srtconfig.Source{File: "s.json", Line: 1, Text: fields[1]}}
		}
	}
	t.Fatalf("no list in %q", text)
	return srtconfig.PathRule{}
}

// suffixMatcher stands for a pattern like "/**/*.key".
type suffixMatcher string

func (m suffixMatcher) Match(path string) bool {
	return strings.HasSuffix(path, string(m)) && !strings.HasSuffix(path, "/"+string(m))
}

func (m suffixMatcher) Covers(path string) bool {
	for ; path != "/"; path = nParent(path) {
		if m.Match(path) {
			return true
		}
	}
	return false
}

func suffixGlob(list srtconfig.List, suffix string) glob {
	return glob{rule: &srtconfig.GlobRule{List: list, Pattern: "/**/*" + suffix}, matcher: suffixMatcher(suffix)}
}

func build(t *testing.T, in input, rules ...string) *Evaluator {
	t.Helper()
	for _, text := range rules {
		in.paths = append(in.paths, rule(t, text))
	}
	e, err := newEvaluator(in)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// precedenceCase is a row of the table: what the entries are, and for each question the answer.
type precedenceCase struct {
	row      string
	entries  []string
	globs    []glob
	private  bool
	cwd      string
	disabled bool
	answers  []string // "read|write|remove path: reason", with "+" before the reason where allowed
}

var denyKey = suffixGlob(srtconfig.DenyRead, ".key")
var denyLock = suffixGlob(srtconfig.DenyWrite, ".lock")

var precedenceCases = []precedenceCase{
	{row: "read-open", answers: []string{
		"read /: +read-open", "read /a: +read-open", "write /a: write-closed", "remove /a: write-closed"}},
	{row: "read-open", entries: []string{"denyRead /a/b"}, answers: []string{
		"read /: +read-open", "read /a: +read-open", "read /a/c: +read-open"}},

	{row: "denyread-closes", entries: []string{"denyRead /a"}, answers: []string{
		"read /a: denied-by-entry", "read /a/x: denied-by-entry", "read /a/x/y/z: denied-by-entry", "read /b: +read-open"}},
	{row: "denyread-closes", entries: []string{"denyRead? /a/gone"}, answers: []string{
		"read /a/gone: denied-by-entry", "read /a/gone/x: denied-by-entry", "read /a: +read-open"}},
	{row: "denyread-closes", entries: []string{"denyRead /a", "denyRead /a/b/c"}, answers: []string{
		"read /a: denied-by-entry", "read /a/b: denied-by-entry", "read /a/b/c/d: denied-by-entry"}},

	{row: "allowread-reopens", entries: []string{"denyRead /a", "allowRead /a/b"}, answers: []string{
		"read /a/b: +allowed-by-entry", "read /a/b/x: +allowed-by-entry", "read /a/c: denied-by-entry", "write /a/b: write-closed"}},

	{row: "allowread-at-equal-path", entries: []string{"denyRead /a", "allowRead /a"}, answers: []string{
		"read /a: +allowed-by-entry", "read /a/x: +allowed-by-entry"}},

	{row: "allowread-above-denyread", entries: []string{"allowRead /a", "denyRead /a/b"}, answers: []string{
		"read /a: +read-open", "read /a/b: denied-by-entry", "read /a/b/x: denied-by-entry", "read /a/c: +read-open"}},

	{row: "deny-in-allow-in-deny", entries: []string{"denyRead /a", "allowRead /a/b", "denyRead /a/b/c"}, answers: []string{
		"read /a: +way", "read /a/x: denied-by-entry", "read /a/b: +allowed-by-entry", "read /a/b/x: +allowed-by-entry",
		"read /a/b/c: denied-by-entry", "read /a/b/c/x: denied-by-entry"}},
	{row: "deny-in-allow-in-deny", entries: []string{"denyRead /a", "allowRead /a/b", "denyRead /a/b/c", "allowRead /a/b/c/d"},
		answers: []string{"read /a/b/c: +way", "read /a/b/c/x: denied-by-entry", "read /a/b/c/d/x: +allowed-by-entry"}},

	{row: "allowwrite-reopens", entries: []string{"denyRead /a", "allowWrite /a/b"}, answers: []string{
		"read /a/b: +allowed-by-entry", "read /a/b/x: +allowed-by-entry", "write /a/b/x: +allowed-by-entry",
		"read /a/c: denied-by-entry", "read /a: +way"}},
	{row: "allowwrite-reopens", entries: []string{"denyRead /a", "allowWrite /a/b", "denyRead /a/b/c"}, answers: []string{
		"read /a/b/c/x: denied-by-entry", "write /a/b/c/x: unreadable", "write /a/b/x: +allowed-by-entry"}},

	{row: "allowwrite-at-equal-path", entries: []string{"denyRead /a", "allowWrite /a"}, answers: []string{
		"read /a: denied-by-entry", "read /a/x: denied-by-entry", "write /a/x: unreadable"}},
	{row: "allowwrite-at-equal-path", entries: []string{"denyRead /a", "allowWrite /a", "allowRead /a"}, answers: []string{
		"read /a/x: +allowed-by-entry", "write /a/x: +allowed-by-entry"}},
	{row: "allowwrite-at-equal-path", entries: []string{"denyRead /", "denyRead /a/b", "allowWrite /a/b"}, answers: []string{
		"read /a: denied-by-entry", "read /a/b: denied-by-entry"}}, // nothing is re-opened, so nothing shows the way

	{row: "file-deny", entries: []string{"denyRead /a/f", "allowRead /a", "allowWrite /a"}, answers: []string{
		"read /a/f: denied-by-entry", "write /a/f: unreadable", "read /a/g: +read-open", "write /a/g: +allowed-by-entry"}},
	{row: "file-deny", entries: []string{"denyRead /a/f", "allowWrite /a/f"}, answers: []string{
		"read /a/f: denied-by-entry", "write /a/f: unreadable"}},
	{row: "file-deny", entries: []string{"denyRead /a/f", "allowRead /a/f", "allowWrite /a"}, answers: []string{
		"read /a/f: +allowed-by-entry", "write /a/f: +allowed-by-entry", "remove /a/f: pinned"}},

	{row: "way", entries: []string{"denyRead /a", "allowRead /a/b/c"}, answers: []string{
		"read /a: +way", "read /a/b: +way", "read /a/b/c: +allowed-by-entry", "read /a/x: denied-by-entry",
		"read /a/b/x: denied-by-entry", "read /: +read-open"}},
	{row: "way", entries: []string{"denyRead /a", "denyRead /a/b", "allowWrite /a/b/c"}, answers: []string{
		"read /a: +way", "read /a/b: +way", "read /a/b/c: +allowed-by-entry"}},

	{row: "glob-denies", globs: []glob{denyKey}, entries: []string{"allowWrite /a"}, answers: []string{
		"read /a/x.key: denied-by-glob", "read /a/x.key/y: denied-by-glob", "write /a/x.key: unreadable",
		"read /a/x: +read-open", "remove /a/x.key: unreadable"}},
	{row: "glob-denies", globs: []glob{denyKey}, entries: []string{"allowRead /a/x.key"}, answers: []string{
		"read /a/x.key: +allowed-by-entry", "read /a/x.key/y: +allowed-by-entry", "read /a/x.key/y.key: denied-by-glob",
		"read /a/z.key: denied-by-glob"}},
	{row: "glob-denies", globs: []glob{denyKey}, entries: []string{"allowRead /a"}, answers: []string{
		"read /a/x.key: denied-by-glob"}},
	{row: "glob-denies", globs: []glob{denyKey}, entries: []string{"allowWrite /a/x.key"}, answers: []string{
		"read /a/x.key: denied-by-glob"}},
	{row: "glob-denies", globs: []glob{denyKey}, entries: []string{"allowWrite /a/x.key/y"}, answers: []string{
		"read /a/x.key/y: +allowed-by-entry", "read /a/x.key: +way", "read /a/x.key/z: denied-by-glob"}},
	{row: "glob-denies", globs: []glob{denyKey}, entries: []string{"denyRead /a/x.key"}, answers: []string{
		"read /a/x.key: denied-by-entry"}}, // the pattern's own expansion is what is named

	{row: "protected-wins", entries: []string{"allowWrite /w", "protected /w/.git/hooks"}, answers: []string{
		"write /w/.git/hooks: protected-path", "write /w/.git/hooks/x: protected-path", "read /w/.git/hooks: +read-open",
		"write /w/.git/x: +allowed-by-entry", "remove /w/.git/hooks: protected-path"}},
	{row: "protected-wins", entries: []string{"allowWrite /w", "protected? /w/.mcp.json"}, answers: []string{
		"write /w/.mcp.json: protected-path", "write /w/.mcp.json5: +allowed-by-entry"}},
	{row: "protected-wins", entries: []string{"allowWrite /w/.vscode", "protected /w/.vscode", "denyWrite /w"}, answers: []string{
		"write /w/.vscode/x: protected-path"}},
	{row: "protected-wins", entries: []string{"denyRead /w/.profile", "allowWrite /w", "protected /w/.profile"}, answers: []string{
		"read /w/.profile: denied-by-entry", "write /w/.profile: protected-path"}},

	{row: "denywrite-wins", entries: []string{"allowWrite /a", "denyWrite /a/b"}, answers: []string{
		"write /a/b: denied-by-entry", "write /a/b/x: denied-by-entry", "write /a/c: +allowed-by-entry", "read /a/b: +read-open"}},
	{row: "denywrite-wins", entries: []string{"allowWrite /a/b", "denyWrite /a"}, answers: []string{
		"write /a/b: denied-by-entry", "write /a/b/x: denied-by-entry"}},
	{row: "denywrite-wins", entries: []string{"allowWrite /a", "denyWrite /a"}, answers: []string{"write /a/x: denied-by-entry"}},
	{row: "denywrite-wins", entries: []string{"allowWrite /a", "denyWrite /a/b", "allowWrite /a/b/c"}, answers: []string{
		"write /a/b/c/x: denied-by-entry"}},
	{row: "denywrite-wins", entries: []string{"allowWrite /a", "denyWrite /a", "denyRead /a/s"}, answers: []string{
		"read /a/s: denied-by-entry", "write /a/s: denied-by-entry"}},

	{row: "glob-denies-write", globs: []glob{denyLock}, entries: []string{"allowWrite /a", "allowWrite /a/x.lock"}, answers: []string{
		"write /a/x.lock: denied-by-glob", "write /a/x.lock/y: denied-by-glob", "write /a/x: +allowed-by-entry",
		"read /a/x.lock: +read-open", "remove /a/y.lock: denied-by-glob"}},

	{row: "unreadable-is-unwritable", entries: []string{"allowWrite /a", "denyRead /a/s"}, answers: []string{
		"write /a/s: unreadable", "write /a/s/x: unreadable", "remove /a/s: unreadable", "remove /a/s/x: unreadable",
		"write /a/t: +allowed-by-entry"}},
	{row: "unreadable-is-unwritable", entries: []string{"denyRead /a/s"}, answers: []string{"write /a/s: unreadable"}},

	{row: "way-is-unwritable", entries: []string{"allowWrite /a", "denyRead /a/d", "allowRead /a/d/x"}, answers: []string{
		"read /a/d: +way", "write /a/d: way", "write /a/d/new: unreadable", "write /a/d/x: +allowed-by-entry",
		"write /a/d/x/y: +allowed-by-entry", "remove /a/d: way"}},

	{row: "allowwrite-opens", entries: []string{"allowWrite /a"}, answers: []string{
		"write /a: +allowed-by-entry", "write /a/x/y: +allowed-by-entry", "write /: write-closed", "write /b: write-closed",
		"remove /a/x: +allowed-by-entry"}},
	{row: "write-closed", entries: []string{"allowRead /a", "allowWrite /a/b"}, answers: []string{
		"write /a: write-closed", "write /a/c: write-closed", "write /a/b: +allowed-by-entry"}},

	{row: "remove-needs-write", entries: []string{"allowWrite /a"}, answers: []string{
		"remove /b: write-closed", "remove /a/x: +allowed-by-entry", "remove /a/x/y: +allowed-by-entry", "remove /: write-closed"}},
	{row: "remove-needs-write", private: true, cwd: "/tmp/w", entries: []string{"allowWrite /"}, answers: []string{
		"write /tmp/w: +allowed-by-entry", "remove /tmp/w: private-tmp", "remove /tmp/w/x: +allowed-by-entry"}},

	{row: "pinned-by-entry", entries: []string{"allowWrite /a", "denyWrite /a/b/c/d"}, answers: []string{
		"remove /a: pinned", "remove /a/b: pinned", "remove /a/b/c: pinned", "remove /a/b/c/d: denied-by-entry",
		"remove /a/b/x: +allowed-by-entry", "write /a/b/c: +allowed-by-entry"}},
	{row: "pinned-by-entry", entries: []string{"allowWrite /a", "denyWrite? /a/b/c"}, answers: []string{
		"remove /a/b: +allowed-by-entry", "remove /a/b/c: denied-by-entry"}},
	{row: "pinned-by-entry", entries: []string{"allowWrite /a", "allowWrite /a/b"}, answers: []string{
		"remove /a/b: pinned", "remove /a/b/x: +allowed-by-entry"}},
	{row: "pinned-by-entry", entries: []string{"allowWrite /a", "allowRead /a/b"}, answers: []string{"remove /a/b: pinned"}},
	{row: "pinned-by-entry", entries: []string{"allowWrite /a", "denyRead /a/b/c"}, answers: []string{"remove /a/b: pinned"}},
	{row: "pinned-by-entry", entries: []string{"allowWrite /a", "protected /a/.git/config"}, answers: []string{
		"remove /a/.git: pinned", "remove /a/.git/index: +allowed-by-entry"}},
	{row: "pinned-by-entry", entries: []string{"allowWrite /a", "denyWrite? /a/b/c", "denyWrite /a/b/c"}, answers: []string{"remove /a/b: pinned"}},
	{row: "pinned-by-entry", entries: []string{"allowWrite /", "denyRead /a"}, answers: []string{"remove /: pinned"}},

	{row: "pinned-by-link", entries: []string{"allowWrite /a", "denyRead /z/s /a/l/m"}, answers: []string{
		"remove /a/l/m: pinned", "remove /a/l: pinned", "remove /a/l/n: +allowed-by-entry", "remove /a/l/m/x: +allowed-by-entry",
		"read /a/l/m: +read-open", "write /a/l/m: +allowed-by-entry"}},
	{row: "pinned-by-link", entries: []string{"allowWrite /a", "denyWrite? /z/s /a/l"}, answers: []string{"remove /a/l: pinned"}},

	{row: "bad-path", disabled: true, answers: []string{
		"read a: bad-path", "read ./a: bad-path", "read /a/../b: bad-path", "read /a/./b: bad-path", "read /a//b: bad-path",
		"read //: bad-path", "read /a/: bad-path", "read /..: bad-path", "read /.: bad-path", "read /a/..: bad-path",
		"write /a/../b: bad-path", "remove /a/../b: bad-path", "read /a\x00b: bad-path", "read \x00: bad-path", "read : bad-path",
		"read /...: +disabled", "read /..a: +disabled", "read /a..: +disabled", "read /.a: +disabled", "read /a/ : +disabled"}},

	{row: "disabled", disabled: true, entries: []string{"denyRead /a", "protected /b"}, answers: []string{
		"read /a: +disabled", "write /a: +disabled", "remove /a: +disabled", "write /b: +disabled", "remove /: +disabled"}},

	{row: "private-tmp", private: true, cwd: "/home/w", answers: []string{
		"read /tmp: +way", "read /tmp/x: private-tmp", "read /tmp/x/y: private-tmp", "write /tmp/x: private-tmp",
		"write /tmp: private-tmp", "read /dev/shm: +way", "read /dev/shm/x: private-tmp", "read /dev: +read-open",
		"read /tmpx: +read-open", "read /var/tmp/x: +read-open", "remove /tmp/x: private-tmp"}},
	{row: "private-tmp", private: false, cwd: "/home/w", entries: []string{"allowWrite /tmp"}, answers: []string{
		"read /tmp: +read-open", "read /tmp/x: +read-open", "write /tmp/x: +allowed-by-entry"}},
	{row: "private-tmp", private: true, cwd: "/tmp/a/w", entries: []string{"allowWrite /tmp/a/w", "denyRead /tmp/a/w/s"}, answers: []string{
		"read /tmp: +way", "read /tmp/a: +way", "read /tmp/a/w: +read-open", "read /tmp/a/w/x: +read-open",
		"read /tmp/a/w/s: denied-by-entry", "read /tmp/a/x: private-tmp", "read /tmp/ab: private-tmp",
		"write /tmp/a/w/x: +allowed-by-entry", "write /tmp/a: private-tmp", "remove /tmp/a/w: pinned",
		"remove /tmp/a/w/x: +allowed-by-entry"}},
	{row: "private-tmp", private: true, cwd: "/home/w", entries: []string{"denyWrite /tmp/d/e", "allowWrite /"}, answers: []string{
		"read /tmp/d: +way", "write /tmp/d: private-tmp", "read /tmp/d/e/x: +read-open", "write /tmp/d/e/x: denied-by-entry",
		"write /tmp/x: private-tmp", "write /home: +allowed-by-entry"}},
	{row: "private-tmp", private: true, cwd: "/home/w", entries: []string{"denyWrite? /tmp/gone", "protected /tmp/p"}, answers: []string{
		"read /tmp/gone: private-tmp", "read /tmp/p: private-tmp", "write /tmp/p: private-tmp"}},
	{row: "private-tmp", private: true, cwd: "/home/w", entries: []string{"allowRead /tmp/a", "allowRead /tmp/a/b/c"}, answers: []string{
		"read /tmp/a/x: +read-open", "read /tmp/a/b: +read-open"}},
	{row: "private-tmp", private: true, cwd: "/tmp", answers: []string{"read /tmp: +read-open", "read /tmp/x: +read-open"}},
	{row: "private-tmp", private: true, cwd: "/", answers: []string{"read /tmp/x: private-tmp"}},

	{row: "home-workspace-project", entries: []string{"denyRead /h", "allowRead /h/ws", "allowWrite /h/ws/p"}, answers: []string{
		"read /h: +way", "read /h/.ssh: denied-by-entry", "read /h/ws: +allowed-by-entry", "read /h/ws/q/x: +allowed-by-entry",
		"read /h/ws/p/x: +allowed-by-entry", "write /h/ws/p/x: +allowed-by-entry", "write /h/ws/q: write-closed",
		"write /h/x: unreadable", "write /h: way", "remove /h/ws/p: pinned", "remove /h/ws/p/x: +allowed-by-entry"}},

	{row: "siblings", entries: []string{"allowWrite /work", "denyRead /work/s", "denyWrite /work/d"}, answers: []string{
		"write /work/x: +allowed-by-entry", "write /work2: write-closed", "write /work2/x: write-closed", "write /wor: write-closed",
		"read /work/s: denied-by-entry", "read /work/s2: +read-open", "read /work/ss/x: +read-open", "write /work/d2: +allowed-by-entry",
		"write /work/s x: +allowed-by-entry", "write /work/S: +allowed-by-entry", "remove /work/dd: +allowed-by-entry"}},

	{row: "root-entry", entries: []string{"denyRead /", "allowRead /usr", "allowWrite /w"}, answers: []string{
		"read /: +way", "read /etc: denied-by-entry", "read /usr/bin/x: +allowed-by-entry", "read /w/x: +allowed-by-entry",
		"write /w/x: +allowed-by-entry", "write /: way"}},
	{row: "root-entry", entries: []string{"allowWrite /"}, answers: []string{
		"write /: +allowed-by-entry", "write /etc/x: +allowed-by-entry", "remove /: pinned", "remove /etc: +allowed-by-entry"}},
	{row: "root-entry", entries: []string{"allowWrite /", "denyWrite /"}, answers: []string{"write /etc/x: denied-by-entry"}},
}

func ask(e *Evaluator, question string) Decision {
	op, path, _ := strings.Cut(question, " ")
	switch op {
	case "read":
		return e.CanRead(path)
	case "write":
		return e.CanWrite(path)
	}
	return e.CanRemove(path)
}

func describe(d Decision) string {
	if d.Allowed {
		return "+" + d.Reason.String()
	}
	return d.Reason.String()
}

func TestPrecedence(t *testing.T) {
	for _, c := range precedenceCases {
		t.Run(c.row, func(t *testing.T) {
			for entries := range permutations(c.entries) {
				e := build(t, input{cwd: c.cwd, privateTmp: c.private, globs: c.globs}, entries...)
				e.disabled = c.disabled
				for _, answer := range c.answers {
					i := strings.LastIndex(answer, ": ")
					if got := describe(ask(e, answer[:i])); got != answer[i+2:] {
						t.Errorf("with %q: %q is %s, want %s", entries, answer[:i], got, answer[i+2:])
					}
				}
			}
		})
	}
}

// permutations yields every order of s.
func permutations(s []string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		s := slices.Clone(s)
		var walk func(int) bool
		walk = func(from int) bool {
			if from >= len(s)-1 {
				return yield(slices.Clone(s))
			}
			for i := from; i < len(s); i++ {
				s[from], s[i] = s[i], s[from]
				if !walk(from + 1) {
					return false
				}
				s[from], s[i] = s[i], s[from]
			}
			return true
		}
		walk(0)
	}
}

// The table in the documentation and the cases must have the same rows, or one of them is not true.
func TestPrecedenceTableIsTested(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z]+(?:-[a-z]+)*) {2,}\S`).FindAllStringSubmatch(string(doc), -1) {
		documented[m[1]] = true
	}
	tested := map[string]bool{}
	for _, c := range precedenceCases {
		tested[c.row] = true
		if !documented[c.row] {
			t.Errorf("row %s is tested and not documented", c.row)
		}
		if len(c.answers) == 0 {
			t.Errorf("row %s has a case without answers", c.row)
		}
	}
	for row := range documented {
		if !tested[row] {
			t.Errorf("row %s is documented and not tested", row)
		}
	}
	if len(documented) < 20 {
		t.Errorf("found %d rows in doc.go", len(documented))
	}
}

// A denial of reading must hold whichever of the two lists is written first, and whichever entry is the outer one.
func TestDenyReadAndDenyWriteInBothNestingsAndOrders(t *testing.T) {
	for _, c := range []struct {
		denyRead, denyWrite string
		unreadable          []string
		readable            []string
	}{
		{"/p/secrets/k", "/p/secrets", []string{"/p/secrets/k"}, []string{"/p/secrets", "/p/secrets/other"}},
		{"/p/secrets", "/p/secrets/k", []string{"/p/secrets", "/p/secrets/k", "/p/secrets/other"}, []string{"/p"}},
		{"/p/secrets", "/p/secrets", []string{"/p/secrets", "/p/secrets/k"}, []string{"/p"}},
	} {
		for entries := range permutations([]string{"denyRead " + c.denyRead, "denyWrite " + c.denyWrite, "allowWrite /p"}) {
			e := build(t, input{cwd: "/p"}, entries...)
			for _, path := range c.unreadable {
				if d := e.CanRead(path); d.Allowed || d.Rule == nil || d.Rule.Path != c.denyRead {
					t.Errorf("%q: read %s: %+v, want a denial by %s", entries, path, d, c.denyRead)
				}
				if e.CanWrite(path).Allowed || e.CanRemove(path).Allowed {
					t.Errorf("%q: %s can be written or removed", entries, path)
				}
			}
			for _, path := range c.readable {
				if !e.CanRead(path).Allowed {
					t.Errorf("%q: %s cannot be read", entries, path)
				}
			}
			if !e.CanWrite("/p/new").Allowed {
				t.Errorf("%q: /p/new cannot be written", entries)
			}
		}
	}
}

func TestDecisionNamesTheEntry(t *testing.T) {
	e := build(t, input{cwd: "/h/ws/p", globs: []glob{denyKey}},
		"denyRead /h", "allowRead /h/ws", "allowWrite /h/ws/p", "denyWrite /h/ws/p/d", "denyWrite /h/ws/p/d/e",
		"protected /h/ws/p/.git/hooks", "denyRead /h/ws/p/s")
	for _, c := range []struct{ question, list, path string }{
		{"read /h", "denyRead", "/h"},
		{"read /h/x", "denyRead", "/h"},
		{"read /h/ws/x", "allowRead", "/h/ws"},
		{"read /h/ws/p/x", "allowWrite", "/h/ws/p"}, // the deeper of the two that re-open
		{"read /h/ws/p/s/x", "denyRead", "/h/ws/p/s"},
		{"write /h/ws/p/s/x", "denyRead", "/h/ws/p/s"},
		{"write /h/ws/p/x", "allowWrite", "/h/ws/p"},
		{"write /h/ws/p/d/e/x", "denyWrite", "/h/ws/p/d/e"},
		{"write /h/ws/p/.git/hooks/x", "protected", "/h/ws/p/.git/hooks"},
		{"remove /h/ws/p/.git", "protected", "/h/ws/p/.git/hooks"},
		{"remove /h/ws/p", "allowWrite", "/h/ws/p"},
	} {
		d := ask(e, c.question)
		if d.Rule == nil || d.Rule.List.String() != c.list || d.Rule.Path != c.path || d.Glob != nil {
			t.Errorf("%s: %+v, want the %s entry for %s", c.question, d, c.list, c.path)
		}
	}
	both := build(t, input{cwd: "/"}, "denyRead /a", "allowWrite /a/b", "allowRead /a/b")
	if d := both.CanRead("/a/b/x"); d.Rule == nil || d.Rule.List != srtconfig.AllowRead {
		t.Errorf("allowRead and allowWrite of one path: %+v, want allowRead named", d)
	}
	for _, question := range []string{"read /x", "write /x", "read x", "read /h/ws/a.key"} {
		if d := ask(e, question); d.Rule != nil {
			t.Errorf("%s: names %+v, want no path entry", question, d.Rule)
		}
	}
	if d := e.CanRead("/h/ws/a.key/x"); d.Glob == nil || d.Glob.Pattern != "/**/*.key" {
		t.Errorf("read below a match: %+v, want the pattern", d)
	}
}

// Which of two entries for one path and list is named must not depend on the order that they come in.
func TestFirstOfTwinEntriesIsNamed(t *testing.T) {
	first, second := rule(t, "denyRead /a"), rule(t, "denyRead /a")
	first.Source.Line, second.Source.Line = 1, 2
	for _, paths := range [][]srtconfig.PathRule{{first, second}, {second, first}} {
		if d := build(t, input{cwd: "/", paths: paths}).CanRead("/a"); d.Rule == nil || d.Rule.Source.Line != 1 {
			t.Errorf("%+v, want the entry of line 1", d)
		}
	}
	x, y := suffixGlob(srtconfig.DenyRead, ".x"), suffixGlob(srtconfig.DenyRead, "y.x")
	for _, globs := range [][]glob{{x, y}, {y, x}} {
		if d := build(t, input{cwd: "/", globs: globs}).CanRead("/ay.x"); d.Glob == nil || d.Glob.Pattern != "/**/*.x" {
			t.Errorf("%+v, want the first pattern", d)
		}
	}
}

func TestOpIsTheQuestion(t *testing.T) {
	e := build(t, input{cwd: "/w"})
	for want, got := range map[Op]Op{
		Read: e.CanRead("/a").Op, Write: e.CanWrite("a").Op, Remove: e.CanRemove("/").Op, Connect: e.CanConnect("a.test", 1).Op,
	} {
		if got != want {
			t.Errorf("Op is %s, want %s", got, want)
		}
	}
}

func TestZeroEvaluatorDenies(t *testing.T) {
	var e Evaluator
	for _, d := range []Decision{e.CanRead("/a"), e.CanWrite("/a"), e.CanRemove("/a"), e.CanConnect("a.test", 443)} {
		if d.Allowed {
			t.Errorf("a zero Evaluator allows: %+v", d)
		}
	}
}

func TestCompileRefusesWhatIsNoRule(t *testing.T) {
	ok := srtconfig.PathRule{List: srtconfig.DenyRead, Path: "/a"}
	for _, change := range []func(*srtconfig.PathRule){
		func(r *srtconfig.PathRule) { r.List = 0 },
		func(r *srtconfig.PathRule) { r.List = srtconfig.Protected + 1 },
		func(r *srtconfig.PathRule) { r.Path = "a" },
		func(r *srtconfig.PathRule) { r.Path = "/a/../b" },
		func(r *srtconfig.PathRule) { r.Path = "/a/" },
		func(r *srtconfig.PathRule) { r.Path = "" },
		func(r *srtconfig.PathRule) { r.Links = []string{"l"} },
		func(r *srtconfig.PathRule) { r.List = srtconfig.AllowWrite },
		func(r *srtconfig.PathRule) { r.List = srtconfig.AllowRead },
	} {
		bad := ok
		change(&bad)
		if _, err := newEvaluator(input{cwd: "/", paths: []srtconfig.PathRule{bad}}); err == nil ||
			!strings.HasPrefix(err.Error(), "internal: ") {
			t.Errorf("%+v: error %v, want an internal one", bad, err)
		}
	}
	if _, err := newEvaluator(input{cwd: "/", paths: []srtconfig.PathRule{ok}}); err != nil {
		t.Errorf("control: %v", err)
	}
}

func TestReasonAndOpHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for r := Reason(0); r <= NetworkClosed; r++ {
		if name := r.String(); seen[name] {
			t.Errorf("reason %d has the name %q of another", r, name)
		} else {
			seen[name] = true
		}
	}
	if got := fmt.Sprint(Read, Write, Remove, Connect, Op(0)); got != "read write remove connect none" {
		t.Errorf("ops print as %q", got)
	}
}
