package artifact

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestGrepByHand(t *testing.T) {
	s := newStore(t, Options{})
	a := fileArtifact(t, s, "f", "alpha\r\nbeta timeout\nTIMEOUT \xff\nfour\nfive timeout")
	for _, c := range []struct{ args, want, note string }{
		{`{"pattern":"timeout"}`, "1:beta timeout\n4:five timeout\n", ""},
		{`{"pattern":"timeout","flags":"i"}`, "1:beta timeout\n2:TIMEOUT \ufffd\n4:five timeout\n", "1 bytes are not UTF-8"},
		{`{"pattern":"timeout","maxResults":1}`, "1:beta timeout\n", "for more use start 2"},
		{`{"pattern":"timeout","start":2}`, "4:five timeout\n", ""},
		{`{"pattern":"timeout","start":1,"end":4}`, "1:beta timeout\n", ""},
		{`{"pattern":"timeout","start":9}`, "", "no line matches"},
		{`{"pattern":"alpha$"}`, "0:alpha\n", ""},
		{`{"pattern":"^f\\w+"}`, "3:four\n4:five timeout\n", ""},
		{`{"pattern":"alpha.*beta","flags":"s"}`, "0:alpha\r\n1:beta timeout\n", ""},
		{`{"pattern":"^beta","flags":"sm"}`, "1:beta timeout\n", ""},
		{`{"pattern":"nothing here"}`, "", "no line matches"},
		{`{"pattern":"--pre=x"}`, "", "no line matches"},
	} {
		r := mustAsk(t, a, "artifact_grep", c.args)
		if r.Text != c.want || c.note != "" && !noted(r, c.note) || c.note == "" && len(r.Notes) > 0 {
			t.Errorf("%s: %q %q; want %q %q", c.args, r.Text, r.Notes, c.want, c.note)
		}
	}
	for args, argument := range map[string]string{
		`{"pattern":"("}`: "pattern", `{}`: "pattern", `{"pattern":"a","flags":"g"}`: "flags", `{"pattern":"a","flags":"ii"}`: "flags",
		`{"pattern":"a","maxResults":0}`: "maxResults", `{"pattern":"a","start":3,"end":2}`: "end", `{"pattern":"a\nb"}`: "pattern",
		`{"pattern":"a","ignore_case":true}`: "ignore_case",
	} {
		_, err := ask(t, a, "artifact_grep", args)
		var ae *ArgumentError
		if !errors.As(err, &ae) || ae.Argument != argument {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestGrepPagesGiveEverything(t *testing.T) {
	s := newStore(t, Options{MaxResultBytes: MinResultBytes})
	var content, want strings.Builder
	for i := range 3000 {
		line := fmt.Sprintf("line %d has a needle", i)
		if i%3 == 0 {
			line = fmt.Sprintf("line %d has none", i)
		} else {
			fmt.Fprintf(&want, "%d:%s\n", i, line)
		}
		content.WriteString(line + "\n")
	}
	a := fileArtifact(t, s, "f", content.String())
	next := regexp.MustCompile(`start (\d+)`)
	var got strings.Builder
	for start, pages := "0", 0; ; pages++ {
		r := mustAsk(t, a, "artifact_grep", `{"pattern":"needle","start":`+start+`}`)
		got.WriteString(r.Text)
		if len(r.String()) > MinResultBytes || pages > 100 {
			t.Fatal("no end, or a result too long")
		}
		m := next.FindStringSubmatch(strings.Join(r.Notes, "\n"))
		if r.Truncated != (m != nil) {
			t.Fatalf("cut %v, notes %q", r.Truncated, r.Notes)
		}
		if m == nil {
			break
		}
		start = m[1]
	}
	if got.String() != want.String() {
		t.Errorf("%d bytes, want %d", got.Len(), want.Len())
	}
}

func FuzzGrepArguments(f *testing.F) {
	s := newStore(f, Options{MaxResultBytes: MinResultBytes})
	var content strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&content, "line %d of Some\tText é\xff\x00\r\n", i*i)
	}
	a := fileArtifact(f, s, "f", content.String())
	f.Add("line \\d+", "i", int64(0), int64(100), int64(5))
	f.Add("(?s)a.*z|^$", "ms", int64(-1), int64(1<<62), int64(0))
	f.Add("[^\\n]\\bText$", "u", int64(1999), int64(2000), int64(1))
	f.Fuzz(func(t *testing.T, pattern, flags string, start, end, n int64) {
		args := fmt.Sprintf(`{"pattern":%s,"flags":%s,"start":%d,"end":%d,"maxResults":%d}`, quoteJSON(pattern), quoteJSON(flags), start, end, n)
		r, err := ask(t, a, "artifact_grep", args)
		if err != nil {
			var ae *ArgumentError
			if !errors.As(err, &ae) {
				t.Fatalf("%s: %v", args, err)
			}
			return
		}
		if len(r.String()) > MinResultBytes || !utf8.ValidString(r.String()) {
			t.Fatalf("%s: a result of %d bytes", args, len(r.String()))
		}
		if got := int64(strings.Count(r.Text, "\n")); !strings.Contains(flags, "s") && got > n {
			t.Fatalf("%s: %d results", args, got)
		}
	})
}
