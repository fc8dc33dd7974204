package search

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// narrowing is the glob and the iglob of a query; nil for one that was not given. It is immutable.
//
// ripgrep's own --glob is not used for them: what it matches is searched even when an ignore file or a leading dot says
// otherwise (the ignore crate's overrides come before every other rule), and so it would widen a search.
type narrowing struct {
	glob, iglob *glob
}

// keeps reports whether a file is searched. name is its path from the searched directory on.
func (n narrowing) keeps(name string) bool {
	return (n.glob == nil || n.glob.keeps(name)) && (n.iglob == nil || n.iglob.keeps(name))
}

// glob is one compiled pattern.
type glob struct {
	pattern string
	negated bool
	fold    bool // pattern is in lower case already
	base    bool // it speaks of the last part of a path
}

// maxAlternatives bounds how many globs without braces one stands for. A match that fails has tried them all, and at 65,000
// that took 0.3 s for one name.
const maxAlternatives = 512

func compileNarrowing(text, folded string) (n narrowing, err error) {
	if n.glob, err = compileGlob(text, false); err != nil {
		return narrowing{}, err
	}
	if n.iglob, err = compileGlob(folded, true); err != nil {
		return narrowing{}, err
	}
	return n, nil
}

func compileGlob(text string, fold bool) (*glob, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > MaxGlob {
		return nil, badPattern(text[:64]+"…", "The glob is longer than 4096 bytes.", nil)
	}
	g := &glob{fold: fold}
	g.pattern, g.negated = strings.CutPrefix(text, "!")
	if top, ok := strings.CutPrefix(g.pattern, "./"); ok {
		g.pattern = "/" + top
	}
	below := strings.HasSuffix(g.pattern, "/")
	g.pattern = strings.TrimSuffix(g.pattern, "/")
	g.base = !strings.Contains(g.pattern, "/") && !below
	if below {
		if !strings.Contains(g.pattern, "/") {
			g.pattern = "**/" + g.pattern
		}
		g.pattern += "/**"
	}
	g.pattern = strings.TrimPrefix(g.pattern, "/")
	if fold {
		g.pattern = strings.ToLower(g.pattern)
	}
	switch {
	case strings.ContainsRune(g.pattern, 0):
		return nil, badPattern(text, "The glob holds a NUL byte.", nil)
	case g.pattern == "" || !utf8.ValidString(text) || !doublestar.ValidatePattern(g.pattern):
		return nil, badPattern(text, "The glob does not parse: look for an open [ or {, a \\ at the end, or a glob of nothing but slashes.", nil)
	case alternatives(g.pattern) > maxAlternatives:
		return nil, badPattern(text, outcome.Number("The braces of the glob stand for more than ", maxAlternatives, " globs."), nil)
	}
	return g, nil
}

// alternatives gives how many globs without braces a valid one stands for, or more where braces are nested, and in any case
// no more than is needed to be over the bound.
func alternatives(pattern string) int {
	all, open := 1, []int{}
	for i := 0; i < len(pattern) && all <= maxAlternatives; i++ {
		switch last := len(open) - 1; {
		case pattern[i] == '\\':
			i++
		case pattern[i] == '{':
			open = append(open, 1)
		case pattern[i] == ',' && last >= 0:
			open[last]++
		case pattern[i] == '}' && last >= 0:
			all *= open[last]
			open = open[:last]
		}
	}
	return all
}

func (g *glob) keeps(name string) bool {
	if g.base {
		name = path.Base(name)
	}
	if g.fold {
		name = strings.ToLower(name)
	}
	return doublestar.MatchUnvalidated(g.pattern, name) != g.negated
}

// nameGlob gives a glob, in the syntax of ripgrep's file types, for the last part of the paths that n keeps, so that
// ripgrep need not search files that are dropped afterwards; ok is false when there is none that surely lets all of them
// through. The two dialects agree on what is used here: letters, digits, dot, underscore, hyphen, star, and one level of
// braces.
func (n narrowing) nameGlob() (pattern string, ok bool) {
	for _, g := range []*glob{n.glob, n.iglob} {
		if g == nil || g.negated {
			continue
		}
		last := g.pattern[strings.LastIndexByte(g.pattern, '/')+1:]
		if last == "**" || !plainName(last) || strings.ContainsAny(strings.TrimSuffix(g.pattern, last), "{[\\") {
			continue
		}
		if g.fold {
			last = anyCase(last)
		}
		return last, true
	}
	return "", false
}

// plainName reports whether a part of a glob is made of what the two dialects share.
func plainName(part string) bool {
	open := false
	for i := range len(part) {
		switch c := part[i]; {
		case isLetter(c), '0' <= c && c <= '9', c == '.', c == '_', c == '-', c == '*':
		case c == '{' && !open:
			open = true
		case c == '}' && open:
			open = false
		case c == ',' && open:
		default:
			return false
		}
	}
	return part != "" && !open
}

// anyCase puts each letter in a class of both cases. The letters k and i are left to a star: letters beyond ASCII fold to them
// (U+212A, U+0130).
func anyCase(part string) string {
	var b strings.Builder
	for i := range len(part) {
		switch c := part[i]; {
		case c == 'k' || c == 'i':
			b.WriteByte('*')
		case isLetter(c):
			b.WriteString(string([]byte{'[', c, c &^ 0x20, ']'}))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
