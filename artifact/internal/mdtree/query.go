package mdtree

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Heading is a heading. A section goes from it to the next heading of its depth or less.
type Heading struct {
	Depth     int    `json:"depth"` // 1 to 6
	Text      string `json:"text"`
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`  // of its section
	BodyLine  int    `json:"bodyLine"` // the line after the heading
}

// Headings returns the headings of the document itself; those inside of quotes and lists open no section and are
// left out.
func (d *Doc) Headings() []Heading {
	var out []Heading
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		start := d.line(h)
		out = append(out, Heading{Depth: h.Level, Text: d.plain(h), StartLine: start, EndLine: len(d.starts), BodyLine: d.headingEnd(h, start)})
	}
	var open []int // headings whose section has no end yet
	for i := range out {
		for len(open) > 0 && out[open[len(open)-1]].Depth >= out[i].Depth {
			out[open[len(open)-1]].EndLine = out[i].StartLine
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	return out
}

// headingEnd returns the line after a heading: after its underline if it has one.
func (d *Doc) headingEnd(h *ast.Heading, start int) int {
	end := start + 1
	if l := h.Lines(); l.Len() > 0 {
		end = d.lineOf(l.At(l.Len()-1).Start) + 1
	}
	first := bytes.TrimLeft(d.lineText(start), " ")
	if !bytes.HasPrefix(first, []byte("#")) || h.Lines().Len() > 1 {
		if rest := bytes.Trim(d.lineText(end), " \t\r\n"); len(rest) > 0 && len(bytes.Trim(rest, string(rest[:1]))) == 0 && (rest[0] == '=' || rest[0] == '-') {
			end++
		}
	}
	return min(end, len(d.starts))
}

func (d *Doc) lineText(line int) []byte {
	if line < 0 || line >= len(d.starts) {
		return nil
	}
	end := len(d.src)
	if line+1 < len(d.starts) {
		end = d.starts[line+1]
	}
	return d.src[d.starts[line]:end]
}

// CodeBlock is a fenced or an indented code block.
type CodeBlock struct {
	Lang          string `json:"lang"` // empty when it has none
	StartLine     int    `json:"startLine"`
	EndLine       int    `json:"endLine"`
	BodyStartLine int    `json:"bodyStartLine"` // without the fences
	BodyEndLine   int    `json:"bodyEndLine"`
}

// CodeBlocks returns the code blocks, those in quotes and lists too.
func (d *Doc) CodeBlocks() []CodeBlock {
	var out []CodeBlock
	d.walk(func(n ast.Node) {
		var b CodeBlock
		fenced, ok := n.(*ast.FencedCodeBlock)
		if ok {
			b.Lang = string(fenced.Language(d.source()))
			b.StartLine = d.line(n)
			b.BodyStartLine = b.StartLine + 1
		} else if n.Kind() == ast.KindCodeBlock {
			b.StartLine = d.line(n)
			b.BodyStartLine = b.StartLine
		} else {
			return
		}
		b.BodyEndLine = b.BodyStartLine
		if l := n.Lines(); l.Len() > 0 {
			b.BodyEndLine = d.lineOf(l.At(l.Len()-1).Start) + 1
		}
		b.EndLine = b.BodyEndLine
		// The closing fence is not in the tree, and a block at the end may have none.
		if fenced != nil && isFence(d.lineText(b.BodyEndLine)) {
			b.EndLine++
		}
		out = append(out, b)
	})
	return out
}

func isFence(line []byte) bool {
	line = bytes.Trim(line, " \t\r\n>")
	return len(line) >= 3 && (len(bytes.Trim(line, "`")) == 0 || len(bytes.Trim(line, "~")) == 0)
}

// Link is a link or an image.
type Link struct {
	Text  string `json:"text"`
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	Line  int    `json:"line"`
}

// Links returns the links, autolinks included, whose line is in [from, to).
func (d *Doc) Links(from, to int) []Link {
	return d.links(from, to, func(n ast.Node) (Link, bool) {
		switch n := n.(type) {
		case *ast.Link:
			return Link{Text: d.plain(n), URL: string(n.Destination), Title: string(n.Title)}, true
		case *ast.AutoLink:
			return Link{Text: string(n.Label(d.source())), URL: string(n.URL(d.source()))}, true
		}
		return Link{}, false
	})
}

// Images returns the images whose line is in [from, to). The text is the alternative one.
func (d *Doc) Images(from, to int) []Link {
	return d.links(from, to, func(n ast.Node) (Link, bool) {
		if n, ok := n.(*ast.Image); ok {
			return Link{Text: d.plain(n), URL: string(n.Destination), Title: string(n.Title)}, true
		}
		return Link{}, false
	})
}

func (d *Doc) links(from, to int, of func(ast.Node) (Link, bool)) []Link {
	var out []Link
	d.walk(func(n ast.Node) {
		l, ok := of(n)
		if !ok {
			return
		}
		if l.Line = d.line(n); l.Line >= from && l.Line < to {
			out = append(out, l)
		}
	})
	return out
}

// Text returns the text without markup of the blocks that begin in [from, to), one block a paragraph.
func (d *Doc) Text(from, to int) string {
	var b strings.Builder
	d.walk(func(n ast.Node) {
		if n.Type() != ast.TypeBlock {
			return
		}
		if line := d.line(n); line < from || line >= to {
			return
		}
		switch {
		case n.Kind() == ast.KindCodeBlock, n.Kind() == ast.KindFencedCodeBlock:
			for i := range n.Lines().Len() {
				seg := n.Lines().At(i)
				b.Write(seg.Value(d.source()))
			}
		case n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline:
			d.writePlain(&b, n, '\n')
			if n.Kind().String() == "TableCell" && n.NextSibling() != nil {
				b.WriteByte('\t')
				return
			}
			b.WriteByte('\n')
		default:
			return
		}
		if p := n.Parent(); n.Kind() != ast.KindTextBlock && p != nil && !strings.HasPrefix(p.Kind().String(), "Table") {
			b.WriteByte('\n')
		}
	})
	return strings.TrimRight(b.String(), "\n")
}

// walk calls visit for every node in document order.
func (d *Doc) walk(visit func(ast.Node)) {
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // no callback returns an error
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}
