// Package wire carries strings of any bytes through JSON. Paths, arguments and variables are byte strings on Linux; JSON
// replaces what is not UTF-8, and a denial for a replaced name denies nothing.
//
// It guarantees that a String without NUL bytes comes back as it was; no path, argument or variable can hold a NUL.
package wire

import (
	"encoding/base64"
	"errors"
	"unicode/utf8"
)

// String is a byte string. As JSON it is itself where it is UTF-8, else NUL and base64.
type String string

const mark = "\x00"

// MarshalText implements encoding.TextMarshaler.
func (s String) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(s)) {
		return []byte(s), nil
	}
	return []byte(mark + base64.StdEncoding.EncodeToString([]byte(s))), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *String) UnmarshalText(text []byte) error {
	if len(text) == 0 || text[0] != mark[0] {
		*s = String(text)
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(string(text[1:]))
	if err != nil {
		return errors.New("a byte string is damaged")
	}
	*s = String(raw)
	return nil
}

// Strings converts a list.
func Strings(in []string) []String {
	out := make([]String, len(in))
	for i, s := range in {
		out[i] = String(s)
	}
	return out
}

// Plain converts a list back.
func Plain(in []String) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}
