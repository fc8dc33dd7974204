package search_test

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/search"
	"github.com/sandboxctl/sandboxctl/tools/frame"
)

// recorder is a testing.T that keeps what fails.
type recorder struct {
	ctx    context.Context
	name   string
	failed *[]string
}

type stopped struct{}

func (r recorder) Helper()                  {}
func (r recorder) Context() context.Context { return r.ctx }
func (r recorder) Errorf(f string, args ...any) {
	*r.failed = append(*r.failed, r.name+": "+fmt.Sprintf(f, args...))
}
func (r recorder) Fatalf(f string, args ...any) { r.Errorf(f, args...); panic(stopped{}) }
func (r recorder) Run(name string, f func(recorder)) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, is := p.(stopped); !is {
				panic(p)
			}
		}
	}()
	before := len(*r.failed)
	f(recorder{r.ctx, name, r.failed})
	return len(*r.failed) == before
}

// broken is a good search with one fault.
type broken struct {
	search.Memory
	content func(ctx context.Context, m search.Memory, q search.ContentQuery) iter.Seq2[frame.Frame[search.Match], error]
	paths   func(ctx context.Context, m search.Memory, q search.PathQuery) iter.Seq2[frame.Frame[string], error]
}

func (b broken) SearchContent(ctx context.Context, q search.ContentQuery) iter.Seq2[frame.Frame[search.Match], error] {
	if b.content == nil {
		return b.Memory.SearchContent(ctx, q)
	}
	return b.content(ctx, b.Memory, q)
}

func (b broken) FindPaths(ctx context.Context, q search.PathQuery) iter.Seq2[frame.Frame[string], error] {
	if b.paths == nil {
		return b.Memory.FindPaths(ctx, q)
	}
	return b.paths(ctx, b.Memory, q)
}

type matches = iter.Seq2[frame.Frame[search.Match], error]

func TestTheSuiteFindsFaults(t *testing.T) {
	content := func(change func(*search.ContentQuery), frames func(matches) matches) broken {
		return broken{content: func(ctx context.Context, m search.Memory, q search.ContentQuery) matches {
			if change != nil {
				change(&q)
			}
			out := m.SearchContent(ctx, q)
			if frames != nil {
				out = frames(out)
			}
			return out
		}}
	}
	paths := func(change func(*search.PathQuery)) broken {
		return broken{paths: func(ctx context.Context, m search.Memory, q search.PathQuery) iter.Seq2[frame.Frame[string], error] {
			change(&q)
			return m.FindPaths(ctx, q)
		}}
	}
	for _, c := range []struct {
		name   string
		fault  broken
		caught string // a case that must fail
	}{
		{"no done frame", content(nil, func(in matches) matches {
			return func(yield func(frame.Frame[search.Match], error) bool) {
				for f, err := range in {
					if f.Done == nil && !yield(f, err) {
						return
					}
				}
			}
		}), "content/nothing"},
		{"two done frames", content(nil, func(in matches) matches {
			return func(yield func(frame.Frame[search.Match], error) bool) {
				for f, err := range in {
					if !yield(f, err) || f.Done != nil && !yield(f, err) {
						return
					}
				}
			}
		}), "content/nothing"},
		{"eager", content(nil, func(in matches) matches {
			type pair struct {
				f   frame.Frame[search.Match]
				err error
			}
			var all []pair
			for f, err := range in {
				all = append(all, pair{f, err})
			}
			return func(yield func(frame.Frame[search.Match], error) bool) {
				for _, p := range all {
					if !yield(p.f, p.err) {
						return
					}
				}
			}
		}), "cancel"},
		{"a hidden limit", content(func(q *search.ContentQuery) {
			if q.Limit == nil {
				q.Limit = new(100)
			}
		}, nil), "lazy"},
		{"no limit", content(func(q *search.ContentQuery) { q.Limit = nil }, nil), "content/limit exceeded"},
		{"no depth", content(func(q *search.ContentQuery) { q.MaxDepth = nil }, nil), "content/depth one"},
		{"always literal", content(func(q *search.ContentQuery) { q.Literal = true }, nil), "content/a regular expression"},
		{"never literal", content(func(q *search.ContentQuery) { q.Literal = false }, nil), "content/literal dot"},
		{"always without case", content(func(q *search.ContentQuery) { q.IgnoreCase = true }, nil), "content/every match with its place"},
		{"hidden always", content(func(q *search.ContentQuery) { q.Hidden = true }, nil), "content/hidden and ignored are left out"},
		{"no globs", content(func(q *search.ContentQuery) { q.Glob = "" }, nil), "content/a glob that leaves out"},
		{"follow is ignored", content(func(q *search.ContentQuery) { q.Follow = false }, nil), "follow"},
		{"deaf to its context", broken{content: func(_ context.Context, m search.Memory, q search.ContentQuery) matches {
			return m.SearchContent(t.Context(), q)
		}}, "cancel"},
		{"ignored files always", paths(func(q *search.PathQuery) { q.NoIgnore = true }), "paths/hidden and ignored are left out"},
		{"a glob is a part of a name", paths(func(q *search.PathQuery) { q.Glob = strings.TrimSuffix(q.Glob, "*") + "*" }), "paths/a suffix is anchored and its dot is a dot"},
		{"case does not count", paths(func(q *search.PathQuery) { q.IGlob, q.Glob = q.Glob, "**" }), "paths/case counts"},
		{"limit 0 is none", paths(func(q *search.PathQuery) {
			if q.Limit != nil && *q.Limit < 1 {
				q.Limit = nil
			}
		}), "refused/limit -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var failed []string
			search.Conformance(recorder{ctx: t.Context(), failed: &failed}, func(_ recorder, tree fs.FS) search.Search {
				b := c.fault
				b.Memory = search.NewMemory(tree)
				return b
			})
			for _, f := range failed {
				if strings.HasPrefix(f, c.caught+": ") {
					return
				}
			}
			t.Errorf("not found by %q; failures: %q", c.caught, failed)
		})
	}
}
