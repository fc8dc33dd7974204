package mdtree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/sandboxctl/sandboxctl/artifact/internal/jsonval"
)

const sample = `---
title: Sample
date: 2024-05-01
tags: [b, a]
big: 123456789012345678901234567890
---
# Top *heading*

Intro with a [link](https://a.test "T") and <https://auto.test>
and https://bare.test/x.

## Second

` + "```go\nfunc main() {}\n```" + `

- item one
- [x] done ![pic](p.png)
  - nested ~~old~~

> ### In a quote
> quoted [ref][r]

Setext
======

    indented code
    more

| a | b |
|---|---|
| 1 | **2** |

~~~
unclosed
`

func TestHeadings(t *testing.T) {
	got := parse(t, sample).Headings()
	want := []Heading{
		{Depth: 1, Text: "Top heading", StartLine: 6, BodyLine: 7, EndLine: 24},
		{Depth: 2, Text: "Second", StartLine: 11, BodyLine: 12, EndLine: 24},
		{Depth: 1, Text: "Setext", StartLine: 24, BodyLine: 26, EndLine: 36},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestHeadingForms(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Heading
	}{
		{"", nil}, {"no heading", nil},
		{"#\n##  \n###### six ######\n####### seven", []Heading{{1, "", 0, 4, 1}, {2, "", 1, 4, 2}, {6, "six", 2, 4, 3}}},
		{"two\nlines\n---\nx\n# Y", []Heading{{2, "two lines", 0, 4, 3}, {1, "Y", 4, 5, 5}}},
		{"# a\n---\n# b\r\ntext\r\n", []Heading{{1, "a", 0, 2, 1}, {1, "b", 2, 4, 3}}},
		{"```\n# not\n```\n# yes", []Heading{{1, "yes", 3, 4, 4}}},
		{"---\n# not\n---\n# yes\n", []Heading{{1, "yes", 3, 4, 4}}},
		{"---\n# no front matter", []Heading{{1, "no front matter", 1, 2, 2}}},
		{"# `c` & <b>x</b> \\* ![alt](u)", []Heading{{1, "c & x \\* alt", 0, 1, 1}}},
	} {
		if got := parse(t, c.text).Headings(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q:\n got %+v\nwant %+v", c.text, got, c.want)
		}
	}
}

func TestCodeBlocks(t *testing.T) {
	got := parse(t, sample).CodeBlocks()
	want := []CodeBlock{
		{Lang: "go", StartLine: 13, EndLine: 16, BodyStartLine: 14, BodyEndLine: 15},
		{StartLine: 27, EndLine: 29, BodyStartLine: 27, BodyEndLine: 29},
		{StartLine: 34, EndLine: 36, BodyStartLine: 35, BodyEndLine: 36},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	got = parse(t, "x\n\n> ```py extra\n> a\n>\n> b\n> ```\n\n```\n```\ny").CodeBlocks()
	want = []CodeBlock{
		{Lang: "py", StartLine: 2, EndLine: 7, BodyStartLine: 3, BodyEndLine: 6},
		{StartLine: 8, EndLine: 10, BodyStartLine: 9, BodyEndLine: 9},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestLinksAndImages(t *testing.T) {
	doc := parse(t, sample+"~~~\n\n[r]: /target 'Ref'\n")
	want := []Link{
		{Text: "link", URL: "https://a.test", Title: "T", Line: 8},
		{Text: "https://auto.test", URL: "https://auto.test", Line: 8},
		{Text: "https://bare.test/x", URL: "https://bare.test/x", Line: 9},
		{Text: "ref", URL: "/target", Title: "Ref", Line: 22},
	}
	if got := doc.Links(0, doc.Lines()); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if got := doc.Links(9, 10); !reflect.DeepEqual(got, want[2:3]) {
		t.Errorf("links of line 9: %+v", got)
	}
	if got := doc.Images(0, doc.Lines()); !reflect.DeepEqual(got, []Link{{Text: "pic", URL: "p.png", Line: 18}}) {
		t.Errorf("images: %+v", got)
	}
}

func TestText(t *testing.T) {
	got := parse(t, sample).Text(0, 1000)
	want := `Top heading

Intro with a link and https://auto.test
and https://bare.test/x.

Second

func main() {}

item one
done pic
nested old
In a quote

quoted [ref][r]

Setext

indented code
more

a	b
1	2
unclosed`
	if got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if got := parse(t, sample).Text(11, 15); got != "Second\n\nfunc main() {}" {
		t.Errorf("lines 11 to 15: %q", got)
	}
}

func TestFrontMatter(t *testing.T) {
	for _, c := range []struct {
		text, want string
		ok         bool
	}{
		{sample, `{"title":"Sample","date":"2024-05-01","tags":["b","a"],"big":123456789012345678901234567890}`, true},
		{"---\n---\nx", "null", true},
		{"\ufeff---\r\na: 0x10\r\nb: .inf\r\nc: ~\r\nd: yes\r\ne: 1.50\r\n...\r\nx", `{"a":16,"b":Infinity,"c":null,"d":"yes","e":1.50}`, true},
		{"---\nx: &a [1]\ny: *a\n1: t\n---\n", `{"x":[1],"y":[1],"1":"t"}`, true},
		{"---\na: 1\n", "", false}, {"--- \na: 1\n---", `{"a":1}`, true}, {"x\n---\n", "", false}, {"----\n---\n", "", false}, {"", "", false}, {"---", "", false},
	} {
		v, ok, err := FrontMatter(c.text)
		if ok != c.ok || err != nil || ok && jsonval.Format(v, "") != c.want {
			t.Errorf("%.30q: %s, %v, %v; want %s", c.text, jsonval.Format(v, ""), ok, err, c.want)
		}
	}
	for text, says := range map[string]string{
		"---\na: [\n---\n":     "line",
		"---\na: b: c\n---\n":  "mapping",
		"---\na: &a [*a]\n---": "",
	} {
		if _, ok, err := FrontMatter(text); !ok || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
	}
	// Each line ten times the one before: aliases must not multiply.
	bomb := "---\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	if _, _, err := FrontMatter(bomb + "---\n"); err == nil {
		t.Error("a YAML bomb was read")
	}
}

func TestOutline(t *testing.T) {
	var b strings.Builder
	parse(t, "# A *b*\n\n- [x] c\n\n```go\nx\n```\n").Outline(0, 100, func(s string) bool { b.WriteString(s); return true })
	want := `Heading @0 depth=1
  Text @0 "A "
  Emphasis @0 level=1
    Text @0 "b"
List @2 ordered=false
  ListItem @2
    TextBlock @2
      TaskCheckBox @2 checked=true
      Text @2 "c"
FencedCodeBlock @4 lang="go" lines=1
`
	if b.String() != want {
		t.Errorf("\n got %s\nwant %s", b.String(), want)
	}
	b.Reset()
	parse(t, sample).Outline(11, 12, func(s string) bool { b.WriteString(s); return true })
	if b.String() != "Heading @11 depth=2\n  Text @11 \"Second\"\n" {
		t.Errorf("line 11: %q", b.String())
	}
	n := 0
	parse(t, sample).Outline(0, 100, func(string) bool { n++; return n < 3 })
	if n != 3 {
		t.Errorf("%d lines after a stop at 3", n)
	}
}

func parse(t *testing.T, text string) *Doc {
	t.Helper()
	d, err := Parse(t.Context(), []byte(text), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestHostileTextEnds(t *testing.T) {
	const n, limit = 1 << 20, 100 * time.Millisecond
	stopped := 0
	for _, unit := range []string{">", "[", "*a ", "- ", "`", "<", "![", "a_", "~", "|-", "[a](", "[a](b \"", "[a](<b", "\\", "&", "#", "1. ", "    ", "\t-", "[^a", "<!--", "www.", "http://a ", "a@b.c ", "> - ", "`a``b"} {
		start := time.Now()
		d, err := Parse(t.Context(), []byte(strings.Repeat(unit, n/len(unit))), limit)
		if took := time.Since(start); took > 40*limit {
			t.Errorf("%q took %v", unit, took)
		}
		if errors.Is(err, ErrTooHard) {
			stopped++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		d.Headings()
		d.CodeBlocks()
		d.Links(0, n)
		d.Text(0, n)
		d.Outline(0, n, func(string) bool { return true })
	}
	if stopped == 0 {
		t.Error("nothing was too hard: the guard is not in place")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Parse(ctx, []byte(strings.Repeat("[a](", 1000)), time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("---\na: &a [*a]\n---\n# x\n===\n")
	f.Add("> - ```\n> \tx\n>> | a |\n>> |---|\n\xff\x00")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		d := parse(t, text)
		var guarded, plain bytes.Buffer
		md := goldmark.New(goldmark.WithExtensions(extension.GFM))
		if err := errors.Join(md.Renderer().Render(&guarded, d.source(), d.root), md.Convert(d.source(), &plain)); err != nil {
			t.Fatal(err)
		}
		if guarded.String() != plain.String() {
			t.Fatalf("%q: the guard changed the tree:\n%s\n%s", text, guarded.String(), plain.String())
		}
		lines := d.Lines()
		for _, h := range d.Headings() {
			if h.StartLine < 0 || h.BodyLine <= h.StartLine || h.EndLine < h.BodyLine-1 || h.EndLine > lines || h.Depth < 1 || h.Depth > 6 {
				t.Fatalf("%q: heading %+v of %d lines", text, h, lines)
			}
		}
		for _, b := range d.CodeBlocks() {
			if b.StartLine < 0 || b.BodyStartLine < b.StartLine || b.BodyEndLine < b.BodyStartLine || b.EndLine < b.BodyEndLine || b.EndLine > lines+1 {
				t.Fatalf("%q: code block %+v of %d lines", text, b, lines)
			}
		}
		for _, l := range append(d.Links(0, lines), d.Images(0, lines)...) {
			if l.Line < 0 || l.Line >= lines {
				t.Fatalf("%q: link %+v of %d lines", text, l, lines)
			}
		}
		d.Text(0, lines)
		d.Outline(0, lines, func(s string) bool {
			if !utf8.ValidString(s) {
				t.Fatalf("%q: outline %q", text, s)
			}
			return true
		})
		if v, ok, err := FrontMatter(text); ok && err == nil {
			jsonval.Format(v, "")
		}
	})
}
