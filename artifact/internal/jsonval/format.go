package jsonval

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"
)

// Format returns a value as text: on one line, or indented. JSON5's infinities and NaN, which JSON cannot write,
// are written as JSON5 does.
func Format(v any, indent string) string {
	var b strings.Builder
	Write(v, indent, func(s string) bool {
		b.WriteString(s)
		return true
	})
	return b.String()
}

// Write writes a value piece by piece until emit returns false, and reports whether it wrote all.
func Write(v any, indent string, emit func(string) bool) bool {
	w := &writer{indent: indent, emit: emit}
	return w.value(v, 0)
}

type writer struct {
	indent string
	emit   func(string) bool
}

func (w *writer) value(v any, depth int) bool {
	switch v := v.(type) {
	case nil:
		return w.emit("null")
	case bool:
		if v {
			return w.emit("true")
		}
		return w.emit("false")
	case json.Number:
		return w.emit(string(v))
	case float64:
		switch {
		case math.IsNaN(v):
			return w.emit("NaN")
		case v < 0:
			return w.emit("-Infinity")
		}
		return w.emit("Infinity")
	case string:
		return w.str(v)
	case *Array:
		if len(v.Elems) == 0 {
			return w.emit("[]")
		}
		for i, e := range v.Elems {
			if !w.before(i, "[", depth) || !w.value(e, depth+1) {
				return false
			}
		}
		return w.after("]", depth)
	case *Object:
		if len(v.Keys) == 0 {
			return w.emit("{}")
		}
		for i, k := range v.Keys {
			if !w.before(i, "{", depth) || !w.str(k) || !w.emit(w.colon()) || !w.value(v.Vals[i], depth+1) {
				return false
			}
		}
		return w.after("}", depth)
	}
	return false
}

func (w *writer) colon() string {
	if w.indent == "" {
		return ":"
	}
	return ": "
}

// before writes what stands before element i of a container.
func (w *writer) before(i int, open string, depth int) bool {
	if i > 0 {
		open = ","
	}
	return w.emit(open) && w.newline(depth+1)
}

func (w *writer) after(end string, depth int) bool { return w.newline(depth) && w.emit(end) }

func (w *writer) newline(depth int) bool {
	if w.indent == "" {
		return true
	}
	if !w.emit("\n") {
		return false
	}
	for range depth {
		if !w.emit(w.indent) {
			return false
		}
	}
	return true
}

// pieceBytes bounds what is quoted at once, so that a long string costs no second copy before a reader has enough.
const pieceBytes = 4 << 10

func (w *writer) str(s string) bool {
	if !w.emit(`"`) {
		return false
	}
	for len(s) > 0 {
		n := min(pieceBytes, len(s))
		for n < len(s) && n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		if !w.emit(quote(s[:n])) {
			return false
		}
		s = s[n:]
	}
	return w.emit(`"`)
}

// Quote returns a string as JSON writes it.
func Quote(s string) string { return `"` + quote(s) + `"` }

const hexDigits = "0123456789abcdef"

// quote escapes what has to be escaped in a JSON string, and the two line ends that JavaScript would not accept.
func quote(s string) string {
	special := func(r rune) bool {
		return r < ' ' || r == '"' || r == '\\' || r == 0x7f || r == '\u2028' || r == '\u2029'
	}
	if strings.IndexFunc(s, special) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !special(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteByte('\\')
		if i := strings.IndexRune("\"\\\b\f\n\r\t", r); i >= 0 {
			b.WriteByte(`"\bfnrt`[i])
			continue
		}
		b.WriteByte('u')
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(hexDigits[r>>shift&15])
		}
	}
	return b.String()
}
