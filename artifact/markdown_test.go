package artifact

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const page = "---\ntitle: T\ntags: [b, a]\n---\n# One <x>\n\ntext [l](u) ![i](p.png)\n\n## Two\n\n```go\ncode\n```\n\n    plain\n\n# Three\n"

func TestMarkdownQueriesByHand(t *testing.T) {
	s := newStore(t, Options{})
	a := fileArtifact(t, s, "p.md", page)
	for _, c := range []struct{ query, args, want, note string }{
		{"frontmatter", `{}`, "{\n  \"title\": \"T\",\n  \"tags\": [\n    \"b\",\n    \"a\"\n  ]\n}", ""},
		{"headings", `{}`, `{"depth":1,"text":"One","startLine":4,"endLine":16}
{"depth":2,"text":"Two","startLine":8,"endLine":16}
{"depth":1,"text":"Three","startLine":16,"endLine":17}
`, ""},
		{"headings", `{"depth":2}`, "{\"depth\":2,\"text\":\"Two\",\"startLine\":8,\"endLine\":16}\n", ""},
		{"headings", `{"depth":5}`, "", "there are no headings"},
		{"sections", `{"depth":1}`, `{"depth":1,"heading":"One","headingLine":4,"bodyStartLine":5,"bodyEndLine":16}
{"depth":1,"heading":"Three","headingLine":16,"bodyStartLine":17,"bodyEndLine":17}
`, ""},
		{"code_blocks", `{"lang":"go"}`, "{\"lang\":\"go\",\"startLine\":10,\"endLine\":13,\"bodyStartLine\":11,\"bodyEndLine\":12}\n", ""},
		{"code_blocks", `{"lang":""}`, "{\"lang\":\"\",\"startLine\":14,\"endLine\":15,\"bodyStartLine\":14,\"bodyEndLine\":15}\n", ""},
		{"links", `{}`, "{\"text\":\"l\",\"url\":\"u\",\"line\":6}\n", ""},
		{"links", `{"startLine":7}`, "", "there are no links"},
		{"images", `{"startLine":6,"endLine":7}`, "{\"text\":\"i\",\"url\":\"p.png\",\"line\":6}\n", ""},
		{"images", `{"startLine":400}`, "", "there are no images"},
		{"text", `{"startLine":8,"endLine":11}`, "Two\n\ncode", ""},
		{"ast", `{"startLine":16}`, "Heading @16 depth=1\n  Text @16 \"Three\"\n", ""},
	} {
		r := mustAsk(t, a, "artifact_md_"+c.query, c.args)
		if r.Text != c.want || c.note != "" && !noted(r, c.note) || c.note == "" && len(r.Notes) > 0 {
			t.Errorf("%s %s:\n got %q %q\nwant %q %q", c.query, c.args, r.Text, r.Notes, c.want, c.note)
		}
	}
	// The body lines are those that artifact_cat takes.
	if r := mustAsk(t, a, "artifact_cat", `{"start":11,"end":12}`); r.Text != "code\n" {
		t.Errorf("%q", r.Text)
	}
	if r := mustAsk(t, fileArtifact(t, s, "x.md", "no front matter"), "artifact_md_frontmatter", `{}`); r.Text != "" || !noted(r, "no front matter") {
		t.Errorf("%+v", r)
	}
	var fe *FormatError
	if _, err := ask(t, fileArtifact(t, s, "x.md", "---\na: [\n---\n"), "artifact_md_frontmatter", `{}`); !errors.As(err, &fe) || !strings.Contains(err.Error(), "line") {
		t.Errorf("%v", err)
	}
	var ae *ArgumentError
	if _, err := ask(t, a, "artifact_md_text", `{"startLine":3,"endLine":2}`); !errors.As(err, &ae) || ae.Argument != "endLine" {
		t.Errorf("%v", err)
	}
}

func TestLargeMarkdown(t *testing.T) {
	s := newStore(t, Options{MaxResultBytes: MinResultBytes, MaxMarkdownBytes: 1 << 20})
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "# Heading %d\n\nA [link](https://a.test/%d) and ![image](%d.png) €.\n\n```\nx\n```\n\n", i, i, i)
	}
	a := fileArtifact(t, s, "p.md", b.String())
	for _, q := range []string{"headings", "sections", "code_blocks", "links", "images", "text", "ast"} {
		r := mustAsk(t, a, "artifact_md_"+q, `{}`)
		if !r.Truncated || len(r.String()) > MinResultBytes || len(r.Text) < 1000 || !utf8.ValidString(r.Text) || len(r.Notes) == 0 {
			t.Errorf("%s: %d bytes, %q", q, len(r.Text), r.Notes)
		}
	}
	if r := mustAsk(t, a, "artifact_md_links", `{}`); !noted(r, "for the rest use startLine") {
		t.Errorf("%q", r.Notes)
	}
	var large *TooLargeError
	huge := fileArtifact(t, s, "h.md", "---\na: 1\n---\n"+strings.Repeat("word\n", 1<<20))
	if _, err := ask(t, huge, "artifact_md_headings", `{}`); !errors.As(err, &large) {
		t.Errorf("%v", err)
	}
	if r := mustAsk(t, huge, "artifact_md_frontmatter", `{}`); !strings.Contains(r.Text, `"a": 1`) {
		t.Errorf("front matter of a large file: %+v", r)
	}
}

func TestHostileMarkdownCanBeCancelled(t *testing.T) {
	s := newStore(t, Options{})
	a := fileArtifact(t, s, "p.md", strings.Repeat("[a](", 1<<20))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := a.MDLinks(ctx, MDLinksArgs{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	// The next document is parsed as ever.
	if r := mustAsk(t, fileArtifact(t, s, "q.md", "# A"), "artifact_md_headings", `{}`); !strings.Contains(r.Text, `"A"`) {
		t.Errorf("%+v", r)
	}
}

func FuzzMarkdown(f *testing.F) {
	s := newStore(f, Options{MaxResultBytes: MinResultBytes})
	f.Add(page, int64(0), int64(5))
	f.Add("> # q\n> - [x] a\n\n|a|\n|-|\n|b|\n", int64(1), int64(1<<40))
	f.Fuzz(func(t *testing.T, text string, start, end int64) {
		if len(text) > 5000 {
			return
		}
		sp, err := s.Spool(Meta{Kind: KindMarkdown})
		if err != nil {
			t.Fatal(err)
		}
		sp.Write([]byte(text))
		a, err := sp.Finish()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Remove(a.Handle().CallID)
		for _, q := range Queries() {
			if q.Family != "markdown" {
				continue
			}
			args := `{}`
			if strings.Contains(string(q.InputSchema), "startLine") {
				args = fmt.Sprintf(`{"startLine":%d,"endLine":%d}`, start, end)
			}
			r, err := ask(t, a, q.Name, args)
			var ae *ArgumentError
			var fe *FormatError
			if err != nil && !errors.As(err, &ae) && !errors.As(err, &fe) {
				t.Fatalf("%s of %q: %v", q.Name, text, err)
			}
			if len(r.String()) > MinResultBytes || !utf8.ValidString(r.String()) {
				t.Fatalf("%s of %q: a result of %d bytes", q.Name, text, len(r.String()))
			}
		}
	})
}
