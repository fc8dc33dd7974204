package match

import (
	"regexp/syntax"
	"unicode/utf8"
)

const (
	// maxAlternatives bounds how many literals are looked for at once: each costs a pass over the data.
	maxAlternatives = 6
	// maxNeedle bounds the length of a literal. More than this is no more telling.
	maxNeedle = 64
)

// literals are such that every match contains at least one of them.
type literals struct {
	needles []*needle
	// sufficient is set when each literal is by itself a match.
	sufficient bool
}

// findLiterals returns nil when the expression has no useful literal.
func findLiterals(re *syntax.Regexp) *literals {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	found := required(re)
	if len(found) == 0 {
		return nil
	}
	l := &literals{}
	for _, text := range found {
		l.needles = append(l.needles, newNeedle(text))
	}
	if re.Op == syntax.OpLiteral && len(found) == 1 {
		l.sufficient = found[0].whole
	}
	return l
}

// literal is a run of bytes as it stands in an expression.
type literal struct {
	text []byte
	// fold is set when letters match in either case. The text is then ASCII in lower case.
	fold bool
	// whole is set when the text is all of its node of the expression.
	whole bool
}

// quality orders literals: higher finds fewer false candidates. The rarest byte decides, then the length.
func (l literal) quality() int {
	best := 255
	for _, c := range l.text {
		best = min(best, rank(c, l.fold))
	}
	return (256-best)*16 + 8*min(len(l.text), 32)
}

// rank is the commonness of a byte as it is looked for.
func rank(c byte, fold bool) int {
	r := commonness[c]
	if fold && isLower(c) {
		r = max(r, commonness[c-'a'+'A'])
	}
	return int(r)
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// required returns literals of which every match of re contains one, or nil.
func required(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		if best, ok := bestRun(re); ok {
			return []literal{best}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min >= 1 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if found := required(sub); worst(found) > worst(best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			found := required(sub)
			if len(found) == 0 || len(all)+len(found) > maxAlternatives {
				return nil
			}
			all = append(all, found...)
		}
		return all
	}
	return nil
}

// worst is the quality of a set: that of its least telling literal, and less the more there are to look for.
func worst(set []literal) int {
	if len(set) == 0 {
		return 0
	}
	q := set[0].quality()
	for _, l := range set[1:] {
		q = min(q, l.quality())
	}
	return max(1, q-64*(len(set)-1))
}

// bestRun returns the most telling run of bytes that every match of a literal node contains as it stands.
func bestRun(re *syntax.Regexp) (literal, bool) {
	fold := re.Flags&syntax.FoldCase != 0
	var best, run literal
	run.fold = fold
	runes := 0
	take := func() {
		if len(run.text) > 0 && (len(best.text) == 0 || run.quality() > best.quality()) {
			best = literal{text: append([]byte(nil), run.text...), fold: fold, whole: runes == len(re.Rune)}
		}
		run.text, runes = run.text[:0], 0
	}
	for _, r := range re.Rune {
		switch {
		case fold && !foldsToASCII(r), r == utf8.RuneError:
			// Other spellings of the rune, or any invalid byte, may stand here.
			take()
		case len(run.text)+utf8.UTFMax > maxNeedle:
			take()
			fallthrough
		default:
			if fold && 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			run.text = utf8.AppendRune(run.text, r)
			runes++
		}
	}
	take()
	return best, len(best.text) > 0
}

// foldsToASCII reports whether all spellings of r that match without regard to case are ASCII: k and s also match
// U+212A and U+017F.
func foldsToASCII(r rune) bool {
	return r < utf8.RuneSelf && r != 'k' && r != 'K' && r != 's' && r != 'S'
}
