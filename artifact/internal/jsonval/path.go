package jsonval

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

const (
	// MaxPath is the longest path that is accepted, in bytes.
	MaxPath = 4 << 10
	// maxVisits bounds the nodes that one evaluation looks at: "$..*..*" of a deep value looks at each many times.
	maxVisits = 20_000_000
)

// ErrTooManyNodes is returned when an evaluation would look at more nodes than it may.
var ErrTooManyNodes = errors.New("the path looks at too many nodes; use a narrower one, with fewer '..'")

// PathError says what is wrong with a path.
type PathError struct{ Msg string }

func (e *PathError) Error() string { return e.Msg }

// Path is a JSONPath query (RFC 9535). It is immutable and safe for concurrent use.
type Path struct {
	segments []*spec.Segment
	// root is set when a filter mentions '$', so that the root has to be shown to it.
	root bool
	// again is set when a filter may meet the same value more than once.
	again bool
	// deep is set when a filter goes through what lies below a value: the library that evaluates filters has no
	// bound of its own, so the walker counts for it.
	deep     bool
	singular bool
}

// ParsePath parses a path. The error is a *PathError.
func ParsePath(text string) (*Path, error) {
	if len(text) > MaxPath {
		return nil, &PathError{fmt.Sprintf("the path is %d bytes long; at most %d are accepted", len(text), MaxPath)}
	}
	if !strings.HasPrefix(text, "$") {
		return nil, &PathError{fmt.Sprintf("a path starts with '$', which is the whole value: %q, %q or %q", "$.name", "$[0]", "$..name")}
	}
	parsed, err := jsonpath.Parse(text)
	if err != nil {
		return nil, &PathError{strings.TrimPrefix(err.Error(), "jsonpath: ") + " (the syntax is RFC 9535)"}
	}
	q := parsed.Query()
	p := &Path{segments: q.Segments(), singular: q.Singular() != nil}
	for _, seg := range p.segments {
		for _, sel := range seg.Selectors() {
			if f, ok := sel.(*spec.FilterSelector); ok {
				expr := f.String()
				if strings.Count(expr, "..") > 1 {
					return nil, &PathError{"more than one '..' inside a filter"}
				}
				p.again = p.again || seg.IsDescendant()
				p.root = p.root || strings.Contains(expr, "$")
				p.deep = p.deep || strings.Contains(expr, "..") || strings.Contains(expr, "*")
			}
		}
	}
	return p, nil
}

// Singular reports whether the path can select one node at most.
func (p *Path) Singular() bool { return p.singular }

// SelectsChildren reports whether the first thing the path does is to go through the elements of the root.
func (p *Path) SelectsChildren() bool {
	if len(p.segments) == 0 || p.segments[0].IsDescendant() {
		return false
	}
	switch p.segments[0].Selectors()[0].(type) {
	case spec.WildcardSelector, spec.Index, spec.SliceSelector, *spec.FilterSelector:
		return true
	}
	return false
}

// Place is where a node is. Places share their parents; nil is the root.
type Place struct {
	parent *Place
	name   string
	index  int // -1 for a member
}

// String returns the normalized path (RFC 9535, section 2.7).
func (p *Place) String() string {
	if p == nil {
		return "$"
	}
	if p.index >= 0 {
		return p.parent.String() + "[" + strconv.Itoa(p.index) + "]"
	}
	return p.parent.String() + spec.Normalized(spec.Name(p.name)).String()[1:]
}

// Select calls emit with each node that the path selects in root, in document order, until emit returns false.
// The error is that of ctx, or ErrTooManyNodes.
func (p *Path) Select(ctx context.Context, root any, emit func(*Place, any) bool) error {
	w := &walker{ctx: ctx, path: p, emit: emit, deep: p.deep}
	if p.root {
		w.root, w.whole = w.plain(root), root
	}
	w.segment(0, root, nil)
	return w.err
}

// walker evaluates one path depth first. RFC 9535 defines a segment over a whole list of nodes; since lists are
// joined in order, following each node to the end before the next gives the same list, without holding it.
type walker struct {
	ctx    context.Context
	path   *Path
	root   any // as filters see it
	whole  any // the root itself, when filters see it
	deep   bool
	emit   func(*Place, any) bool
	visits int
	err    error
	memo   map[*Object]map[string]any
}

// visit counts a node and reports whether to go on.
func (w *walker) visit() bool {
	w.visits++
	switch {
	case w.err != nil:
	case w.visits > maxVisits:
		w.err = ErrTooManyNodes
	case w.visits%4096 == 0:
		w.err = w.ctx.Err()
	}
	return w.err == nil
}

// segment applies the segments from i on to one node. It reports whether to go on.
func (w *walker) segment(i int, v any, at *Place) bool {
	if !w.visit() {
		return false
	}
	if i == len(w.path.segments) {
		return w.emit(at, v)
	}
	seg := w.path.segments[i]
	next := func(v any, at *Place) bool { return w.segment(i+1, v, at) }
	for _, sel := range seg.Selectors() {
		if !w.children(sel, v, at, next) {
			return false
		}
	}
	if !seg.IsDescendant() {
		return true
	}
	return w.children(spec.Wildcard(), v, at, func(v any, at *Place) bool {
		switch v.(type) {
		case *Array, *Object:
			return w.segment(i, v, at)
		}
		return true
	})
}

// children calls next for the children of v that one selector selects.
func (w *walker) children(sel spec.Selector, v any, at *Place, next func(any, *Place) bool) bool {
	switch v := v.(type) {
	case *Array:
		return w.elements(sel, v, at, next)
	case *Object:
		return w.members(sel, v, at, next)
	}
	return true
}

func (w *walker) elements(sel spec.Selector, a *Array, at *Place, next func(any, *Place) bool) bool {
	n := len(a.Elems)
	element := func(i int) bool { return next(a.Elems[i], &Place{parent: at, index: i}) }
	switch sel := sel.(type) {
	case spec.Index:
		i := int(sel)
		if i < 0 {
			i += n
		}
		return i < 0 || i >= n || element(i)
	case spec.SliceSelector:
		low, high := sel.Bounds(n)
		step := sel.Step()
		switch {
		case step > 0:
			for i := low; i < high; i += step {
				if !element(i) {
					return false
				}
			}
		case step < 0:
			for i := high; i > low; i += step {
				if !element(i) {
					return false
				}
			}
		}
	case spec.WildcardSelector:
		for i := range n {
			if !element(i) {
				return false
			}
		}
	case *spec.FilterSelector:
		for i, e := range a.Elems {
			if !w.visit() || w.keeps(sel, e) && !element(i) {
				return false
			}
		}
	}
	return true
}

func (w *walker) members(sel spec.Selector, o *Object, at *Place, next func(any, *Place) bool) bool {
	switch sel := sel.(type) {
	case spec.Name:
		if v, ok := o.Get(string(sel)); ok {
			return next(v, &Place{parent: at, name: string(sel), index: -1})
		}
	case spec.WildcardSelector:
		for i, v := range o.Vals {
			if !next(v, &Place{parent: at, name: o.Keys[i], index: -1}) {
				return false
			}
		}
	case *spec.FilterSelector:
		for i, v := range o.Vals {
			if !w.visit() || w.keeps(sel, v) && !next(v, &Place{parent: at, name: o.Keys[i], index: -1}) {
				return false
			}
		}
	}
	return true
}
