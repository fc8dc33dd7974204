package mdtree

import (
	"bytes"
	"context"
	"sort"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Doc is a parsed text. It is immutable and safe for concurrent use.
type Doc struct {
	src    []byte // all of it
	body   int    // where the Markdown begins, after the front matter
	root   ast.Node
	starts []int // where lines start
}

// Parse parses a text, which takes no longer than limit, or little. Any text is Markdown: the error is ErrTooHard or
// that of ctx.
func Parse(ctx context.Context, src []byte, limit time.Duration) (doc *Doc, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			doc, err = nil, r.err
		default:
			panic(r)
		}
	}()
	d := &Doc{src: src}
	_, d.body, _ = splitFrontMatter(string(src))
	for off := 0; off < len(src); {
		d.starts = append(d.starts, off)
		i := bytes.IndexByte(src[off:], '\n')
		if i < 0 {
			break
		}
		off += i + 1
	}
	g := &guard{ctx: ctx, until: time.Now().Add(limit)}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(g.options()...))
	d.root = md.Parser().Parse(text.NewReader(src[d.body:]))
	return d, nil
}

// Lines is the number of lines.
func (d *Doc) Lines() int { return len(d.starts) }

// lineOf returns the line that holds an offset of the body.
func (d *Doc) lineOf(off int) int {
	off += d.body
	return max(0, sort.SearchInts(d.starts, off+1)-1)
}

// source returns the Markdown, to which the offsets of nodes refer.
func (d *Doc) source() []byte { return d.src[d.body:] }

// line returns the first line of a node: its own place, or that of the first node in it that has one, or that of
// the node it is in.
func (d *Doc) line(n ast.Node) int {
	if off := position(n); off >= 0 {
		return d.lineOf(off)
	}
	for p := n.Parent(); p != nil; p = p.Parent() {
		if off := position(p); off >= 0 {
			return d.lineOf(off)
		}
	}
	return 0
}

// position returns the offset at which a node begins, or -1.
func position(n ast.Node) int {
	if t, ok := n.(*ast.Text); ok {
		return t.Segment.Start
	}
	if off := n.Pos(); off >= 0 && n.Kind() != ast.KindDocument {
		return off
	}
	if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
		return n.Lines().At(0).Start
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if off := position(c); off >= 0 {
			return off
		}
	}
	return -1
}

// plain returns the text of a node without markup. Line breaks become spaces.
func (d *Doc) plain(n ast.Node) string {
	var b strings.Builder
	d.writePlain(&b, n, ' ')
	return strings.TrimSpace(b.String())
}

func (d *Doc) writePlain(b *strings.Builder, n ast.Node, lineBreak byte) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(d.source()))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(lineBreak)
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(d.source()))
		case *ast.RawHTML:
		default:
			d.writePlain(b, c, lineBreak)
		}
	}
}
