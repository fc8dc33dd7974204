package srtconfig

import (
	"strings"
	"unicode/utf8"
)

// invalidByte keeps bytes that are no UTF-8 apart from the characters of the same number.
const invalidByte = 0x110000

// decodeName gives the next character of a file name. A byte that is no UTF-8 is a character of its own.
func decodeName(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return invalidByte + rune(s[0]), 1
	}
	return r, n
}

func (t *token) one(r rune) bool {
	if t.kind == tokenOne {
		return true
	}
	for _, x := range t.ranges {
		if r >= x.low && r <= x.high {
			return !t.negate
		}
	}
	return t.negate
}

// match reports whether the segment matches a whole component.
func (s *segment) match(name string) bool {
	switch s.form {
	case formExact:
		return name == s.head
	case formAffix:
		return len(name) >= len(s.head)+len(s.tail) && strings.HasPrefix(name, s.head) && strings.HasSuffix(name, s.tail)
	}
	if !strings.HasPrefix(name, s.head) || !strings.HasSuffix(name, s.tail) {
		return false
	}
	return matchTokens(s.tokens, name)
}

// matchTokens goes back to the latest "*" on a mismatch, and no further: what an earlier one could take, the latest
// can take too. So the time is at most the product of the lengths.
func matchTokens(tokens []token, name string) bool {
	ti, ni := 0, 0
	starToken, starName := -1, 0
	for {
		if ti < len(tokens) {
			t := &tokens[ti]
			switch t.kind {
			case tokenStar:
				starToken, starName = ti, ni
				ti++
				continue
			case tokenLiteral:
				if strings.HasPrefix(name[ni:], t.text) {
					ni += len(t.text)
					ti++
					continue
				}
			default:
				if ni < len(name) {
					if r, n := decodeName(name[ni:]); t.one(r) {
						ni += n
						ti++
						continue
					}
				}
			}
		} else if ni == len(name) {
			return true
		}
		if starToken < 0 || starName >= len(name) {
			return false
		}
		_, n := decodeName(name[starName:])
		starName += n
		ti, ni = starToken+1, starName
	}
}

// The positions in a pattern that a path can have reached are a set of bits: bit i is set when the components so far
// matched segs[:i]. Bit len(segs) means that the pattern matched.

// start is the set before the first component.
func (g *Glob) start() uint64 { return g.skipAny(1) }

// skipAny adds the positions that follow a "**", which may match nothing.
func (g *Glob) skipAny(set uint64) uint64 {
	for i := range g.segs {
		if set&(1<<i) != 0 && g.segs[i].any {
			set |= 1 << (i + 1)
		}
	}
	return set
}

// step is the set after one more component.
func (g *Glob) step(set uint64, name string) uint64 {
	var next uint64
	for i := range g.segs {
		if set&(1<<i) == 0 {
			continue
		}
		if g.segs[i].any {
			next |= 1 << i
		} else if g.segs[i].match(name) {
			next |= 1 << (i + 1)
		}
	}
	return g.skipAny(next)
}

func (g *Glob) matched(set uint64) bool { return set&(1<<len(g.segs)) != 0 }

// Match reports whether the pattern matches an absolute, clean path itself. It does not allocate.
func (g *Glob) Match(name string) bool {
	at, _ := g.find(name)
	return at
}

// Covers reports whether the pattern matches an absolute, clean path or a directory above it. It does not allocate.
func (g *Glob) Covers(name string) bool {
	at, above := g.find(name)
	return at || above
}

// find tells whether the pattern matches the path, and whether it matches one above it.
func (g *Glob) find(name string) (at, above bool) {
	if !within(name, g.base) {
		return false, false
	}
	rest := strings.TrimPrefix(name[len(g.base):], "/")
	set := g.start()
	for rest != "" && set != 0 {
		above = above || g.matched(set)
		component, after, _ := strings.Cut(rest, "/")
		set = g.step(set, component)
		rest = after
	}
	return g.matched(set) && rest == "", above
}
