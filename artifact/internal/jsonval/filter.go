package jsonval

import (
	"context"

	"github.com/theory/jsonpath/spec"
)

// Filter returns a test of single values when the path is "$[?expr]" and nothing else.
func (p *Path) Filter() (*Filter, bool) {
	if len(p.segments) != 1 || p.segments[0].IsDescendant() || len(p.segments[0].Selectors()) != 1 {
		return nil, false
	}
	f, ok := p.segments[0].Selectors()[0].(*spec.FilterSelector)
	return &Filter{sel: f, root: p.root, deep: p.deep}, ok
}

func (w *walker) keeps(f *spec.FilterSelector, v any) bool {
	node := w.plain(v)
	if w.deep {
		w.count(v)
		w.count(w.whole)
	}
	return w.err == nil && f.Eval(node, w.root)
}

// count visits all nodes of v, as a filter may.
func (w *walker) count(v any) {
	var below []any
	switch v := v.(type) {
	case *Array:
		below = v.Elems
	case *Object:
		below = v.Vals
	}
	for _, v := range below {
		if !w.visit() {
			return
		}
		w.count(v)
	}
}

// plain returns a value in the types that filters know. Below '..' objects are converted once and kept.
func (w *walker) plain(v any) any {
	switch v := v.(type) {
	case *Array:
		out := make([]any, 0, len(v.Elems))
		for _, e := range v.Elems {
			if !w.visit() {
				return nil
			}
			out = append(out, w.plain(e))
		}
		return out
	case *Object:
		if m, ok := w.memo[v]; ok {
			return m
		}
		m := make(map[string]any, len(v.Keys))
		for i, k := range v.Keys {
			if !w.visit() {
				return nil
			}
			m[k] = w.plain(v.Vals[i])
		}
		if w.path != nil && w.path.again {
			if w.memo == nil {
				w.memo = make(map[*Object]map[string]any)
			}
			w.memo[v] = m
		}
		return m
	}
	return v
}

// Filter tests single values by a filter expression in which '@' is the value.
type Filter struct {
	sel        *spec.FilterSelector
	root, deep bool
}

// Keeps reports whether the filter holds for v. '$' in the expression is v as well.
func (f *Filter) Keeps(ctx context.Context, v any) (bool, error) {
	w := &walker{ctx: ctx, deep: f.deep}
	if f.root {
		w.root, w.whole = w.plain(v), v
	}
	return w.keeps(f.sel, v), w.err
}
