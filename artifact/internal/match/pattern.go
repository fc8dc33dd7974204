package match

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// MaxPattern is the longest expression that Compile accepts, in bytes.
const MaxPattern = 16 << 10

// Error says what is wrong with an expression or with its flags. Its text is fit for a model to read.
type Error struct {
	// Flags is set when the flags are wrong, not the expression.
	Flags  bool
	Reason string
}

func (e *Error) Error() string { return e.Reason }

// Pattern is a compiled expression. It is immutable and safe for concurrent use.
type Pattern struct {
	source string // the expression with its flags in front
	re     *regexp.Regexp
	// literals is nil when no literal is known that every match contains.
	literals *literals
	// span is set when a match may span lines.
	span bool
	// partial holds the expression for texts that are a part of the whole: [0] lacks the beginning, [1] the end,
	// [2] both.
	partial [3]func() *regexp.Regexp
}

// Compile compiles an expression in RE2 syntax (regexp/syntax). Flags are letters:
//
//	i  letters match in either case
//	m  ^ and $ match at the ends of each line; without flag s they do so anyway, as each line is its own text
//	s  . matches line ends too, and a match may span lines; without it every line is matched by itself
//	u  characters are Unicode code points, which is so without it too
//
// Errors are of type *Error.
func Compile(expr, flags string) (*Pattern, error) {
	if len(expr) > MaxPattern {
		return nil, &Error{Reason: fmt.Sprintf("the pattern is %d bytes long; at most %d are accepted", len(expr), MaxPattern)}
	}
	inner := ""
	for i, f := range flags {
		switch {
		case !strings.ContainsRune("imsu", f):
			return nil, &Error{Flags: true, Reason: fmt.Sprintf("unknown flag %q; the flags are i, m, s and u", f)}
		case strings.ContainsRune(flags[:i], f):
			return nil, &Error{Flags: true, Reason: fmt.Sprintf("flag %q is given twice", f)}
		case f != 'u':
			inner += string(f)
		}
	}
	p := &Pattern{source: expr, span: strings.Contains(flags, "s")}
	if inner != "" {
		p.source = "(?" + inner + ")" + expr
	}
	tree, err := syntax.Parse(p.source, syntax.Perl)
	if err != nil {
		return nil, &Error{Reason: explain(err)}
	}
	if !p.span && needsLineBreak(tree) {
		return nil, &Error{Reason: `the pattern asks for a line break, but each line is matched by itself; with flag "s" a match may span lines`}
	}
	p.literals = findLiterals(tree)
	if p.re, err = regexp.Compile(p.source); err != nil {
		return nil, &Error{Reason: explain(err)}
	}
	for i := range p.partial {
		p.partial[i] = sync.OnceValue(func() *regexp.Regexp { return withoutAnchors(p.source, i != 1, i != 0) })
	}
	return p, nil
}

func explain(err error) string {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return err.Error()
	}
	reason := fmt.Sprintf("%s: %q", se.Code, se.Expr)
	switch {
	case se.Code == syntax.ErrInvalidPerlOp && strings.HasPrefix(se.Expr, "(?"):
		reason += "; the syntax is RE2, which has no lookaround"
	case se.Code == syntax.ErrInvalidEscape && len(se.Expr) == 2 && se.Expr[1] >= '1' && se.Expr[1] <= '9':
		reason += "; the syntax is RE2, which has no backreferences"
	}
	return reason
}

// needsLineBreak reports whether the expression spells out a line break.
func needsLineBreak(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') {
		return true
	}
	return slices.ContainsFunc(re.Sub, needsLineBreak)
}

// forPart returns the expression for a text whose beginning or end is not that of the line or file.
func (p *Pattern) forPart(begins, ends bool) *regexp.Regexp {
	switch {
	case begins && ends:
		return p.re
	case ends:
		return p.partial[0]()
	case begins:
		return p.partial[1]()
	default:
		return p.partial[2]()
	}
}

// withoutAnchors returns the expression with the beginning or the end of the text made impossible. It returns nil
// if the changed expression does not compile, which cannot be unless it grew over a limit of regexp.
func withoutAnchors(source string, begin, end bool) *regexp.Regexp {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	forbid(tree, begin, end)
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return nil
	}
	return re
}

func forbid(re *syntax.Regexp, begin, end bool) {
	if begin && re.Op == syntax.OpBeginText || end && re.Op == syntax.OpEndText {
		*re = syntax.Regexp{Op: syntax.OpNoMatch}
		return
	}
	for _, sub := range re.Sub {
		forbid(sub, begin, end)
	}
}
