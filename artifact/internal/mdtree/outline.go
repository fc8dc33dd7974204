package mdtree

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// Outline writes the tree below the blocks that begin in [from, to), one node a line, indented by two spaces a
// level: the kind, its properties, "@LINE" and the text of a leaf. It stops when emit returns false.
func (d *Doc) Outline(from, to int, emit func(string) bool) {
	depth := 0
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // no callback returns an error
		if n.Kind() == ast.KindDocument {
			return ast.WalkContinue, nil
		}
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		depth++
		line := d.line(n)
		if n.Type() == ast.TypeBlock && (line < from || line >= to) && !d.reaches(n, from, to) {
			return ast.WalkSkipChildren, nil
		}
		if !emit(strings.Repeat("  ", depth-1) + d.describe(n, line) + "\n") {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
}

// reaches reports whether a block below n begins in [from, to).
func (d *Doc) reaches(n ast.Node, from, to int) bool {
	for c := n.FirstChild(); c != nil && c.Type() == ast.TypeBlock; c = c.NextSibling() {
		if line := d.line(c); line >= from && line < to || d.reaches(c, from, to) {
			return true
		}
	}
	return false
}

func (d *Doc) describe(n ast.Node, line int) string {
	s := fmt.Sprintf("%s @%d", n.Kind(), line)
	switch n := n.(type) {
	case *ast.Heading:
		s += fmt.Sprintf(" depth=%d", n.Level)
	case *ast.List:
		s += fmt.Sprintf(" ordered=%v", n.IsOrdered())
	case *ast.FencedCodeBlock:
		if lang := n.Language(d.source()); len(lang) > 0 {
			s += fmt.Sprintf(" lang=%q", lang)
		}
	case *ast.Link:
		s += fmt.Sprintf(" url=%q", n.Destination)
	case *ast.Image:
		s += fmt.Sprintf(" url=%q", n.Destination)
	case *ast.AutoLink:
		s += fmt.Sprintf(" url=%q", n.URL(d.source()))
	case *ast.Emphasis:
		s += fmt.Sprintf(" level=%d", n.Level)
	case *east.TaskCheckBox:
		s += fmt.Sprintf(" checked=%v", n.IsChecked)
	case *ast.Text:
		s += fmt.Sprintf(" %q", n.Segment.Value(d.source()))
	case *ast.String:
		s += fmt.Sprintf(" %q", n.Value)
	}
	if n.Type() == ast.TypeBlock && n.IsRaw() {
		s += fmt.Sprintf(" lines=%d", n.Lines().Len())
	}
	return s
}
