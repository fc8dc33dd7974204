package artifact

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPreviewByHand(t *testing.T) {
	s := newStore(t, Options{})
	numbered := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, content string
		max           int
		want          string
	}{
		{"none", "text\n", 0, ""},
		{"empty", "", 100, ""},
		{"all", "a\nb", 3, "a\nb"},
		{"both ends", numbered(10), 32, "line 0\nline 1\n[42 bytes in 6 lines left out]\nline 8\nline 9\n"},
		{"one long line", strings.Repeat("x", 1000), 20, "xxxxxxxxxx\n[980 bytes in 1 lines left out]\nxxxxxxxxxx"},
		{"runes at the cut", strings.Repeat("€", 100), 14, "€€\n[288 bytes in 1 lines left out]\n€€"},
		{"half a rune at the end", strings.Repeat("y", 50) + "\xe2\x82", 8, "yyyy\n[47 bytes in 1 lines left out]\n\ufffd"},
	} {
		a := spoolArtifact(t, s, c.content)
		p, err := a.Preview(t.Context(), c.max)
		if err != nil || p.String() != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, p.String(), err, c.want)
		}
		if len(p.Head)+len(p.Tail) > c.max || !utf8.ValidString(p.String()) {
			t.Errorf("%s: %d bytes", c.name, len(p.Head)+len(p.Tail))
		}
	}
	if _, err := spoolArtifact(t, s, "x").Preview(t.Context(), -1); err == nil {
		t.Error("a negative size")
	}
}

func TestPreviewAccountsForEveryByte(t *testing.T) {
	s := newStore(t, Options{})
	rapid.Check(t, func(rt *rapid.T) {
		content := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "line\n", "é", "\xff", "\n", strings.Repeat("w", 40)}), 0, 60).Draw(rt, "content"), "")
		limit := rapid.IntRange(0, 400).Draw(rt, "max")
		a := spoolArtifact(t, s, content)
		defer s.Remove(a.Handle().CallID)
		p, err := a.Preview(t.Context(), limit)
		if err != nil {
			rt.Fatal(err)
		}
		if len(p.Head)+len(p.Tail) > limit || !utf8.ValidString(p.Head) || !utf8.ValidString(p.Tail) {
			rt.Fatalf("%q, %q for %d bytes", p.Head, p.Tail, limit)
		}
		if p.OmittedBytes < 0 || p.OmittedLines < 0 || (p.OmittedBytes == 0) != (p.OmittedLines == 0) {
			rt.Fatalf("%+v", p)
		}
		if utf8.ValidString(content) {
			if int64(len(p.Head)+len(p.Tail))+p.OmittedBytes != int64(len(content)) || !strings.HasPrefix(content, p.Head) || !strings.HasSuffix(content, p.Tail) {
				rt.Fatalf("%+v of %q", p, content)
			}
			omitted := content[len(p.Head) : len(content)-len(p.Tail)]
			want := int64(strings.Count(omitted, "\n"))
			if omitted != "" && !strings.HasSuffix(omitted, "\n") {
				want++
			}
			if p.OmittedLines != want {
				rt.Fatalf("%d lines omitted in %q", p.OmittedLines, omitted)
			}
		}
	})
}
