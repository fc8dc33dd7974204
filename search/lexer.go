package search

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// lexer reads JSON from a stream in memory that does not grow with it: a string is kept up to a bound and the rest of it
// read over. encoding/json would hold each value whole, and one line of a searched file can be as long as the file.
//
// It takes a little more than JSON allows; its input is a program's, not a person's.
type lexer struct {
	src io.Reader
	buf []byte // buf[pos:end] is read and not used
	pos int
	end int
	key [32]byte
}

const lexerBuffer = 256 << 10

func newLexer(src io.Reader) *lexer { return &lexer{src: src, buf: make([]byte, lexerBuffer)} }

var errSyntax = errors.New("not the JSON that ripgrep writes")

// fill makes sure that there is a byte. It returns io.EOF at the end.
func (l *lexer) fill() error {
	if l.pos < l.end {
		return nil
	}
	for range 100 {
		n, err := l.src.Read(l.buf)
		if n > 0 {
			l.pos, l.end = 0, n
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// peek returns the next byte that is no white space.
func (l *lexer) peek() (byte, error) {
	for {
		if err := l.fill(); err != nil {
			return 0, err
		}
		switch c := l.buf[l.pos]; c {
		case ' ', '\t', '\r', '\n':
			l.pos++
		default:
			return c, nil
		}
	}
}

func (l *lexer) expect(c byte) error {
	got, err := l.peek()
	if err != nil {
		return err
	}
	if got != c {
		return fmt.Errorf("%w: %q where %q belongs", errSyntax, got, c)
	}
	l.pos++
	return nil
}

// list reads { or [, calls each for every member, which must read one whole, and reads the end.
func (l *lexer) list(begin, end byte, each func() error) error {
	if err := l.expect(begin); err != nil {
		return err
	}
	for first := true; ; first = false {
		c, err := l.peek()
		if err != nil {
			return err
		}
		if c == end {
			l.pos++
			return nil
		}
		if !first {
			if err := l.expect(','); err != nil {
				return err
			}
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// object calls member with each key, of which it gets the first 32 bytes; it must read the value. The key is only valid until
// then.
func (l *lexer) object(member func(key []byte) error) error {
	return l.list('{', '}', func() error {
		key, _, err := l.str(l.key[:0], len(l.key))
		if err != nil {
			return err
		}
		if err := l.expect(':'); err != nil {
			return err
		}
		return member(key)
	})
}

// str reads a string and appends up to limit bytes of it to dst. total is its length in bytes.
func (l *lexer) str(dst []byte, limit int) (out []byte, total int64, err error) {
	if err := l.expect('"'); err != nil {
		return dst, 0, err
	}
	limit += len(dst)
	keep := func(p []byte) {
		total += int64(len(p))
		dst = append(dst, p[:min(len(p), limit-len(dst))]...)
	}
	for {
		if err := l.fill(); err != nil {
			return dst, total, err
		}
		chunk := l.buf[l.pos:l.end]
		quote := bytes.IndexByte(chunk, '"')
		if quote >= 0 {
			chunk = chunk[:quote]
		}
		if escape := bytes.IndexByte(chunk, '\\'); escape >= 0 {
			keep(chunk[:escape])
			l.pos += escape + 1
			var char [utf8.UTFMax]byte
			r, err := l.escape()
			if err != nil {
				return dst, total, err
			}
			keep(utf8.AppendRune(char[:0], r))
			continue
		}
		keep(chunk)
		l.pos += len(chunk)
		if quote >= 0 {
			l.pos++
			return dst, total, nil
		}
	}
}

// escape reads what follows a backslash.
func (l *lexer) escape() (rune, error) {
	if err := l.fill(); err != nil {
		return 0, err
	}
	c := l.buf[l.pos]
	l.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, err := l.hex4()
		if err != nil || !utf16.IsSurrogate(r) {
			return r, err
		}
		for _, want := range []byte(`\u`) {
			if err := l.fill(); err != nil {
				return 0, err
			}
			if l.buf[l.pos] != want {
				return utf8.RuneError, nil
			}
			l.pos++
		}
		low, err := l.hex4()
		return utf16.DecodeRune(r, low), err
	}
	return 0, fmt.Errorf("%w: escape %q", errSyntax, c)
}

func (l *lexer) hex4() (rune, error) {
	var r rune
	for range 4 {
		if err := l.fill(); err != nil {
			return 0, err
		}
		c := l.buf[l.pos]
		l.pos++
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, fmt.Errorf("%w: escape digit %q", errSyntax, c)
		}
		r = r<<4 | rune(c)
	}
	return r, nil
}

// number reads an integer that is not negative.
func (l *lexer) number() (int64, error) {
	c, err := l.peek()
	if err != nil {
		return 0, err
	}
	var n int64
	for digits := 0; ; digits++ {
		if c < '0' || c > '9' {
			if digits == 0 {
				return 0, fmt.Errorf("%w: %q where a number belongs", errSyntax, c)
			}
			return n, nil
		}
		if n > (math.MaxInt64-9)/10 {
			return 0, fmt.Errorf("%w: a number that is too great", errSyntax)
		}
		n = n*10 + int64(c-'0')
		l.pos++
		if err := l.fill(); err != nil {
			return 0, err
		}
		c = l.buf[l.pos]
	}
}

// skip reads over one value. It counts the depth and does not recurse: nesting costs no stack.
func (l *lexer) skip() error {
	for depth := 0; ; {
		c, err := l.peek()
		if err != nil {
			return err
		}
		switch c {
		case '"':
			if _, _, err := l.str(nil, 0); err != nil {
				return err
			}
		case '{', '[':
			depth++
			l.pos++
			continue
		case '}', ']':
			if depth == 0 {
				return fmt.Errorf("%w: %q where a value belongs", errSyntax, c)
			}
			depth--
			l.pos++
		case ',', ':':
			if depth == 0 {
				return fmt.Errorf("%w: %q where a value belongs", errSyntax, c)
			}
			l.pos++
			continue
		default:
			if err := l.bare(); err != nil {
				return err
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

// bare reads over a number or a word.
func (l *lexer) bare() error {
	for {
		if err := l.fill(); err != nil {
			return err
		}
		switch l.buf[l.pos] {
		case ',', ':', '}', ']', '{', '[', '"', ' ', '\t', '\r', '\n':
			return nil
		}
		l.pos++
	}
}
