package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal gives the text that a word stands for, when that does not depend on anything but the word. An unquoted pattern
// or brace may become other words, so it is none; a tilde is left as it is written.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if !unquote(&b, p.Value) {
				return "", false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar || !doubleQuoted(&b, p) {
				return "", false
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unquote takes the backslashes out of unquoted text; false for what the shell would expand.
func unquote(b *strings.Builder, text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '*', '?', '[', '{':
			if c != '[' || len(text) > 1 { // "[" alone is the program
				return false
			}
			b.WriteByte(c)
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return true
}

// doubleQuoted takes the text out of double quotes, in which a backslash only stands before few characters.
func doubleQuoted(b *strings.Builder, q *syntax.DblQuoted) bool {
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return false
		}
		for i := 0; i < len(lit.Value); i++ {
			c := lit.Value[i]
			if c == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\\n", lit.Value[i+1]) >= 0 {
				i++
				if lit.Value[i] == '\n' {
					continue
				}
				c = lit.Value[i]
			}
			b.WriteByte(c)
		}
	}
	return true
}
