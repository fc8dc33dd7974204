package jsonval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting that is accepted, that of encoding/json.
const MaxDepth = 10000

// Dialect is what a decoder accepts.
type Dialect int

const (
	// Strict is JSON (RFC 8259).
	Strict Dialect = iota
	// JSON5 is JSON5 1.0.0.
	JSON5
)

// SyntaxError tells where a text is not what it should be.
type SyntaxError struct {
	Msg    string
	Offset int // in bytes from the start
	Line   int // from 0
	Column int // in bytes from the start of the line, from 0
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d (both from 0): %s", e.Line, e.Column, e.Msg)
}

// Decode decodes a text that holds one value. Strings and numbers of the result share the memory of text. The
// error is a *SyntaxError.
func Decode(text string, dialect Dialect) (any, error) {
	d := &decoder{text: text, json5: dialect == JSON5}
	v, err := d.document()
	if err != nil {
		before := text[:min(err.Offset, len(text))]
		err.Line = strings.Count(before, "\n")
		err.Column = len(before) - 1 - strings.LastIndexByte(before, '\n')
		return nil, err
	}
	return v, nil
}

type decoder struct {
	text  string
	pos   int
	json5 bool
	depth int
	// vals and keys are stacks for the containers being read, so that each is allocated once at its final size.
	vals []any
	keys []string
}

func (d *decoder) fail(at int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// unexpected says what stands at pos instead of what was wanted.
func (d *decoder) unexpected(wanted string) *SyntaxError {
	if d.pos >= len(d.text) {
		return d.fail(len(d.text), "the text ends where %s was expected", wanted)
	}
	r, size := utf8.DecodeRuneInString(d.text[d.pos:])
	if r == utf8.RuneError && size == 1 {
		return d.fail(d.pos, "byte 0x%02x where %s was expected", d.text[d.pos], wanted)
	}
	return d.fail(d.pos, "%q where %s was expected", r, wanted)
}

func (d *decoder) document() (any, *SyntaxError) {
	if err := d.space(); err != nil {
		return nil, err
	}
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	if err := d.space(); err != nil {
		return nil, err
	}
	if d.pos < len(d.text) {
		return nil, d.unexpected("the end of the text")
	}
	return v, nil
}

// space skips white space, and comments in JSON5.
func (d *decoder) space() *SyntaxError {
	for d.pos < len(d.text) {
		switch c := d.text[d.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			d.pos++
		case !d.json5:
			return nil
		case c == '\v' || c == '\f':
			d.pos++
		case c == '/':
			if err := d.comment(); err != nil {
				return err
			}
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(d.text[d.pos:])
			if r != '\ufeff' && r != '\u2028' && r != '\u2029' && !unicode.Is(unicode.Zs, r) {
				return nil
			}
			d.pos += size
		default:
			return nil
		}
	}
	return nil
}

func (d *decoder) comment() *SyntaxError {
	rest := d.text[d.pos:]
	switch {
	case strings.HasPrefix(rest, "//"):
		end := strings.IndexFunc(rest, isLineEnd)
		if end < 0 {
			end = len(rest)
		}
		d.pos += end
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return d.fail(d.pos, "the comment has no end")
		}
		d.pos += 2 + end + 2
	default:
		return d.unexpected("a value or a comment")
	}
	return nil
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

func (d *decoder) value() (any, *SyntaxError) {
	if d.pos >= len(d.text) {
		return nil, d.unexpected("a value")
	}
	switch c := d.text[d.pos]; {
	case c == '{':
		return d.object()
	case c == '[':
		return d.array()
	case c == '"' || c == '\'' && d.json5:
		return d.str()
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	case d.json5 && (c == '+' || c == '.' || c == 'I' || c == 'N'):
		return d.number()
	}
	rest := d.text[d.pos:]
	switch {
	case strings.HasPrefix(rest, "null"):
		d.pos += len("null")
		return nil, nil
	case strings.HasPrefix(rest, "true"):
		d.pos += len("true")
		return true, nil
	case strings.HasPrefix(rest, "false"):
		d.pos += len("false")
		return false, nil
	}
	return nil, d.unexpected("a value")
}

func (d *decoder) enter() *SyntaxError {
	if d.depth++; d.depth > MaxDepth {
		return d.fail(d.pos, "nested deeper than %d levels", MaxDepth)
	}
	d.pos++
	return d.space()
}

func (d *decoder) array() (any, *SyntaxError) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	base := len(d.vals)
	for first := true; ; first = false {
		if d.closes(']', first) {
			break
		}
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		d.vals = append(d.vals, v)
		if more, err := d.more(']', "',' or ']'"); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	d.pos++
	d.depth--
	a := &Array{Elems: append([]any(nil), d.vals[base:]...)}
	clear(d.vals[base:])
	d.vals = d.vals[:base]
	return a, nil
}

// closes reports whether the container ends here: an empty one, or after a trailing comma in JSON5.
func (d *decoder) closes(end byte, first bool) bool {
	return d.pos < len(d.text) && d.text[d.pos] == end && (first || d.json5)
}

// more reads the separator after an element. Without one, pos is left at the end of the container.
func (d *decoder) more(end byte, wanted string) (bool, *SyntaxError) {
	if err := d.space(); err != nil {
		return false, err
	}
	switch {
	case d.pos < len(d.text) && d.text[d.pos] == end:
		return false, nil
	case d.pos < len(d.text) && d.text[d.pos] == ',':
		d.pos++
		return true, d.space()
	}
	return false, d.unexpected(wanted)
}

func (d *decoder) object() (any, *SyntaxError) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	baseK, baseV := len(d.keys), len(d.vals)
	for first := true; ; first = false {
		if d.closes('}', first) {
			break
		}
		key, err := d.key()
		if err != nil {
			return nil, err
		}
		if err := d.space(); err != nil {
			return nil, err
		}
		if d.pos >= len(d.text) || d.text[d.pos] != ':' {
			return nil, d.unexpected("':'")
		}
		d.pos++
		if err := d.space(); err != nil {
			return nil, err
		}
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		d.keys = append(d.keys, key)
		d.vals = append(d.vals, v)
		if more, err := d.more('}', "',' or '}'"); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	d.pos++
	d.depth--
	o := &Object{Keys: append([]string(nil), d.keys[baseK:]...), Vals: append([]any(nil), d.vals[baseV:]...)}
	clear(d.keys[baseK:])
	clear(d.vals[baseV:])
	d.keys, d.vals = d.keys[:baseK], d.vals[:baseV]
	o.dedupe()
	return o, nil
}

// dedupe lets the last of repeated members win, at the place of the first.
func (o *Object) dedupe() {
	if len(o.Keys) <= 8 { // a map costs more than looking
		for i := 1; i < len(o.Keys); i++ {
			for j := range i {
				if o.Keys[i] == o.Keys[j] {
					o.Vals[j] = o.Vals[i]
					o.Keys = append(o.Keys[:i], o.Keys[i+1:]...)
					o.Vals = append(o.Vals[:i], o.Vals[i+1:]...)
					i--
					break
				}
			}
		}
		return
	}
	at := make(map[string]int, len(o.Keys))
	n := 0
	for i, k := range o.Keys {
		if j, ok := at[k]; ok {
			o.Vals[j] = o.Vals[i]
			continue
		}
		at[k] = n
		o.Keys[n], o.Vals[n] = k, o.Vals[i]
		n++
	}
	o.Keys, o.Vals = o.Keys[:n], o.Vals[:n]
}

func (d *decoder) key() (string, *SyntaxError) {
	if d.pos < len(d.text) {
		if c := d.text[d.pos]; c == '"' || c == '\'' && d.json5 {
			s, err := d.str()
			if err != nil {
				return "", err
			}
			return s.(string), nil
		}
	}
	if d.json5 {
		return d.identifier()
	}
	return "", d.unexpected("a name in double quotes")
}
