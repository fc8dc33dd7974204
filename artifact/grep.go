package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/sandboxctl/sandboxctl/artifact/internal/match"
)

// GrepArgs are the arguments of artifact_grep.
type GrepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"required" jsonschema_description:"Regular expression in RE2 syntax: no lookaround, no backreferences."`
	Flags      string `json:"flags" jsonschema:"pattern=^[imsu]*$" jsonschema_description:"Letters: i any case; m ^ and $ at line ends (always so without s); s . matches line ends too and a match may span lines; u Unicode (always so)."`
	MaxResults *int64 `json:"maxResults" jsonschema:"minimum=1" jsonschema_description:"Stop after so many matching lines. Default: no limit but the size of the result."`
	Start      *int64 `json:"start" jsonschema:"minimum=0" jsonschema_description:"First line to search, from 0. Default 0."`
	End        *int64 `json:"end" jsonschema:"minimum=0" jsonschema_description:"Line after the last to search. Default: all lines."`
}

// Grep returns the lines that match, each as "NUMBER:LINE" with numbers from 0. A matching line longer than 2 KiB
// is shown in part.
func (a *Artifact) Grep(ctx context.Context, args GrepArgs) (Result, error) {
	p, err := match.Compile(args.Pattern, args.Flags)
	if err != nil {
		var me *match.Error
		if errors.As(err, &me) && me.Flags {
			return Result{}, &ArgumentError{Argument: "flags", Reason: me.Reason}
		}
		return Result{}, &ArgumentError{Argument: "pattern", Reason: err.Error()}
	}
	return a.run(ctx, func(v *view, out *output) error {
		span, err := v.span(ctx, args.Start, args.End)
		if err != nil {
			return err
		}
		g := grepping{out: out, max: valueOr(args.MaxResults, 0)}
		lim := match.Limits{Matches: int(min(g.max, 1<<30)), Bytes: out.left()}
		if err := p.Scan(ctx, v, span, lim, g.add); err != nil {
			return err
		}
		g.finish()
		return nil
	})
}

// span resolves a range of lines to bytes.
func (v *view) span(ctx context.Context, start, end *int64) (match.Span, error) {
	s := match.Span{Line: valueOr(start, 0), End: v.size}
	if end != nil && *end < s.Line {
		return s, &ArgumentError{Argument: "end", Reason: fmt.Sprintf("%d is before start, which is %d", *end, s.Line)}
	}
	var err error
	if s.Start, _, err = v.lines.Offset(ctx, s.Line); err != nil {
		return s, err
	}
	if end != nil {
		s.End, _, err = v.lines.Offset(ctx, *end)
	}
	return s, err
}

// grepping collects the matches of one search.
type grepping struct {
	out   *output
	max   int64
	found int64
	last  match.Match
	parts int64 // matches shown in part
	full  bool
}

// add reports whether to go on.
func (g *grepping) add(m match.Match) bool {
	mark, replaced := len(g.out.text), g.out.replaced
	if !g.line(m) {
		if g.found > 0 {
			g.out.text, g.out.replaced = g.out.text[:mark], replaced
			g.full = true
			return false
		}
		g.full = true // a first line that does not fit is shown as far as it does
	}
	g.found++
	g.last = m
	if m.Cut {
		g.parts++
	}
	return !g.full && (g.max == 0 || g.found < g.max)
}

// line writes a match, every line of it with its number, and reports whether all of it fitted.
func (g *grepping) line(m match.Match) bool {
	text, n := m.Text, m.Line
	for {
		line := text
		i := bytes.IndexByte(text, '\n')
		if i >= 0 {
			line, text = text[:i], text[i+1:]
		}
		prefix := strconv.FormatInt(n, 10) + ":"
		if m.TextStart > m.Start && n == m.Line {
			prefix += "…"
		}
		if !g.out.whole(prefix) || g.out.bytes(line) < len(line) || !g.out.whole("\n") {
			return false
		}
		if i < 0 {
			return true
		}
		n++
	}
}

func (g *grepping) finish() {
	out := g.out
	switch {
	case g.found == 0:
		out.note("no line matches")
	case g.full:
		out.cut = true
		out.note("cut after %d matches; for the rest use artifact_grep with start %d", g.found, g.last.LastLine+1)
	case g.max > 0 && g.found == g.max:
		out.note("stopped at maxResults %d; for more use start %d", g.max, g.last.LastLine+1)
	}
	if g.parts > 0 {
		out.note("%d matches are in long lines and shown in part, the last from byte %d on: artifact_cat with startByte shows more", g.parts, g.last.TextStart)
	}
}
