package search

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// message is one line of rg --json, see ripgrep's crate grep-printer, module json. Its slices are valid until the next one
// is read.
type message struct {
	kind  messageKind
	path  []byte
	text  kept // of the line, its line feed included
	line  int64
	spans []Span
	first kept // what the first span covers
}

// kept is the beginning of a text that may be longer.
type kept struct {
	bytes []byte
	total int64 // bytes of the whole
}

type messageKind uint8

const (
	otherMessage messageKind = iota
	matchMessage
	summaryMessage
)

// maxPath is in bytes. The kernel takes no longer one (PATH_MAX), so ripgrep cannot have opened it.
const maxPath = 8 << 10

// maxFirst bounds what is kept of a match that begins beyond MaxText.
const maxFirst = 4 << 10

// messages reads the output of rg --json.
type messages struct {
	lexer *lexer
	raw   []byte // scratch
	message
}

func newMessages(r io.Reader) *messages { return &messages{lexer: newLexer(r)} }

// next reads one message. It returns io.EOF at a clean end, and io.ErrUnexpectedEOF at one within a message.
func (m *messages) next() error {
	m.kind, m.path, m.line, m.spans = otherMessage, m.path[:0], 0, m.spans[:0]
	m.text = kept{bytes: m.text.bytes[:0]}
	m.first = kept{bytes: m.first.bytes[:0]}
	if _, err := m.lexer.peek(); err != nil {
		return err
	}
	err := m.lexer.object(func(key []byte) error {
		switch string(key) {
		case "type":
			var err error
			m.raw, _, err = m.lexer.str(m.raw[:0], 16)
			switch string(m.raw) {
			case "match":
				m.kind = matchMessage
			case "summary":
				m.kind = summaryMessage
			}
			return err
		case "data":
			return m.data()
		}
		return m.lexer.skip()
	})
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (m *messages) data() error {
	return m.lexer.object(func(key []byte) (err error) {
		switch string(key) {
		case "path":
			var path kept
			path, err = m.textOrBytes(m.path, maxPath)
			m.path = path.bytes
			if err == nil && path.total > maxPath {
				err = fmt.Errorf("a path of %d bytes", path.total)
			}
		case "lines":
			m.text, err = m.textOrBytes(m.text.bytes, MaxText+1)
		case "line_number":
			m.line, err = m.numberOrNull()
		case "submatches":
			err = m.submatches()
		default:
			err = m.lexer.skip()
		}
		return err
	})
}

func (m *messages) numberOrNull() (int64, error) {
	if c, err := m.lexer.peek(); err != nil || c == 'n' {
		return 0, errors.Join(err, m.lexer.skip())
	}
	return m.lexer.number()
}

func (m *messages) submatches() error {
	return m.lexer.list('[', ']', func() error {
		if len(m.spans) == MaxSpans {
			return m.lexer.skip()
		}
		var s Span
		err := m.lexer.object(func(key []byte) (err error) {
			switch {
			case string(key) == "start":
				s.Start, err = m.lexer.number()
			case string(key) == "end":
				s.End, err = m.lexer.number()
			case string(key) == "match" && len(m.spans) == 0:
				m.first, err = m.textOrBytes(m.first.bytes, maxFirst)
			default:
				err = m.lexer.skip()
			}
			return err
		})
		m.spans = append(m.spans, s)
		return err
	})
}

// textOrBytes reads {"text": "…"}, or {"bytes": "…"} in base64 for what is not UTF-8. limit is in bytes of the text.
func (m *messages) textOrBytes(dst []byte, limit int) (k kept, err error) {
	k.bytes = dst[:0]
	if c, err := m.lexer.peek(); err != nil || c == 'n' {
		return k, errors.Join(err, m.lexer.skip())
	}
	err = m.lexer.object(func(key []byte) error {
		switch string(key) {
		case "text":
			var err error
			k.bytes, k.total, err = m.lexer.str(k.bytes, limit)
			if k.total > int64(len(k.bytes)) {
				k.bytes = wholeRunes(k.bytes)
			}
			return err
		case "bytes":
			return m.base64(&k, limit)
		}
		return m.lexer.skip()
	})
	return k, err
}

func (m *messages) base64(k *kept, limit int) error {
	raw, total, err := m.lexer.str(m.raw[:0], base64.StdEncoding.EncodedLen(limit))
	m.raw = raw
	if err != nil {
		return err
	}
	// A cut text has no padding that tells of its last bytes; what is cut is longer by a byte or two at the most.
	k.total = total / 4 * 3
	if int64(len(raw)) == total {
		k.total -= int64(bytes.Count(raw[max(0, len(raw)-2):], []byte{'='}))
	}
	k.bytes, err = base64.StdEncoding.AppendDecode(k.bytes, raw)
	if err != nil {
		return fmt.Errorf("%w: %w", errSyntax, err)
	}
	k.bytes = k.bytes[:min(len(k.bytes), limit)]
	return nil
}

// wholeRunes drops the beginning of a character at the end.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= min(len(b), utf8.UTFMax); i++ {
		if c := b[len(b)-i:]; utf8.RuneStart(c[0]) {
			if !utf8.FullRune(c) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// match makes the Match of a match message; its path is name.
func (m *message) match(name string) Match {
	out := Match{Path: name, Line: m.line, Spans: append([]Span(nil), m.spans...)}
	text := m.text.bytes
	if int64(len(text)) == m.text.total {
		text = bytes.TrimSuffix(text, []byte{'\n'})
	}
	if len(text) > MaxText || int64(len(text)) < m.text.total-1 {
		out.Cut = true
		text = text[:min(len(text), MaxText)]
		if len(m.spans) > 0 && m.spans[0].Start >= int64(len(text)) {
			text, out.TextStart = m.first.bytes, m.spans[0].Start
		}
	}
	out.Text = bytes.Clone(text)
	return out
}
