package srtconfig

import (
	"fmt"
	"strings"
)

// Glob is a compiled path pattern: a literal directory, and below it segments that are matched one path component each.
//
//   - any run of characters within one component, a leading dot included
//     ?      one character (one byte where the name is not UTF-8)
//     [a-z]  one character of a set; [!a] or [^a] one that is not in it; a "[" that is never closed stands for itself
//     **     alone between slashes: any number of components, none included
//
// A backslash and braces stand for themselves. A final "/**" or "/" adds nothing, because a rule speaks of its path and
// of all below it. A Glob is immutable and safe for concurrent use.
type Glob struct {
	base string // absolute, clean, literal; "/" for the root
	segs []segment
}

// segment matches one path component, or any number of them.
type segment struct {
	any    bool // "**"
	tokens []token
	head   string // literal text that every match begins with
	tail   string // literal text that every match ends with, not overlapping head
	form   segmentForm
}

type segmentForm uint8

const (
	formGeneral segmentForm = iota // the tokens decide
	formExact                      // head is the whole name
	formAffix                      // head, one "*", tail
)

// token is one element of a segment: a literal run, "*", "?" or a set.
type token struct {
	kind   tokenKind
	text   string // literal, or the set as written
	negate bool
	ranges []runeRange // set
}

type tokenKind uint8

const (
	tokenLiteral tokenKind = iota
	tokenStar
	tokenOne
	tokenSet
)

type runeRange struct{ low, high rune }

// maxSegments bounds a pattern so that the positions in it fit one machine word.
const maxSegments = 63

// compileGlob compiles the components that follow a literal directory.
func compileGlob(base string, components []string) (*Glob, error) {
	g := &Glob{base: base}
	for _, c := range components {
		switch c {
		case "", ".":
			continue
		case "..":
			return nil, fmt.Errorf(`".." may not follow a pattern character`)
		}
		s := parseSegment(c)
		if s.any && len(g.segs) > 0 && g.segs[len(g.segs)-1].any {
			continue
		}
		g.segs = append(g.segs, s)
	}
	for len(g.segs) > 0 && g.segs[len(g.segs)-1].any {
		g.segs = g.segs[:len(g.segs)-1]
	}
	if len(g.segs) > maxSegments {
		return nil, fmt.Errorf("the pattern has more than %d components", maxSegments)
	}
	return g, nil
}

// hasMeta reports that a component could be a pattern. A "]" alone is an ordinary character.
func hasMeta(component string) bool {
	s := parseSegment(component)
	return s.any || s.form != formExact
}

func parseSegment(s string) segment {
	if s == "**" {
		return segment{any: true}
	}
	seg := segment{}
	literal := strings.Builder{}
	flush := func() {
		if literal.Len() > 0 {
			seg.tokens = append(seg.tokens, token{kind: tokenLiteral, text: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(s); {
		switch s[i] {
		case '*':
			flush()
			if n := len(seg.tokens); n == 0 || seg.tokens[n-1].kind != tokenStar {
				seg.tokens = append(seg.tokens, token{kind: tokenStar})
			}
			i++
			continue
		case '?':
			flush()
			seg.tokens = append(seg.tokens, token{kind: tokenOne})
			i++
			continue
		case '[':
			if set, length, ok := parseSet(s[i:]); ok {
				flush()
				seg.tokens = append(seg.tokens, set)
				i += length
				continue
			}
		}
		literal.WriteByte(s[i])
		i++
	}
	flush()
	seg.classify()
	return seg
}

// classify finds the forms that can be decided by comparing strings.
func (s *segment) classify() {
	t := s.tokens
	if len(t) > 0 && t[0].kind == tokenLiteral {
		s.head = t[0].text
	}
	switch {
	case len(t) == 0:
		s.form = formExact
		return
	case len(t) == 1 && t[0].kind == tokenLiteral:
		s.form = formExact
		return
	}
	if last := t[len(t)-1]; last.kind == tokenLiteral {
		s.tail = last.text
	}
	middle := t
	if s.head != "" {
		middle = middle[1:]
	}
	if s.tail != "" {
		middle = middle[:len(middle)-1]
	}
	if len(middle) == 1 && middle[0].kind == tokenStar {
		s.form = formAffix
	}
}

// parseSet reads "[...]". A "]" right after the opening (or its negation) is a member, as in glob(7).
func parseSet(s string) (token, int, bool) {
	t := token{kind: tokenSet}
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		t.negate = true
		i++
	}
	first := true
	for i < len(s) {
		if s[i] == ']' && !first {
			t.text = s[:i+1]
			return t, i + 1, true
		}
		first = false
		low, n := decodeName(s[i:])
		i += n
		high := low
		if i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			high, n = decodeName(s[i+1:])
			i += 1 + n
		}
		t.ranges = append(t.ranges, runeRange{low, high})
	}
	return token{}, 0, false
}

// String writes the pattern as an absolute one; what is literal in its directory is put in brackets where it would be
// read as a pattern otherwise.
func (g *Glob) String() string {
	var b strings.Builder
	if g.base != "/" {
		b.WriteString(quoteMeta(g.base))
	}
	for _, s := range g.segs {
		b.WriteByte('/')
		b.WriteString(s.String())
	}
	return b.String()
}

func quoteMeta(s string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(s)
}

func (s segment) String() string {
	if s.any {
		return "**"
	}
	var b strings.Builder
	for _, t := range s.tokens {
		switch t.kind {
		case tokenLiteral:
			b.WriteString(quoteMeta(t.text))
		case tokenStar:
			b.WriteByte('*')
		case tokenOne:
			b.WriteByte('?')
		case tokenSet:
			b.WriteString(t.text)
		}
	}
	return b.String()
}
