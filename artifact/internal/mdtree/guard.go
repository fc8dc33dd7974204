package mdtree

import (
	"context"
	"errors"
	"time"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// ErrTooHard is returned for a text that takes too long to parse: nesting and unfinished links cost the square of
// their number, and a text can be made of nothing else.
var ErrTooHard = errors.New("the text takes too long to parse as Markdown: it nests too deeply or has too many unfinished links")

// stop is what guard panics with; Parse recovers it.
type stop struct{ err error }

// guard is a parser that never parses anything. It stands first in line for every character that another parser
// waits for, and looks at the clock, since goldmark itself cannot be stopped.
type guard struct {
	ctx   context.Context
	until time.Time
	calls int
}

func (g *guard) look() {
	if g.calls++; g.calls%64 != 0 {
		return
	}
	if err := g.ctx.Err(); err != nil {
		panic(stop{err})
	}
	if time.Now().After(g.until) {
		panic(stop{ErrTooHard})
	}
}

// options puts the guard in front of all other parsers.
func (g *guard) options() []parser.Option {
	return []parser.Option{
		parser.WithInlineParsers(util.Prioritized(guardInline{g}, -1)),
		parser.WithBlockParsers(util.Prioritized(guardBlock{g}, -1)),
	}
}

type guardInline struct{ *guard }

func (guardInline) Trigger() []byte { return []byte(" \n!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~hHfFwW") }

func (g guardInline) Parse(ast.Node, text.Reader, parser.Context) ast.Node {
	g.look()
	return nil
}

type guardBlock struct{ *guard }

func (guardBlock) Trigger() []byte { return []byte(">-+*0123456789<#`~=|: \t") }

func (g guardBlock) Open(ast.Node, text.Reader, parser.Context) (ast.Node, parser.State) {
	g.look()
	return nil, parser.NoChildren
}

func (guardBlock) Continue(ast.Node, text.Reader, parser.Context) parser.State { return parser.Close }
func (guardBlock) Close(ast.Node, text.Reader, parser.Context)                 {}
func (guardBlock) CanInterruptParagraph() bool                                 { return true }
func (guardBlock) CanAcceptIndentedLine() bool                                 { return true }
