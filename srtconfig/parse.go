package srtconfig

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// MaxSettingsBytes is the size that a settings file may have.
const MaxSettingsBytes = 1 << 20

// maxNesting bounds objects and lists inside one another; the real shape needs six.
const maxNesting = 64

// Parse reads the text of a settings file: JSON with comments and trailing commas, in UTF-8, with or without a byte
// order mark. It looks at no file and no environment. The name stands in messages and in every Source.
// The error joins one *SettingsError for each thing that is wrong.
func Parse(text []byte, name string) (*Settings, error) {
	root, body, err := syntaxTree(text, name)
	if err != nil {
		return nil, err
	}
	d := newDecoder(name, body)
	s := &Settings{file: name}
	d.value(root, "", reflect.ValueOf(s).Elem())
	s.places = d.places
	if d.dropped == 0 {
		d.check(s)
	}
	if len(d.errs) > 0 {
		slices.SortStableFunc(d.errs, func(a, b *SettingsError) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		if d.dropped > 0 {
			d.errs = append(d.errs, errorAt(Source{File: name}, "and %d more", d.dropped))
		}
		return nil, joinErrors(d.errs)
	}
	return s, nil
}

// syntaxTree also returns the text that the offsets in the tree count in.
func syntaxTree(text []byte, name string) (hujson.Value, []byte, error) {
	whole := func(format string, args ...any) (hujson.Value, []byte, error) {
		return hujson.Value{}, nil, errorAt(Source{File: name}, format, args...)
	}
	if len(text) > MaxSettingsBytes {
		return whole("the file has more than %d bytes; settings are not that long", MaxSettingsBytes)
	}
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) ||
		len(text) >= 2 && (text[0] == 0 || text[1] == 0) {
		return whole("the file is in UTF-16; save it as UTF-8")
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return whole("the file is empty; write {} for the strictest settings")
	}
	// The parser would read a wrong byte as U+FFFD, and the path would be that of another file.
	if offset := invalidUTF8(text); offset >= 0 {
		return hujson.Value{}, nil, errorAt(newDecoder(name, text).sourceAt(offset, "", ""), "not JSON: the byte 0x%02x is no UTF-8", text[offset])
	}
	if offset := tooDeep(text); offset >= 0 {
		return hujson.Value{}, nil, errorAt(newDecoder(name, text).sourceAt(offset, "", ""), "more than %d objects and lists inside one another", maxNesting)
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return hujson.Value{}, nil, syntaxError(err, text, name)
	}
	return root, text, nil
}

// invalidUTF8 returns the offset of the first byte that is no part of a character; -1 when there is none.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns the offset of the bracket that goes deeper than maxNesting; -1 when none does. The parser recurses,
// so that a file of brackets alone would take its stack. Brackets in strings and comments count too.
func tooDeep(text []byte) int {
	depth := 0
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxNesting {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// syntaxError turns the parser's "hujson: line 3, column 5: reason" into our form.
func syntaxError(err error, text []byte, name string) *SettingsError {
	src := Source{File: name}
	reason := strings.TrimPrefix(err.Error(), "hujson: ")
	if n, _ := fmt.Sscanf(reason, "line %d, column %d:", &src.Line, &src.Column); n == 2 {
		_, rest, _ := strings.Cut(reason, ": ")
		reason = rest
	}
	if strings.Contains(reason, "unexpected EOF") {
		reason = "the file ends in the middle of a value"
	}
	return errorAt(src, "not JSON: %s", reason)
}
