package search

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// naive matches the globs of letters, dots, stars and slashes by trying everything.
func naive(pattern, name string) bool {
	switch {
	case strings.HasPrefix(pattern, "**/"):
		if naive(pattern[3:], name) {
			return true
		}
		_, rest, ok := strings.Cut(name, "/")
		return ok && naive(pattern, rest)
	case pattern == "":
		return name == ""
	case pattern[0] == '*':
		return naive(pattern[1:], name) || name != "" && name[0] != '/' && naive(pattern, name[1:])
	}
	return name != "" && pattern[0] == name[0] && naive(pattern[1:], name[1:])
}

func TestGlobsMatchLikeTheNaiveMatcher(t *testing.T) {
	parts := rapid.StringMatching(`[ab.*]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.Map(rapid.SliceOfN(rapid.OneOf(parts, rapid.Just("**")), 1, 3), func(p []string) string { return strings.Join(p, "/") }).Draw(t, "pattern")
		for strings.Contains(pattern, "***") || strings.HasSuffix(pattern, "**") { // what these mean is not what is tested
			pattern = strings.ReplaceAll(pattern+"x", "***", "*")
		}
		pattern = strings.ReplaceAll(pattern, "a**", "a*")
		pattern = strings.ReplaceAll(pattern, "b**", "b*")
		pattern = strings.ReplaceAll(pattern, ".**", ".*")
		for _, after := range []string{"a", "b", ".", "x"} {
			pattern = strings.ReplaceAll(pattern, "**"+after, "*"+after)
		}
		name := rapid.StringMatching(`[ab][ab.]{0,2}(/[ab][ab.]{0,2}){0,3}`).Draw(t, "name")
		g, err := compileGlob(pattern, false)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		want := naive(strings.TrimPrefix(pattern, "./"), name)
		if !strings.Contains(pattern, "/") {
			want = naive(pattern, path.Base(name))
		}
		if got := g.keeps(name); got != want {
			t.Fatalf("%q on %q: %v; the naive matcher says %v", pattern, name, got, want)
		}
	})
}

func TestWhatIsGivenToRipgrepToNarrow(t *testing.T) {
	for _, c := range []struct{ glob, iglob, want string }{
		{"*.go", "", "*.go"}, {"src/**/*.go", "", "*.go"}, {"*.{ts,tsx}", "", "*.{ts,tsx}"}, {"", "*.Md", "*.[mM][dD]"}, {"", "k.i", "*.*"},
		{"!*.go", "", ""}, {"!*.go", "*.c", "*.[cC]"}, {"src/**", "", ""}, {"src/", "", ""}, {"[a-c]*", "", ""}, {"?.go", "", ""}, {"é.go", "", ""},
		{"{a/b,c}.go", "", ""}, {"{a,{b,c}}", "", ""}, {"a:b", "", ""}, {`a\*`, "", ""}, {"", "", ""},
	} {
		n, err := compileNarrowing(c.glob, c.iglob)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := n.nameGlob()
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q, %q: %q, %v; want %q", c.glob, c.iglob, got, ok, c.want)
		}
	}
}

func TestGlobsThatStandForTooMany(t *testing.T) {
	for pattern, want := range map[string]int{"a": 1, "{a,b}": 2, "{a,b}{c,d,e}": 6, `\{a,b\}`: 1, "a,b": 1, strings.Repeat("{a,b}", 9): 512} {
		if got := alternatives(pattern); got != want {
			t.Errorf("%q: %d; want %d", pattern, got, want)
		}
		if _, err := compileGlob(pattern, false); err != nil {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	for _, pattern := range []string{strings.Repeat("{a,b}", 10), strings.Repeat("{*a,*b,*c,*d}", 5), "{" + strings.Repeat("a,", 512) + "}", strings.Repeat("{a,b}", 100)} {
		if _, err := compileGlob(pattern, false); outcome.Of(err, "") == nil || outcome.Of(err, "").Outcome != outcome.InvalidPattern {
			t.Errorf("%.30q: %v; want an invalid pattern", pattern, err)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, g := range []string{"*.go", "**/{a,b}/[!x]?", "!a/", `\[`, "{,}{,}{,}", "./x"} {
		f.Add(g, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		g, err := compileGlob(pattern, false)
		if err != nil || g == nil {
			return
		}
		n := narrowing{glob: g}
		last, ok := n.nameGlob()
		if !ok || strings.ContainsRune(name, 0) {
			return
		}
		// What is given to ripgrep lets through whatever the glob keeps.
		if only, err := compileGlob(last, false); err != nil || g.keeps(name) && !only.keeps(name) {
			t.Errorf("%q keeps %q, and %q does not (%v)", pattern, name, last, err)
		}
	})
}
