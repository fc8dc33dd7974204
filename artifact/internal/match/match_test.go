package match

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func find(t failer, p *Pattern, data []byte, lim Limits) []Match {
	t.Helper()
	var got []Match
	err := p.Scan(context.Background(), bytes.NewReader(data), Span{End: int64(len(data))}, lim, func(m Match) bool {
		got = append(got, m)
		return true
	})
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return got
}

func compile(t failer, expr, flags string) *Pattern {
	t.Helper()
	p, err := Compile(expr, flags)
	if err != nil {
		t.Fatalf("compile %q %q: %v", expr, flags, err)
	}
	return p
}

func TestLinesByHand(t *testing.T) {
	text := "alpha beta\r\nBETA gamma\n\nfoo(bar)\nkelvin \u212aelvin\nsocket SOC\u212aET\nlast needle"
	for _, c := range []struct {
		expr, flags string
		want        []int64
	}{
		{"beta", "", []int64{0}},
		{"beta", "i", []int64{0, 1}},
		{"beta$", "", []int64{0}},
		{"^beta", "i", []int64{1}},
		{`beta\r`, "", []int64{0}},
		{"^$", "", []int64{2}},
		{`foo\(bar\)`, "", []int64{3}},
		{"kelvin", "i", []int64{4}},
		{"^kelvin kelvin$", "i", []int64{4}},
		{"socket$", "i", []int64{5}},
		{"needle$", "", []int64{6}},
		{`needle\z`, "", []int64{6}},
		{`\Alast`, "", []int64{6}},
		{"gamma|bar", "", []int64{1, 3}},
		{"(gamma|bar)+", "u", []int64{1, 3}},
		{"a.*a", "", []int64{0, 1}},
		{"A.*A", "im", []int64{0, 1}},
		{"x*", "", []int64{0, 1, 2, 3, 4, 5, 6}},
		{"nothing", "", nil},
		{`beta\r\nBETA`, "s", []int64{0}},
		{"alpha.*gamma", "s", []int64{0}},
		{"^gamma", "s", nil},
		{"^BETA", "sm", []int64{1}},
		{`\Aalpha`, "s", []int64{0}},
		{`needle\z`, "s", []int64{6}},
		{`\ABETA`, "s", nil},
		{`\n\nfoo`, "s", []int64{1}},
	} {
		p := compile(t, c.expr, c.flags)
		var got []int64
		for _, m := range find(t, p, []byte(text), Limits{}) {
			got = append(got, m.Line)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q %q: lines %v, want %v", c.expr, c.flags, got, c.want)
		}
	}
}

func TestMatchFields(t *testing.T) {
	text := []byte("one\ntwo words\r\nthree\n")
	m := find(t, compile(t, "words", ""), text, Limits{})
	if len(m) != 1 || m[0].Line != 1 || m[0].LastLine != 1 || m[0].Start != 4 || string(m[0].Text) != "two words" || m[0].Cut {
		t.Errorf("line match: %+v", m)
	}
	m = find(t, compile(t, `two[^z]*thr`, "s"), text, Limits{})
	if len(m) != 1 || m[0].Line != 1 || m[0].LastLine != 2 || string(m[0].Text) != "two words\r\nthree" {
		t.Errorf("text match: %+v", m)
	}
	long := []byte(strings.Repeat("x", 5000) + "needle" + strings.Repeat("y", 5000))
	m = find(t, compile(t, "nee.le", ""), long, Limits{Excerpt: 100})
	if len(m) != 1 || !m[0].Cut || len(m[0].Text) != 100 || !bytes.Contains(m[0].Text, []byte("needle")) ||
		!bytes.Equal(long[m[0].TextStart:m[0].TextStart+100], m[0].Text) {
		t.Errorf("excerpt: %+v", m)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		expr, flags, says string
		flagError         bool
	}{
		{"(", "", "missing closing )", false},
		{"a{2", "g", "flag", true},
		{"a", "ii", "twice", true},
		{"(?=x)", "", "lookaround", false},
		{`(a)\1`, "", "backreferences", false},
		{"a\nb", "", `flag "s"`, false},
		{`foo\n`, "", `flag "s"`, false},
		{strings.Repeat("a", MaxPattern+1), "", "at most", false},
		{"a{1000}{1000}", "", "", false},
		{"\xff", "", "UTF-8", false},
	} {
		_, err := Compile(c.expr, c.flags)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, c.says) || e.Flags != c.flagError {
			t.Errorf("%.20q %q: %v (%T); want %q", c.expr, c.flags, err, err, c.says)
		}
	}
}

// naive gives the numbers of the lines on which re matches, by splitting the whole.
func naive(re *regexp.Regexp, data []byte) []int64 {
	var got []int64
	if len(data) == 0 {
		return nil
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(data, newline), newline) {
		if re.Match(line) || re.Match(bytes.TrimSuffix(line, cr)) {
			got = append(got, int64(i))
		}
	}
	return got
}

func sameAsNaive(t failer, expr, flags string, data []byte) {
	t.Helper()
	p, err := Compile(expr, flags)
	if err != nil {
		return
	}
	re := regexp.MustCompile(p.source)
	want := naive(re, data)
	got := find(t, p, data, Limits{})
	if len(got) != len(want) {
		t.Fatalf("%q %q on %d bytes: %d lines, want %d\n got %+v\nwant %v", expr, flags, len(data), len(got), len(want), got, want)
	}
	for i, m := range got {
		if m.Line != want[i] || m.LastLine != want[i] {
			t.Fatalf("%q %q: match %d is on line %d, want %d", expr, flags, i, m.Line, want[i])
		}
		if m.Start > 0 && data[m.Start-1] != '\n' || int64(bytes.Count(data[:m.Start], newline)) != m.Line {
			t.Fatalf("%q %q: line %d does not start at %d", expr, flags, m.Line, m.Start)
		}
	}
}

func TestScanEqualsNaive(t *testing.T) {
	atoms := []string{"foo", "Bar", "k", "socket", "[a-c]", "x+", "(ab|cd)", "(ab|cd|e)?", "^", "$", ".", `\b`, `\d`, "é", "(?i:Zed)", "o{2,3}", `\.`, "[^k]", `\r`, "\ufffd", `\x00`, "(foo|bar|baz|qux)"}
	words := []string{"foo", "FOO", "bar", "Bar", "socket", "SOC\u212aET", "ab", "cd", "xx", "Zed", "zED", "ooo", "é", "É", "1.2", "\r", "\xff", "\x00", " ", "k", "\u017f", "qux"}
	rapid.Check(t, func(t *rapid.T) {
		expr := strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 5).Draw(t, "expr"), "")
		flags := rapid.SampledFrom([]string{"", "i", "m", "im", "u"}).Draw(t, "flags")
		line := rapid.SliceOfN(rapid.SampledFrom(words), 0, 6)
		var data []byte
		for _, l := range rapid.SliceOfN(line, 0, 30).Draw(t, "lines") {
			data = append(data, strings.Join(l, "")...)
			data = append(data, '\n')
		}
		if rapid.Bool().Draw(t, "no last newline") {
			data = bytes.TrimSuffix(data, newline)
		}
		sameAsNaive(t, expr, flags, data)
	})
}

func TestChunkEdgesEqualNaive(t *testing.T) {
	// Lines that end, and needles that stand, just before, on and after the edges of chunks.
	for _, edge := range []int{chunk - 9, chunk - 7, chunk - 1, chunk, chunk + 1, chunk + slack - 1, chunk + slack, chunk + slack + 5, chunk + 70<<10} {
		for _, filler := range []string{strings.Repeat("x", 500) + "\n", strings.Repeat("y", 9000) + "\n"} {
			data := []byte(strings.Repeat(filler, edge/len(filler)+1))[:edge-6]
			data = append(data, "needle\nneedle\n"...)
			data = append(data, strings.Repeat(filler, chunk/len(filler))...)
			data = append(data, "needle"...)
			for _, expr := range []string{"needle", "^needle$", "^[m-n]"} {
				sameAsNaive(t, expr, "", data)
			}
		}
	}
}

func TestLongLines(t *testing.T) {
	// A line of 5 MiB between short ones; the needle stands at its ends, and at and across the edges of pieces.
	for _, at := range []int{0, maxLine - overlap, maxLine - 6, maxLine - overlap - 3, maxLine - 3, 2*(maxLine-overlap) - 3, 5<<20 - 6} {
		long := bytes.Repeat([]byte("z"), 5<<20)
		copy(long[at:], "needle")
		data := append(append([]byte("first needle\n"), long...), "\nlast needle\n"...)
		for _, expr := range []string{"needle", "n..dle", "NEEDLE|nothing"} {
			flags := ""
			if expr == "NEEDLE|nothing" {
				flags = "i"
			}
			m := find(t, compile(t, expr, flags), data, Limits{})
			if len(m) != 3 || m[1].Line != 1 || m[1].Start != 13 || m[2].Line != 2 || !m[1].Cut ||
				!bytes.Contains(m[1].Text, []byte("needle")) || len(m[1].Text) > DefaultExcerpt {
				t.Fatalf("%q at %d: %d matches", expr, at, len(m))
			}
		}
		if m := find(t, compile(t, "^needle|needle$", ""), data, Limits{}); len(m) != 2+b2i(at == 0 || at == 5<<20-6) {
			t.Errorf("anchored needle at %d: %d matches", at, len(m))
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestTextWindows(t *testing.T) {
	filler := strings.Repeat("filler line\n", 100)
	var b bytes.Buffer
	var want []int64
	for b.Len() < 2*window {
		for range 300 {
			b.WriteString(filler)
		}
		want = append(want, int64(bytes.Count(b.Bytes(), newline)))
		b.WriteString("begin\nmiddle\nend\n")
	}
	m := find(t, compile(t, `begin.{1,20}end`, "s"), b.Bytes(), Limits{})
	if len(m) != len(want) {
		t.Fatalf("%d matches, want %d", len(m), len(want))
	}
	for i := range m {
		if m[i].Line != want[i] || m[i].LastLine != want[i]+2 || string(m[i].Text) != "begin\nmiddle\nend" {
			t.Fatalf("match %d: %+v, want line %d", i, m[i], want[i])
		}
	}
	for _, at := range []int{window - shared, window - shared - 8, window - 8, window - 1, window} {
		data := bytes.Repeat([]byte("filler line\n"), 2*window/12)
		copy(data[at:], "begin\nmiddle\nend")
		if m := find(t, compile(t, `begin.{1,20}end`, "s"), data, Limits{}); len(m) != 1 || m[0].Line != int64(bytes.Count(data[:at], newline)) {
			t.Errorf("a match at %d: %+v", at, m)
		}
	}
	if m := find(t, compile(t, `\Afiller`, "s"), b.Bytes(), Limits{}); len(m) != 1 {
		t.Errorf(`\A matches %d times`, len(m))
	}
	if m := find(t, compile(t, `end\n\z`, "s"), b.Bytes(), Limits{}); len(m) != 1 {
		t.Errorf(`\z matches %d times`, len(m))
	}
	if m := find(t, compile(t, `^middle$`, "sm"), b.Bytes(), Limits{}); len(m) != len(want) {
		t.Errorf(`^ matches %d times`, len(m))
	}
}

// counting counts what is read.
type counting struct {
	r *bytes.Reader
	n chan int64
}

func (c counting) ReadAt(p []byte, off int64) (int, error) {
	c.n <- <-c.n + int64(len(p))
	return c.r.ReadAt(p, off)
}

func TestStopsEarly(t *testing.T) {
	data := bytes.Repeat([]byte("needle in every line\n"), 64<<20/21)
	r := counting{bytes.NewReader(data), make(chan int64, 1)}
	r.n <- 0
	n := 0
	err := compile(t, "needle", "").Scan(t.Context(), r, Span{End: int64(len(data))}, Limits{Matches: 5}, func(Match) bool {
		n++
		return n < 5
	})
	if err != nil || n != 5 {
		t.Fatal(n, err)
	}
	if read := <-r.n; read > (ahead+1)*(page+chunk+slack) {
		t.Errorf("five matches cost %d bytes of reading", read)
	}
}

type failing struct{}

var errDisk = errors.New("disk on fire")

func (failing) ReadAt(p []byte, off int64) (int, error) { return 0, errDisk }

func TestErrorsOfReaderAndContext(t *testing.T) {
	emit := func(Match) bool { return true }
	for _, flags := range []string{"", "s"} {
		p := compile(t, "x", flags)
		if err := p.Scan(t.Context(), failing{}, Span{End: 10 * chunk}, Limits{}, emit); !errors.Is(err, errDisk) {
			t.Errorf("flags %q: %v", flags, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Scan(ctx, bytes.NewReader(make([]byte, 10*chunk)), Span{End: 10 * chunk}, Limits{}, emit); !errors.Is(err, context.Canceled) {
			t.Errorf("flags %q, cancelled: %v", flags, err)
		}
	}
}

func TestLiteralsChosen(t *testing.T) {
	for _, c := range []struct {
		expr, flags string
		want        string
		sufficient  bool
	}{
		{"timeout", "", "timeout", true},
		{"timeout", "i", "timeout/i", true},
		{"socket", "i", "oc/i", false},
		{"(needle)", "", "needle", true},
		{`timeout \d+ms`, "", "timeout ", false},
		{"foo|bar", "", "foo bar", false},
		{"(foo|[a-z]+)", "", "", false},
		{"x*", "", "", false},
		{"(?:xyz)+", "", "xyz", false},
		{"(?:xyz)?", "", "", false},
		{"(?:xyz){0,2}", "", "", false},
		{"(?:xyz){2,}", "", "xyz", false},
		{"", "", "", false},
		{"a\ufffdbcd", "", "bcd", false},
	} {
		var got []string
		l := compile(t, c.expr, c.flags).literals
		if l != nil {
			for _, n := range l.needles {
				s := string(n.text)
				if n.fold {
					s += "/i"
				}
				got = append(got, s)
			}
		}
		if strings.Join(got, " ") != c.want || l != nil && l.sufficient != c.sufficient {
			t.Errorf("%q %q: %q, want %q", c.expr, c.flags, got, c.want)
		}
	}
}

func TestNeedleEqualsIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fold := rapid.Bool().Draw(t, "fold")
		alphabet := rapid.SampledFrom([]byte("abAB-\x00\xff"))
		text := rapid.SliceOfN(alphabet, 1, 5).Draw(t, "text")
		hay := rapid.SliceOfN(alphabet, 0, 300).Draw(t, "hay")
		plain := hay
		if fold {
			text = []byte(strings.ReplaceAll(strings.ToLower(string(text)), "\ufffd", "-"))
			plain = bytes.Map(lowerASCII, hay)
		}
		if fold && len(plain) != len(hay) {
			return
		}
		n := newNeedle(literal{text: text, fold: fold})
		from := rapid.IntRange(0, len(hay)).Draw(t, "from")
		want := bytes.Index(plain[from:], text)
		if want >= 0 {
			want += from
		}
		if got := n.next(hay, from); got != want {
			t.Fatalf("%q in %q from %d: %d, want %d", text, hay, from, got, want)
		}
		// The same without vector instructions.
		if len(hay) >= len(text) {
			if got, want := n.nextByte(hay[n.i1:len(hay)-len(text)+1+n.i1], hay[n.i2:]), naivePair(n, hay); got != want {
				t.Fatalf("pair of %q in %q: %d, want %d", text, hay, got, want)
			}
		}
	})
}

func TestPairScanEqualsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delta := rapid.IntRange(0, 70).Draw(t, "delta")
		b := rapid.SliceOfN(rapid.SampledFrom([]byte("aAb................")), delta+1, delta+400).Draw(t, "b")
		mask := rapid.SampledFrom([]byte{0, 0x20})
		m1, m2 := mask.Draw(t, "m1"), mask.Draw(t, "m2")
		n := len(b) - delta
		found, done := pairScan(b, n, delta, 'a', 'b', m1, m2)
		want := -1
		for i := range n {
			if b[i]|m1 == 'a' && b[i+delta]|m2 == 'b' {
				want = i
				break
			}
		}
		if found >= 0 && found != want || found < 0 && want >= 0 && want < done || done > n {
			t.Fatalf("%d, %d; want %d of %d", found, done, want, n)
		}
	})
}

func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

func naivePair(n *needle, hay []byte) int {
	for i := 0; i+len(n.text) <= len(hay); i++ {
		if hay[i+n.i1]|n.mask[n.i1] == n.text[n.i1] && hay[i+n.i2]|n.mask[n.i2] == n.text[n.i2] {
			return i
		}
	}
	return -1
}

func FuzzScan(f *testing.F) {
	f.Add("foo|bar", "i", []byte("Foo\nbar\r\n\xff\x00"))
	f.Add("^a.*b$", "", []byte("ab\nb a\n"))
	f.Add("(?i)socKet[k-s]", "m", []byte("SOC\u212aETs"))
	f.Fuzz(func(t *testing.T, expr, flags string, data []byte) {
		if strings.Contains(flags, "s") || len(expr) > 200 {
			if p, err := Compile(expr, flags); err == nil && len(expr) <= 200 {
				find(t, p, data, Limits{Excerpt: 16})
			}
			return
		}
		sameAsNaive(t, expr, flags, data)
	})
}
