package evaluator

import (
	"testing"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// tableMatcher matches the paths that it holds.
type tableMatcher map[string]bool

func (m tableMatcher) Match(path string) bool { return m[path] }
func (m tableMatcher) Covers(path string) bool {
	for ; path != "/"; path = nParent(path) {
		if m[path] {
			return true
		}
	}
	return m["/"]
}

func TestDeepestMatch(t *testing.T) {
	of := func(name string, paths ...string) glob {
		m := tableMatcher{}
		for _, p := range paths {
			m[p] = true
		}
		return glob{rule: &srtconfig.GlobRule{List: srtconfig.DenyRead, Pattern: name}, matcher: m}
	}
	for _, c := range []struct {
		path  string
		globs []glob
		want  string
		depth int32
	}{
		{"/a/b", nil, "", -1},
		{"/a/b", []glob{of("x", "/c")}, "", -1},
		{"/a/b", []glob{of("x", "/a/b/c")}, "", -1},
		{"/a/b/c", []glob{of("x", "/a")}, "x", 1},
		{"/a/b/c", []glob{of("x", "/a", "/a/b")}, "x", 2},
		{"/a/b/c", []glob{of("x", "/a"), of("y", "/a/b/c")}, "y", 3},
		{"/a/b/c", []glob{of("y", "/a/b/c"), of("x", "/a")}, "y", 3},
		{"/a/b/c", []glob{of("x", "/a/b"), of("y", "/a/b")}, "x", 2},
		{"/", []glob{of("x", "/")}, "x", 0},
		{"/a", []glob{of("x", "/")}, "x", 0},
		{"/a", []glob{of("x", "/"), of("y", "/a")}, "y", 1},
		{"/a/b", []glob{of("x", "/"), of("y", "/")}, "x", 0},
	} {
		got := deepestMatch(c.globs, c.path)
		name := ""
		if got.rule != nil {
			name = got.rule.Pattern
		}
		if name != c.want || got.depth != c.depth {
			t.Errorf("%s: %q at depth %d, want %q at %d", c.path, name, got.depth, c.want, c.depth)
		}
	}
}
