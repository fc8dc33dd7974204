package search

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// wireText is the form in which ripgrep writes a text.
func wireText(b []byte) map[string]any {
	if s := string(b); strings.ToValidUTF8(s, "") == s {
		return map[string]any{"text": s}
	}
	return map[string]any{"bytes": base64.StdEncoding.EncodeToString(b)}
}

func TestAMessageComesBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "path")
		line := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) })).Draw(t, "line")
		number := rapid.Int64Range(0, 1<<60).Draw(t, "number")
		raw, err := json.Marshal(map[string]any{"type": "match", "data": map[string]any{
			"path": wireText(path), "lines": wireText(line), "line_number": number, "absolute_offset": 7, "unknown": []any{map[string]any{"a": nil}, -1.5e3, true},
			"submatches": []any{map[string]any{"match": wireText(line), "start": 1, "end": 2}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		// One byte at a time, so that everything is cut everywhere.
		m := newMessages(iotest.OneByteReader(bytes.NewReader(append(raw, '\n'))))
		if err := m.next(); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if m.kind != matchMessage || !bytes.Equal(m.path, path) || !bytes.Equal(m.text.bytes, line) || m.text.total != int64(len(line)) || m.line != number || len(m.spans) != 1 || m.spans[0] != (Span{1, 2}) || !bytes.Equal(m.first.bytes, line) {
			t.Fatalf("%s gives %+v", raw, m.message)
		}
		if err := m.next(); err != io.EOF {
			t.Fatalf("after the last: %v", err)
		}
	})
}

func TestWhatIsNoMessage(t *testing.T) {
	for raw, want := range map[string]error{
		"": io.EOF, "\n \n": io.EOF, `{`: io.ErrUnexpectedEOF, `{"type":"match"`: io.ErrUnexpectedEOF, `{"data":{"path":{"text":"a`: io.ErrUnexpectedEOF,
	} {
		if err := newMessages(strings.NewReader(raw)).next(); err != want {
			t.Errorf("%q: %v; want %v", raw, err, want)
		}
	}
	for _, raw := range []string{`x`, `[]`, `{"type" "match"}`, `{"a":}`, `{"a":1 2}`, `{"data":{"line_number":-1}}`, `{"data":{"line_number":99999999999999999999}}`,
		`{"data":{"path":{"text":"\x"}}}`, `{"data":{"path":{"bytes":"%%%%"}}}`, `{"data":{"path":{"text":"` + strings.Repeat("p", maxPath+1) + `"}}}`} {
		if err := newMessages(strings.NewReader(raw)).next(); err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
			t.Errorf("%.60q: %v; want a complaint about its form", raw, err)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"type":"match","data":{"path":{"text":"./f"},"lines":{"bytes":"/w=="},"line_number":null,"submatches":[]}}` + "\n" + `{"data":{},"type":"summary"}`))
	f.Add([]byte(`{"a":[[[{"b":"\ud83d\ude00\ud83d"}]]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := newMessages(bytes.NewReader(raw))
		for range len(raw) + 1 {
			if err := m.next(); err != nil {
				return
			}
			if len(m.path) > maxPath || len(m.text.bytes) > MaxText+1 || len(m.spans) > MaxSpans {
				t.Fatalf("%q is kept beyond its bound", raw)
			}
		}
		t.Fatalf("%q: more messages than bytes", raw)
	})
}
