package artifact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestHeadTailCatByHand(t *testing.T) {
	s := newStore(t, Options{})
	a := fileArtifact(t, s, "f", "zero\r\none\n\nthree\x00\nfour")
	for _, c := range []struct{ query, args, want, note string }{
		{"artifact_head", `{}`, "zero\r\none\n\nthree\x00\nfour", ""},
		{"artifact_head", `{"n":2}`, "zero\r\none\n", ""},
		{"artifact_tail", `{"n":1}`, "four", ""},
		{"artifact_tail", `{"n":3}`, "\nthree\x00\nfour", ""},
		{"artifact_tail", `{"n":5}`, "zero\r\none\n\nthree\x00\nfour", ""},
		{"artifact_tail", `{"n":99}`, "zero\r\none\n\nthree\x00\nfour", ""},
		{"artifact_cat", `{}`, "zero\r\none\n\nthree\x00\nfour", ""},
		{"artifact_cat", `{"start":1,"end":3}`, "one\n\n", ""},
		{"artifact_cat", `{"start":3}`, "three\x00\nfour", ""},
		{"artifact_cat", `{"start":2,"end":2}`, "", ""},
		{"artifact_cat", `{"start":4,"end":100}`, "four", ""},
		{"artifact_cat", `{"start":5}`, "", "the artifact has 5 lines, the last is 4"},
		{"artifact_cat", `{"startByte":6,"endByte":9}`, "one", ""},
		{"artifact_cat", `{"startByte":18}`, "four", ""},
		{"artifact_cat", `{"startByte":22}`, "", "the artifact has 22 bytes"},
		{"artifact_cat", `{"start":1,"end":2,"encoding":"hex"}`, "6f6e650a", ""},
		{"artifact_cat", `{"startByte":0,"endByte":4,"encoding":"base64"}`, "emVybw==", ""},
		{"artifact_byte_length", `{}`, "22", ""},
		{"artifact_line_count", `{}`, "5", ""},
	} {
		r := mustAsk(t, a, c.query, c.args)
		if r.Text != c.want || c.note != "" && !noted(r, c.note) || c.note == "" && len(r.Notes) > 0 || r.Truncated {
			t.Errorf("%s %s: %q %q; want %q %q", c.query, c.args, r.Text, r.Notes, c.want, c.note)
		}
	}
	for _, c := range []struct{ query, args, argument string }{
		{"artifact_cat", `{"start":3,"end":2}`, "end"},
		{"artifact_cat", `{"startByte":3,"endByte":2}`, "endByte"},
		{"artifact_cat", `{"start":1,"endByte":2}`, "startByte"},
	} {
		_, err := ask(t, a, c.query, c.args)
		var ae *ArgumentError
		if !errors.As(err, &ae) || ae.Argument != c.argument {
			t.Errorf("%s %s: %v", c.query, c.args, err)
		}
	}
	empty := fileArtifact(t, s, "e", "")
	for _, q := range []string{"artifact_head", "artifact_tail", "artifact_cat"} {
		if r := mustAsk(t, empty, q, ""); r.Text != "" || !noted(r, "empty") {
			t.Errorf("%s of an empty file: %+v", q, r)
		}
	}
}

func TestEncodings(t *testing.T) {
	s := newStore(t, Options{})
	text := "ä line\n😀 two\nthree\r\n"
	units := utf16.Encode([]rune("\ufeff" + text))
	var le, be []byte
	for _, u := range units {
		le = append(le, byte(u), byte(u>>8))
		be = append(be, byte(u>>8), byte(u))
	}
	for name, content := range map[string][]byte{"le": le, "be": be} {
		a := fileArtifact(t, s, name, string(content))
		for _, c := range []struct{ query, args, want string }{
			{"artifact_cat", `{"encoding":"utf-16"}`, text},
			{"artifact_cat", `{"encoding":"utf-16","start":1,"end":2}`, "😀 two\n"},
			{"artifact_head", `{"encoding":"utf-16","n":1}`, "ä line\n"},
			{"artifact_tail", `{"encoding":"utf-16","n":2}`, "😀 two\nthree\r\n"},
			{"artifact_cat", `{"encoding":"utf-16` + name + `","start":2}`, "three\r\n"},
		} {
			if r := mustAsk(t, a, c.query, c.args); r.Text != c.want {
				t.Errorf("%s %s of utf-16%s: %q", c.query, c.args, name, r.Text)
			}
		}
		if r := mustAsk(t, a, "artifact_cat", `{}`); !noted(r, "use encoding utf-16") || !utf8.ValidString(r.Text) {
			t.Errorf("utf-16%s as utf-8: %q", name, r.Notes)
		}
	}
	latin := fileArtifact(t, s, "latin", "caf\xe9\xff\n")
	if r := mustAsk(t, latin, "artifact_cat", `{"encoding":"latin1"}`); r.Text != "caféÿ\n" {
		t.Errorf("latin1: %q", r.Text)
	}
	if r := mustAsk(t, latin, "artifact_head", `{}`); r.Text != "caf\ufffd\ufffd\n" || !noted(r, "2 bytes are not UTF-8") {
		t.Errorf("utf-8 of latin1: %+v", r)
	}
	lone := fileArtifact(t, s, "lone", "a\x00\x00\xd8b\x00c")
	if r := mustAsk(t, lone, "artifact_cat", `{"encoding":"utf-16le"}`); r.Text != "a\ufffdb\ufffd" || !noted(r, "3 bytes") {
		t.Errorf("broken utf-16: %+v", r)
	}
}

// TestPagingGivesEverything follows the notes of cut results to the end, for hostile content.
func TestPagingGivesEverything(t *testing.T) {
	s := newStore(t, Options{MaxResultBytes: MinResultBytes})
	next := regexp.MustCompile(`with (start|startByte) (\d+)`)
	long := strings.Repeat("ä", 30_000)
	for name, content := range map[string]string{
		"lines":        strings.Repeat("a line of text\r\n", 2000),
		"one line":     strings.Repeat("x", 50_000),
		"long in many": "short\n" + long + "\nshort\n" + strings.Repeat("y", 10_000),
		"runes":        long,
		"no end":       strings.Repeat("€\n", 5000) + "€",
		"NUL":          strings.Repeat("\x00", 20_000) + "\n\x00",
		"empty lines":  strings.Repeat("\n", 10_000),
	} {
		a := fileArtifact(t, s, "f", content)
		var got strings.Builder
		args := "{}"
		for pages := 0; ; pages++ {
			r := mustAsk(t, a, "artifact_cat", args)
			if len(r.String()) > MinResultBytes || !utf8.ValidString(r.String()) {
				t.Fatalf("%s: a result of %d bytes", name, len(r.String()))
			}
			got.WriteString(r.Text)
			if !r.Truncated {
				break
			}
			m := next.FindStringSubmatch(strings.Join(r.Notes, "\n"))
			if m == nil || pages > 1000 {
				t.Fatalf("%s: no way on: %q", name, r.Notes)
			}
			args = fmt.Sprintf(`{%q:%s}`, m[1], m[2])
		}
		if got.String() != content {
			t.Errorf("%s: %d of %d bytes, or others", name, got.Len(), len(content))
		}
	}
}

func TestBinaryPagingGivesEverything(t *testing.T) {
	s := newStore(t, Options{MaxResultBytes: MinResultBytes})
	content := make([]byte, 10_001)
	for i := range content {
		content[i] = byte(i * 7)
	}
	a := fileArtifact(t, s, "f", string(content))
	next := regexp.MustCompile(`with startByte (\d+) and encoding`)
	for encoding, decode := range map[string]func(string) ([]byte, error){"hex": hex.DecodeString, "base64": base64.StdEncoding.DecodeString} {
		var got []byte
		for start := "0"; ; {
			r := mustAsk(t, a, "artifact_cat", fmt.Sprintf(`{"startByte":%s,"encoding":%q}`, start, encoding))
			b, err := decode(r.Text)
			if err != nil || len(r.String()) > MinResultBytes {
				t.Fatal(err, len(r.String()))
			}
			got = append(got, b...)
			m := next.FindStringSubmatch(strings.Join(r.Notes, "\n"))
			if m == nil {
				break
			}
			start = m[1]
		}
		if !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes", encoding, len(got))
		}
	}
}

func TestTailThatDoesNotFit(t *testing.T) {
	s := newStore(t, Options{MaxResultBytes: MinResultBytes})
	lines := fileArtifact(t, s, "f", strings.Repeat("a line of text\n", 5000))
	r := mustAsk(t, lines, "artifact_tail", `{"n":1000}`)
	if !r.Truncated || !strings.HasPrefix(r.Text, "a line of text\n") || !strings.HasSuffix(r.Text, "\na line of text\n") || !noted(r, "endByte") || len(r.String()) > MinResultBytes {
		t.Errorf("%d bytes %q", len(r.Text), r.Notes)
	}
	for name, content := range map[string]string{"runes": strings.Repeat("€", 50_000), "invalid": strings.Repeat("\xff", 50_000), "mixed": strings.Repeat("é\xff", 30_000)} {
		a := fileArtifact(t, s, "f", content)
		for _, encoding := range []string{"utf-8", "utf-16le", "latin1", "hex", "base64"} {
			r := mustAsk(t, a, "artifact_tail", fmt.Sprintf(`{"encoding":%q}`, encoding))
			if !r.Truncated || len(r.Text) < 500 || len(r.String()) > MinResultBytes || !utf8.ValidString(r.Text) {
				t.Errorf("%s in %s: %d bytes, %q", name, encoding, len(r.Text), r.Notes)
			}
			if name == "runes" && encoding == "utf-8" && strings.Trim(r.Text, "€") != "" {
				t.Errorf("cut inside a character: %.20q", r.Text)
			}
		}
	}
}

func TestTextQueriesEqualNaive(t *testing.T) {
	s := newStore(t, Options{})
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\n", "\r\n", "é", "\x00", "\n\n", strings.Repeat("z", 100), strings.Repeat("w\n", 50)}), 0, 40).Draw(rt, "parts")
		content := strings.Join(parts, "")
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			rt.Fatal(err)
		}
		a := openArtifact(t, s, path, Meta{})
		defer s.Remove(a.Handle().CallID)
		var lines []string
		for l := range strings.Lines(content) {
			lines = append(lines, l)
		}
		from := rapid.IntRange(0, len(lines)+1).Draw(rt, "from")
		to := rapid.IntRange(from, len(lines)+2).Draw(rt, "to")
		check := func(query, args, want string) {
			if r := mustAsk(t, a, query, args); r.Text != want {
				rt.Fatalf("%s %s of %q: %q, want %q", query, args, content, r.Text, want)
			}
		}
		lo, hi := min(from, len(lines)), min(to, len(lines))
		check("artifact_cat", fmt.Sprintf(`{"start":%d,"end":%d}`, from, to), strings.Join(lines[lo:hi], ""))
		check("artifact_head", fmt.Sprintf(`{"n":%d}`, to+1), strings.Join(lines[:min(to+1, len(lines))], ""))
		check("artifact_tail", fmt.Sprintf(`{"n":%d}`, to+1), strings.Join(lines[max(0, len(lines)-to-1):], ""))
		check("artifact_line_count", `{}`, fmt.Sprint(len(lines)))
	})
}

// TestHugeSparseFile opens and queries 5 GB with bounded time and memory: the file has one line of 5 GB of NUL.
func TestHugeSparseFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = 5 << 30
	if _, err := f.WriteAt([]byte("begin"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("the end\n"), size-8); err != nil {
		t.Skipf("no sparse files of 5 GB here: %v", err)
	}
	f.Close()
	s := newStore(t, Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := openArtifact(t, s, path, Meta{})
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<10 {
		t.Errorf("opening allocated %d bytes", grown)
	}
	if a.Handle().ByteLength != size {
		t.Errorf("%+v", a.Handle())
	}
	runtime.ReadMemStats(&before)
	if r := mustAsk(t, a, "artifact_head", `{"n":1}`); !r.Truncated || !strings.HasPrefix(r.Text, "begin\x00") {
		t.Errorf("head: %d bytes, %q", len(r.Text), r.Notes)
	}
	if r := mustAsk(t, a, "artifact_tail", `{"n":1}`); !strings.HasSuffix(r.Text, "\x00the end\n") {
		t.Errorf("tail: %d bytes, %q", len(r.Text), r.Notes)
	}
	if r := mustAsk(t, a, "artifact_cat", fmt.Sprintf(`{"startByte":%d}`, size-8)); r.Text != "the end\n" {
		t.Errorf("cat: %q", r.Text)
	}
	if r := mustAsk(t, a, "artifact_estimate_tokens", `{}`); r.Text == "" || r.Text == "0" {
		t.Errorf("tokens: %+v", r)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("the queries allocated %d bytes", grown)
	}
}

func TestLineOf200MB(t *testing.T) {
	s := newStore(t, Options{})
	sp, err := s.Spool(Meta{})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(sp, "first\n")
	block := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	for range 200 {
		sp.Write(block)
	}
	io.WriteString(sp, "NEEDLE\xe2\x82\nlast")
	a, err := sp.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := mustAsk(t, a, "artifact_grep", `{"pattern":"needle","flags":"i"}`)
	if !strings.HasPrefix(r.Text, "1:…") || !strings.Contains(r.Text, "NEEDLE\ufffd") || len(r.Text) > 5000 || !noted(r, "shown in part") {
		t.Errorf("grep: %.60q %q", r.Text, r.Notes)
	}
	if r := mustAsk(t, a, "artifact_line_count", `{}`); r.Text != "3" {
		t.Errorf("lines: %s", r.Text)
	}
	if r := mustAsk(t, a, "artifact_cat", `{"start":2}`); r.Text != "last" {
		t.Errorf("cat: %q", r.Text)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("the queries allocated %d bytes", grown)
	}
}

func TestEstimateTokens(t *testing.T) {
	s := newStore(t, Options{})
	a := fileArtifact(t, s, "f", strings.Repeat("word ", 7000)+strings.Repeat("字", 100))
	if r := mustAsk(t, a, "artifact_estimate_tokens", `{"encoding":"claude"}`); r.Text != "10100" || !noted(r, "rough") {
		t.Errorf("%+v", r)
	}
	if r := mustAsk(t, a, "artifact_estimate_tokens", `{"encoding":"o200k_base"}`); r.Text != "8850" {
		t.Errorf("%+v", r)
	}
}
