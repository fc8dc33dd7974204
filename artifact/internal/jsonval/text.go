package jsonval

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string. One without escapes and invalid bytes shares the memory of the text.
func (d *decoder) str() (any, *SyntaxError) {
	open, quote := d.pos, d.text[d.pos]
	d.pos++
	from := d.pos
	plain := true
	for d.pos < len(d.text) {
		c := d.text[d.pos]
		switch {
		case c == quote:
			s := d.text[from:d.pos]
			d.pos++
			if plain || utf8.ValidString(s) {
				return s, nil
			}
			return repair(s), nil
		case c == '\\':
			return d.escaped(open, from, quote)
		case c == '\n', c == '\r', c < ' ' && !d.json5:
			return nil, d.fail(d.pos, "a control character (0x%02x) in a string; it has to be written as an escape", c)
		case c >= utf8.RuneSelf:
			plain = false
		}
		d.pos++
	}
	return nil, d.fail(open, "the string has no end")
}

// repair replaces every invalid byte, one by one as encoding/json does.
func repair(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// escaped reads the rest of a string from its first escape on, at pos.
func (d *decoder) escaped(open, from int, quote byte) (any, *SyntaxError) {
	var b strings.Builder
	b.WriteString(repair(d.text[from:d.pos]))
	for d.pos < len(d.text) {
		c := d.text[d.pos]
		switch {
		case c == quote:
			d.pos++
			return b.String(), nil
		case c == '\\':
			d.pos++
			if err := d.escape(&b); err != nil {
				return nil, err
			}
		case c == '\n', c == '\r', c < ' ' && !d.json5:
			return nil, d.fail(d.pos, "a control character (0x%02x) in a string; it has to be written as an escape", c)
		default:
			r, size := utf8.DecodeRuneInString(d.text[d.pos:])
			b.WriteRune(r)
			d.pos += size
		}
	}
	return nil, d.fail(open, "the string has no end")
}

// escape reads what follows a backslash.
func (d *decoder) escape(b *strings.Builder) *SyntaxError {
	if d.pos >= len(d.text) {
		return d.unexpected("an escape")
	}
	c := d.text[d.pos]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		b.WriteByte("\"\\/\b\f\n\r\t"[i])
		d.pos++
		return nil
	}
	if c == 'u' {
		r, err := d.unicodeEscape()
		if err != nil {
			return err
		}
		b.WriteRune(r)
		return nil
	}
	if !d.json5 {
		return d.unexpected("an escape")
	}
	r, size := utf8.DecodeRuneInString(d.text[d.pos:])
	switch {
	case c == 'v':
		b.WriteByte('\v')
	case c == '0':
		if d.pos+1 < len(d.text) && '0' <= d.text[d.pos+1] && d.text[d.pos+1] <= '9' {
			return d.fail(d.pos, `a digit after \0`)
		}
		b.WriteByte(0)
	case '1' <= c && c <= '9':
		return d.unexpected("an escape")
	case c == 'x':
		v, ok := d.hexDigits(d.pos+1, 2)
		if !ok {
			return d.fail(d.pos, `\x without two hexadecimal digits`)
		}
		b.WriteRune(v)
		size = 3
	case c == '\r' && strings.HasPrefix(d.text[d.pos:], "\r\n"): // a line that goes on
		size = 2
	case isLineEnd(r):
	default:
		b.WriteRune(r)
	}
	d.pos += size
	return nil
}

// unicodeEscape reads \uXXXX, and a second one when the two are a surrogate pair. pos is at the 'u'.
func (d *decoder) unicodeEscape() (rune, *SyntaxError) {
	r, ok := d.hexDigits(d.pos+1, 4)
	if !ok {
		return 0, d.fail(d.pos, `\u without four hexadecimal digits`)
	}
	d.pos += 5
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if strings.HasPrefix(d.text[d.pos:], `\u`) {
		if low, ok := d.hexDigits(d.pos+2, 4); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				d.pos += 6
				return pair, nil
			}
		}
	}
	return utf8.RuneError, nil
}

func (d *decoder) hexDigits(at, n int) (rune, bool) {
	if at+n > len(d.text) {
		return 0, false
	}
	var v rune
	for i := range n {
		h := hexDigit(d.text[at+i])
		if h < 0 {
			return 0, false
		}
		v = v<<4 | rune(h)
	}
	return v, true
}

// identifier reads an unquoted name: an ECMAScript 5.1 IdentifierName.
func (d *decoder) identifier() (string, *SyntaxError) {
	from := d.pos
	var b strings.Builder
	escapes := false
	for d.pos < len(d.text) {
		r, size := utf8.DecodeRuneInString(d.text[d.pos:])
		if r == '\\' {
			if !strings.HasPrefix(d.text[d.pos:], `\u`) {
				return "", d.unexpected("a name")
			}
			at := d.pos
			d.pos++
			var err *SyntaxError
			if r, err = d.unicodeEscape(); err != nil {
				return "", err
			}
			if !isIdentifier(r, b.Len() > 0) {
				return "", d.fail(at, "%q cannot stand in a name", r)
			}
			escapes = true
		} else if isIdentifier(r, b.Len() > 0) {
			d.pos += size
		} else {
			break
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "", d.unexpected("a name")
	}
	if escapes {
		return b.String(), nil
	}
	return d.text[from:d.pos], nil
}

// isIdentifier reports whether r may stand in a name; inside is whether it is not the first.
func isIdentifier(r rune, inside bool) bool {
	switch {
	case r == '$', r == '_', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return true
	case r < utf8.RuneSelf:
		return inside && '0' <= r && r <= '9'
	case r == utf8.RuneError:
		return false
	case unicode.IsLetter(r), unicode.Is(unicode.Nl, r):
		return true
	}
	return inside && (r == '\u200c' || r == '\u200d' || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc))
}
