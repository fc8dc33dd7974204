package srtconfig

import (
	"path"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"
)

func glob(t testing.TB, base, pattern string) *Glob {
	t.Helper()
	g, err := compileGlob(base, strings.Split(pattern, "/"))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGlobMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string // below /p
		match, covers bool
	}{
		{"*.env", "a.env", true, true},
		{"*.env", ".env", true, true}, // a leading dot is no exception
		{"*.env", "d/a.env", false, false},
		{"*.env", "a.env/below", false, true},
		{"**/*.env", "a.env", true, true},
		{"**/*.env", "d/e/a.env", true, true},
		{"**/*.env", "d/e/a.envs", false, false},
		{"d/*", "d", false, false},
		{"d/*", "d/x", true, true},
		{"d/*", "d/x/y", false, true},
		{"*/**", "d", true, true}, // a final /** adds nothing
		{"a/**/b", "a/b", true, true},
		{"a/**/b", "a/x/y/b", true, true},
		{"a/**/b", "a/x/y/bc", false, false},
		{"a/**/**/b", "a/b", true, true},
		{"**/a/**/b", "x/a/a/y/b/z", false, true},
		{"?", "é", true, true},
		{"?", "\xff", true, true},
		{"??", "é", false, false},
		{"[a-c]x", "bx", true, true},
		{"[a-c]x", "dx", false, false},
		{"[!a-c]x", "dx", true, true},
		{"[^a-c]x", "ax", false, false},
		{"[]]", "]", true, true},
		{"[a-]", "-", true, true},
		{"[é-ü]", "ö", true, true},
		{"a[", "a[", true, true}, // never closed
		{"a]*", "a]b", true, true},
		{"{a,b}*", "{a,b}c", true, true},
		{"{a,b}*", "ac", false, false},
		{`\**`, `\x`, true, true},
		{`\**`, `*x`, false, false},
		{"*a*b*c", "xxaxxbxxc", true, true},
		{"*a*b*c", "xxaxxcxxb", false, false},
		{"ab*ba", "aba", false, false}, // head and tail may not share a letter
		{"ab*ba", "abba", true, true},
		{"./a*", "ab", true, true},
	} {
		g := glob(t, "/p", c.pattern)
		if got := g.Match("/p/" + c.name); got != c.match {
			t.Errorf("%q matches %q: %t, want %t", c.pattern, c.name, got, c.match)
		}
		if got := g.Covers("/p/" + c.name); got != c.covers {
			t.Errorf("%q covers %q: %t, want %t", c.pattern, c.name, got, c.covers)
		}
		if g.Covers("/pp/" + c.name) {
			t.Errorf("%q covers %q in another directory", c.pattern, c.name)
		}
	}
}

func TestGlobStringMeansTheSame(t *testing.T) {
	for _, c := range []struct{ base, pattern, want string }{
		{"/p[1]/q*", "*.env", "/p[[]1]/q[*]/*.env"},
		{"/", "**/a[b-d]?", "/**/a[b-d]?"},
		{"/p", "a[/b*", "/p/a[[]/b*"},
	} {
		if got := glob(t, c.base, c.pattern).String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestGlobRefuses(t *testing.T) {
	for pattern, want := range map[string]string{
		"*/../x":                   `".."`,
		strings.Repeat("*/a/", 40): "63 components",
	} {
		if _, err := compileGlob("/p", strings.Split(pattern, "/")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", pattern, err, want)
		}
	}
}

func TestGlobDoesNotAllocate(t *testing.T) {
	g := glob(t, "/p", "**/a*/**/[x-z]?/*.pem")
	if n := testing.AllocsPerRun(100, func() { g.Covers("/p/b/a1/c/d/y2/key.pem/more") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// naiveMatch is the meaning of a pattern written down without any thought of speed.
func naiveMatch(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == "**":
		return naiveMatch(pattern[1:], name) || len(name) > 0 && naiveMatch(pattern, name[1:])
	}
	return len(name) > 0 && naiveSegment(pattern[0], name[0]) && naiveMatch(pattern[1:], name[1:])
}

func naiveSegment(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	switch pattern[0] {
	case '*':
		for i := 0; i <= len(name); i++ {
			if naiveSegment(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	case '?':
		if name == "" {
			return false
		}
		_, n := decodeName(name)
		return naiveSegment(pattern[1:], name[n:])
	case '[':
		if set, length, ok := parseSet(pattern); ok {
			if name == "" {
				return false
			}
			r, n := decodeName(name)
			return set.one(r) && naiveSegment(pattern[length:], name[n:])
		}
	}
	return name != "" && name[0] == pattern[0] && naiveSegment(pattern[1:], name[1:])
}

func naiveComponents(s string) []string {
	var out []string
	for _, c := range strings.Split(s, "/") {
		if c != "" && c != "." {
			out = append(out, c)
		}
	}
	return out
}

func FuzzGlob(f *testing.F) {
	f.Add("**/*.env", "a/b/.env")
	f.Add("a/**/b*[c-e]?", "a/b/c/bdd")
	f.Add("[!]", "[!]")
	f.Add("*[", "a[")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 60 || len(name) > 60 || strings.ContainsRune(pattern+name, 0) || checkGlobText(pattern) != nil {
			return
		}
		components := naiveComponents(pattern)
		for _, c := range components {
			if c == ".." || strings.Contains(c, "**") && c != "**" {
				return
			}
		}
		g, err := compileGlob("/base", strings.Split(pattern, "/"))
		if err != nil {
			return
		}
		for len(components) > 0 && components[len(components)-1] == "**" {
			components = components[:len(components)-1]
		}
		clean := strings.TrimPrefix(path.Clean("/"+name), "/")
		parts := naiveComponents(clean)
		want := naiveMatch(components, parts)
		if len(components) == 0 {
			want = clean == ""
		}
		full := "/base"
		if clean != "" {
			full += "/" + clean
		}
		if got := g.Match(full); got != want {
			t.Errorf("%q matches %q: %t, the naive matcher says %t", pattern, full, got, want)
		}
		again, err := compileGlob("/base", strings.Split(strings.TrimPrefix(g.String(), "/base"), "/"))
		if err != nil || again.Match(full) != want {
			t.Errorf("%q, written as %q, says something else of %q (%v)", pattern, g, full, err)
		}
	})
}

// TestGlobAgreesWithDoublestar compares with a kept library where the two have the same syntax.
func TestGlobAgreesWithDoublestar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segment := rapid.SampledFrom([]string{"a", "b", "ab", "*", "a*", "*b", "?", "[ab]", "[!a]", "a?b", "*a*b*", "**"})
		word := rapid.SampledFrom([]string{"a", "b", "ab", "aab", "abab", "c", "acb", ".a"})
		pattern := strings.Join(rapid.SliceOfN(segment, 1, 5).Draw(t, "pattern"), "/")
		name := strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "name"), "/")
		// doublestar lets a repeated "/**" at the end match nothing only once; one says the same.
		reference := pattern
		for strings.HasSuffix(reference, "/**/**") {
			reference = strings.TrimSuffix(reference, "/**")
		}
		want, err := doublestar.Match(reference, name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(pattern, "/**") || pattern == "**" {
			// There ours speaks of what stands before it, and of all below.
			g, err := compileGlob("/", strings.Split(pattern, "/"))
			if err != nil {
				t.Fatal(err)
			}
			if got := g.Covers("/" + name); got != want {
				t.Fatalf("%q covers %q: %t, doublestar %t", pattern, name, got, want)
			}
			return
		}
		g, err := compileGlob("/", strings.Split(pattern, "/"))
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Match("/" + name); got != want {
			t.Fatalf("%q matches %q: %t, doublestar %t", pattern, name, got, want)
		}
	})
}

// TestGlobSetAgreesWithEachGlob walks random paths through the set and through every pattern alone.
func TestGlobSetAgreesWithEachGlob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segment := rapid.SampledFrom([]string{"a", "b", "ab", "*", "a*", "*b", "?", "[ab]", "a?b", "**", "*a*", "a*b"})
		word := rapid.SampledFrom([]string{"a", "b", "ab", "aab", "c", "acb"})
		var globs []*Glob
		for range rapid.IntRange(1, 6).Draw(t, "patterns") {
			g, err := compileGlob("/", rapid.SliceOfN(segment, 1, 4).Draw(t, "pattern"))
			if err != nil {
				t.Fatal(err)
			}
			if len(g.segs) > 0 {
				globs = append(globs, g)
			}
		}
		set := newGlobSet(globs)
		all := make([]int, len(globs))
		for i := range all {
			all[i] = i
		}
		state := set.seeded(nil, all)
		full := ""
		for _, name := range rapid.SliceOfN(word, 1, 5).Draw(t, "path") {
			full += "/" + name
			got := make([]bool, len(globs))
			var hits []hit
			if state != nil {
				hits = state.match(name, nil)
				for _, h := range hits {
					if set.matches(h) {
						got[h.glob] = true
					}
				}
			}
			for i, g := range globs {
				if want := g.Match(full); got[i] != want {
					t.Fatalf("pattern %s, path %s: the set says %t, the pattern %t", g, full, got[i], want)
				}
			}
			state = state.below(set, name)
		}
	})
}
