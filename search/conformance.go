package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// T is what [Conformance] needs of a *testing.T. It is spelled out here so that no program links the package testing.
type T[Self any] interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
	Run(name string, f func(Self)) bool
}

// Conformance checks that a Search keeps the contract. open makes one over a tree of regular files and links; what it
// needs cleaned up it hands to t. Names of the tree are UTF-8 and hold spaces, line feeds and leading hyphens.
//
//	func TestConformance(t *testing.T) { search.Conformance(t, openMySearch) }
func Conformance[Self T[Self]](t Self, open func(t Self, tree fs.FS) Search) {
	for _, c := range contentCases {
		t.Run("content/"+c.name, func(t Self) { c.run(t, open(t, c.tree.fs())) })
	}
	for _, c := range pathCases {
		t.Run("paths/"+c.name, func(t Self) { c.run(t, open(t, c.tree.fs())) })
	}
	for _, c := range refusals {
		t.Run("refused/"+c.name, func(t Self) { c.run(t, open(t, plainTree.fs())) })
	}
	t.Run("follow", func(t Self) { checkFollow(t, open(t, linkTree.fs())) })
	t.Run("bytes", func(t Self) { checkBytes(t, open(t, byteTree.fs())) })
	t.Run("lazy", func(t Self) { checkLazy(t, open(t, manyTree().fs())) })
	t.Run("cancel", func(t Self) { checkCancel(t, open(t, manyTree().fs())) })
	t.Run("concurrent", func(t Self) { checkConcurrent(t, open(t, plainTree.fs())) })
}

// tree is a tree of files: path to content. A path that ends in "@" is a link to what the content names.
type tree map[string]string

func (t tree) fs() fs.FS {
	m := fstest.MapFS{}
	for name, content := range t {
		if link, ok := strings.CutSuffix(name, "@"); ok {
			m[link] = &fstest.MapFile{Data: []byte(content), Mode: fs.ModeSymlink | 0o777}
		} else {
			m[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
		}
	}
	return m
}

// failer is a T of any kind.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

// outcomeOf runs a sequence to its end and gives what came, sorted, with the shape of its end as the last element.
func outcomeOf[Item any](t failer, frames iter.Seq2[frame.Frame[Item], error], show func(Item) string) []string {
	t.Helper()
	var got []string
	done, err := frame.Each(frames, func(item Item) error {
		got = append(got, show(item))
		return nil
	})
	if err != nil {
		t.Fatalf("after %d items: %v", len(got), err)
	}
	slices.Sort(got)
	return append(got, end(done))
}

func end(d frame.Done) string {
	if d.Complete {
		return "complete"
	}
	return "bound " + string(d.Bound)
}

func showMatch(m Match) string {
	spans := make([]string, len(m.Spans))
	for i, s := range m.Spans {
		spans[i] = fmt.Sprintf("%d-%d", s.Start, s.End)
	}
	return fmt.Sprintf("%s:%d:%s:%s", m.Path, m.Line, m.Text, strings.Join(spans, ","))
}

func showPath(name string) string { return name }

func same(t failer, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

type contentCase struct {
	name  string
	tree  tree
	query ContentQuery
	want  []string // showMatch of the items, sorted, and end
}

func (c contentCase) run(t failer, s Search) {
	t.Helper()
	same(t, outcomeOf(t, s.SearchContent(t.Context(), c.query), showMatch), c.want)
}

type pathCase struct {
	name  string
	tree  tree
	query PathQuery
	want  []string
}

func (c pathCase) run(t failer, s Search) {
	t.Helper()
	same(t, outcomeOf(t, s.FindPaths(t.Context(), c.query), showPath), c.want)
}

type refusal struct {
	name    string
	content *ContentQuery
	paths   *PathQuery
	want    outcome.Outcome
}

func (c refusal) run(t failer, s Search) {
	t.Helper()
	var items int
	var err error
	if c.content != nil {
		_, err = frame.Each(s.SearchContent(t.Context(), *c.content), func(Match) error { items++; return nil })
	} else {
		_, err = frame.Each(s.FindPaths(t.Context(), *c.paths), func(string) error { items++; return nil })
	}
	if got := outcome.Of(err, ""); items != 0 || got == nil || got.Outcome != c.want {
		t.Errorf("%d items and the error %v; want no item and the outcome %v", items, err, c.want)
	}
}

func checkFollow(t failer, s Search) {
	t.Helper()
	// A link is not followed unless it was asked for, and then only by a Search that declares it.
	same(t, outcomeOf(t, s.SearchContent(t.Context(), ContentQuery{Pattern: "needle"}), showMatch), []string{"real/f:1:needle:0-6", "complete"})
	same(t, outcomeOf(t, s.FindPaths(t.Context(), PathQuery{Glob: "*"}), showPath), []string{"real/f", "complete"})
	if s.SupportsFollow() {
		same(t, outcomeOf(t, s.FindPaths(t.Context(), PathQuery{Glob: "*", Scope: Scope{Follow: true}}), showPath), []string{"link/f", "real/f", "complete"})
		return
	}
	refusal{content: &ContentQuery{Pattern: "needle", Scope: Scope{Follow: true}}, want: outcome.InvalidArguments}.run(t, s)
	refusal{paths: &PathQuery{Glob: "*", Scope: Scope{Follow: true}}, want: outcome.InvalidArguments}.run(t, s)
}

func checkBytes(t failer, s Search) {
	t.Helper()
	texts := map[string]Match{}
	_, err := frame.Each(s.SearchContent(t.Context(), ContentQuery{Pattern: "needle"}), func(m Match) error {
		texts[m.Path] = m
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for name, want := range map[string]string{"latin1": "\xe9t\xe9 needle", "crlf": "needle\r", "noeol": "needle", "controls": "\tneedle \x1b[31m\"\\\u2028"} {
		if got := string(texts[name].Text); got != want {
			t.Errorf("%s: text %q; want %q", name, got, want)
		}
	}
	if m := texts["exact"]; m.Cut || len(m.Text) != MaxText {
		t.Errorf("a line of MaxText bytes: cut %v, %d bytes", m.Cut, len(m.Text))
	}
	if m := texts["over"]; !m.Cut || m.TextStart != 0 || len(m.Text) != MaxText {
		t.Errorf("a line of one byte more: cut %v, %d bytes from %d", m.Cut, len(m.Text), m.TextStart)
	}
	if m := texts["far"]; !m.Cut || m.TextStart != 1<<20 || string(m.Text) != "needle" || len(m.Spans) != 1 || m.Spans[0] != (Span{1 << 20, 1<<20 + 6}) {
		t.Errorf("a match beyond MaxText: cut %v, text %.20q from %d, spans %v", m.Cut, m.Text, m.TextStart, m.Spans)
	}
	if m := texts["often"]; len(m.Spans) != MaxSpans {
		t.Errorf("a line of 1000 matches: %d spans; want %d", len(m.Spans), MaxSpans)
	}
	if _, there := texts["binary"]; there {
		t.Errorf("a file with a NUL byte at its beginning was searched")
	}
}

func checkLazy(t failer, s Search) {
	t.Helper()
	// Nothing of a query is looked at before the range statement: not even what is wrong with it.
	_ = s.SearchContent(t.Context(), ContentQuery{Pattern: "("})
	frames := s.SearchContent(t.Context(), ContentQuery{Pattern: "needle"})
	for range 2 { // each range is a search of its own
		got := 0
		for f, err := range frames {
			if err != nil || f.Done != nil {
				t.Fatalf("frame %d: %+v, %v; want an item", got, f, err)
			}
			if got++; got == 3 {
				break
			}
		}
		if got != 3 {
			t.Fatalf("%d items before the stop; want 3", got)
		}
	}
	limited := outcomeOf(t, s.FindPaths(t.Context(), PathQuery{Glob: "f*", Scope: Scope{Limit: new(7)}}), showPath)
	if len(limited) != 8 || limited[7] != "bound limit" {
		t.Errorf("a limit of 7 gives %q", limited)
	}
	if got := outcomeOf(t, frames, showMatch); len(got) != manyFiles+1 {
		t.Errorf("%d items after two early stops; want %d", len(got)-1, manyFiles)
	}
}

func checkCancel(t failer, s Search) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	items := 0
	var last error
	for f, err := range s.SearchContent(ctx, ContentQuery{Pattern: "needle"}) {
		switch {
		case last != nil:
			t.Fatalf("a frame after the error: %+v", f)
		case err != nil:
			last = err
		case items == 1:
			t.Fatalf("a frame after the cancel: %+v", f)
		default:
			items++
			cancel()
		}
	}
	checkAborted(t, last)
	items = 0
	_, err := frame.Each(s.FindPaths(ctx, PathQuery{Glob: "*"}), func(string) error { items++; return nil })
	if items != 0 {
		t.Errorf("%d items with a context that had ended", items)
	}
	checkAborted(t, err)
}

func checkAborted(t failer, err error) {
	t.Helper()
	if e := outcome.Of(err, ""); e == nil || e.Outcome != outcome.Aborted || !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search ends with %v; want the outcome aborted", err)
	}
}

func checkConcurrent(t failer, s Search) {
	t.Helper()
	want := outcomeOf(t, s.SearchContent(t.Context(), ContentQuery{Pattern: "needle"}), showMatch)
	all := make([][]string, 8)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() {
			_, _ = frame.Each(s.SearchContent(t.Context(), ContentQuery{Pattern: "needle"}), func(m Match) error { // what is missing shows below
				all[i] = append(all[i], showMatch(m))
				return nil
			})
		})
	}
	wait.Wait()
	for _, got := range all {
		slices.Sort(got)
		same(t, append(got, "complete"), want)
	}
}
