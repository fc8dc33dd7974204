package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong and where.
type Error struct {
	Offset int64  // bytes before the place
	What   string // one clause, lower case; quotes at most keys of the input
}

// Error gives the clause and the offset.
func (e *Error) Error() string { return e.What + " (at byte " + strconv.FormatInt(e.Offset, 10) + ")" }

// Check reports the first thing that is wrong with raw as strict JSON; the error is an *Error.
func Check(raw []byte) error {
	if !utf8.Valid(raw) {
		return &Error{Offset: firstInvalid(raw), What: "it is not UTF-8"}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := value(dec, 1); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return &Error{Offset: dec.InputOffset(), What: "there is more after the JSON value"}
	}
	return surrogates(raw)
}

func firstInvalid(raw []byte) int64 {
	at := 0
	for at < len(raw) {
		r, n := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		at += n
	}
	return int64(at)
}

// maxDepth is far more than any message needs, and far less than a stack holds: the decoder bounds nothing when it is
// read token by token.
const maxDepth = 1000

// value reads one value with all that is in it.
func value(dec *json.Decoder, depth int) error {
	if depth > maxDepth {
		return &Error{Offset: dec.InputOffset(), What: "it is nested too deeply"}
	}
	token, err := dec.Token()
	if err != nil {
		return malformed(dec, err)
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for dec.More() {
		if delim == '{' {
			key, err := dec.Token()
			if err != nil {
				return malformed(dec, err)
			}
			name, ok := key.(string)
			if !ok {
				return &Error{Offset: dec.InputOffset(), What: "a key is not a string"}
			}
			if seen[name] {
				return &Error{Offset: dec.InputOffset(), What: "the key " + strconv.QuoteToASCII(name) + " stands there twice"}
			}
			seen[name] = true
		}
		if err := value(dec, depth+1); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return malformed(dec, err)
	}
	return nil
}

func malformed(dec *json.Decoder, err error) error {
	offset := dec.InputOffset()
	if syntax, ok := err.(*json.SyntaxError); ok {
		offset = syntax.Offset
	}
	what := "it is not valid JSON"
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		what = "the JSON ends too early"
	}
	return &Error{Offset: offset, What: what}
}

// surrogates looks for \u escapes of one half of a pair, which encoding/json reads as U+FFFD. raw is valid JSON, so a
// backslash only stands in a string and is followed by what belongs to it.
func surrogates(raw []byte) error {
	half := func(at int) (first, second bool) {
		if at+6 > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
			return false, false
		}
		n, err := strconv.ParseUint(string(raw[at+2:at+6]), 16, 16)
		return err == nil && n>>10 == 0xd800>>10, err == nil && n>>10 == 0xdc00>>10
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first, second := half(i)
		if first {
			if _, follows := half(i + 6); !follows {
				return &Error{Offset: int64(i), What: "an escape names one half of a surrogate pair"}
			}
			i += 11
			continue
		}
		if second {
			return &Error{Offset: int64(i), What: "an escape names one half of a surrogate pair"}
		}
		i++
	}
	return nil
}

// Object checks raw and takes it apart. A key that is not among names, in that very spelling, is an error.
func Object(raw []byte, names ...string) (map[string]json.RawMessage, error) {
	if err := Check(raw); err != nil {
		return nil, err
	}
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, &Error{What: "it is not an object"}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("internal error: checked JSON does not parse: %w", err)
	}
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if slices.Contains(names, key) {
			continue
		}
		known := "none is known"
		if len(names) > 0 {
			known = "known are " + strings.Join(names, ", ")
		}
		return nil, &Error{Offset: keyOffset(raw, key), What: "the key " + strconv.QuoteToASCII(key) + " is unknown; " + known}
	}
	return fields, nil
}

// keyOffset finds a key by its plain spelling, for a message; 0 when it is spelled with escapes.
func keyOffset(raw []byte, key string) int64 {
	return int64(max(0, bytes.Index(raw, []byte(`"`+key+`"`))))
}

// Position gives the line and the column, both from 1, of an offset. Columns count bytes.
func Position(raw []byte, offset int64) (line, column int) {
	before := raw[:min(max(0, int(offset)), len(raw))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
}
