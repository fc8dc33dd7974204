package artifact

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/sandboxctl/sandboxctl/artifact/internal/jsonval"
)

// jsonDoc is an artifact as the JSON queries see it: one value, or records line by line.
type jsonDoc struct {
	format Kind // json, json5, jsonl or ndjson
	root   any  // unused when lines is set
	lines  bool
	// note says that the format is not what the name promises.
	note string
}

// records returns the elements of a root array, or the root as the only record. It is for documents only.
func (d *jsonDoc) records() []any {
	if a, ok := d.root.(*jsonval.Array); ok {
		return a.Elems
	}
	return []any{d.root}
}

// probeBytes is how much is read to see whether a text is JSON by lines. A longer first line is not recognized.
const probeBytes = 1 << 20

// jsonDoc finds out what the artifact is and parses it unless it is read by lines. The kind comes first; where the
// content does not fit it, the content decides, and a note says so. Errors: *FormatError, *TooLargeError.
func (v *view) jsonDoc(ctx context.Context) (*jsonDoc, error) {
	kind := v.handle.Kind
	if kind == KindJSONL || kind == KindNDJSON {
		return &jsonDoc{format: kind, lines: true}, nil
	}
	limit := v.store.opts.MaxJSONBytes
	if v.size > limit {
		byLines, err := v.looksLikeLines()
		if err != nil {
			return nil, err
		}
		if !byLines {
			return nil, &TooLargeError{Format: "JSON", Size: v.size, Limit: limit}
		}
		return &jsonDoc{format: KindJSONL, lines: true, note: notedLines(kind)}, nil
	}
	return parsed(ctx, v.store.trees, v, "JSON", func() (*jsonDoc, error) { return v.parseJSON(kind) })
}

func notedLines(kind Kind) string {
	if kind.isJSON() {
		return "the content is one JSON value a line, and is read as jsonl"
	}
	return ""
}

func (v *view) parseJSON(kind Kind) (*jsonDoc, error) {
	text, err := v.document()
	if err != nil {
		return nil, err
	}
	root, strictErr := jsonval.Decode(text, jsonval.Strict)
	if strictErr == nil {
		if kind != KindJSON5 {
			kind = KindJSON
		}
		return &jsonDoc{format: kind, root: root}, nil
	}
	if firstLineIsValue([]byte(text[:min(len(text), probeBytes)])) {
		return &jsonDoc{format: KindJSONL, lines: true, note: notedLines(kind)}, nil
	}
	root, err = jsonval.Decode(text, jsonval.JSON5)
	switch {
	case err != nil && kind == KindJSON5:
		return nil, &FormatError{Format: "JSON5", Err: err}
	case err != nil:
		return nil, &FormatError{Format: "JSON", Err: strictErr}
	}
	d := &jsonDoc{format: KindJSON5, root: root}
	if kind != KindJSON5 {
		d.note = "the content is JSON5, not JSON: " + strictErr.Error()
	}
	return d, nil
}

// document reads the whole content as UTF-8, without a byte order mark. UTF-16 is known by its mark.
func (v *view) document() (string, error) {
	b, err := v.readRange(0, v.size)
	if err != nil {
		return "", err
	}
	switch {
	case bytes.HasPrefix(b, []byte{0xef, 0xbb, 0xbf}):
		b = b[3:]
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return fromUTF16(b[2:], binary.LittleEndian), nil
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return fromUTF16(b[2:], binary.BigEndian), nil
	}
	var s strings.Builder
	s.Grow(len(b))
	s.Write(b)
	return s.String(), nil
}

func fromUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

func (v *view) looksLikeLines() (bool, error) {
	b, err := v.readRange(0, probeBytes)
	return err == nil && firstLineIsValue(b), err
}

// firstLineIsValue reports whether the first line with something on it is an object or an array, and another line
// follows that begins like one.
func firstLineIsValue(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n\xef\xbb\xbf")
	i := bytes.IndexByte(b, '\n')
	if i < 0 || b[0] != '{' && b[0] != '[' {
		return false
	}
	rest := bytes.TrimLeft(b[i:], " \t\r\n")
	if len(rest) == 0 || rest[0] != b[0] {
		return false
	}
	_, err := jsonval.Decode(string(b[:i]), jsonval.Strict)
	return err == nil
}
