package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Memory searches an [fs.FS] in this process: for trees that lie in memory, and as the model that the conformance suite
// holds other adapters to. It is as safe for concurrent use as its tree.
//
// Patterns are Go's, which differ from ripgrep's in what \d, \w, \s and \b mean beyond ASCII. Files come in the order of
// their names. Of ignore files it knows .gitignore (in a tree with a .git above the file), .ignore and .rgignore. An fs.FS
// has no names that are not UTF-8.
type Memory struct{ tree fs.FS }

// NewMemory makes a Memory of a tree.
func NewMemory(tree fs.FS) Memory { return Memory{tree} }

// SupportsFollow is false.
func (m Memory) SupportsFollow() bool { return false }

// SearchContent implements [Search].
func (m Memory) SearchContent(ctx context.Context, q ContentQuery) iter.Seq2[frame.Frame[Match], error] {
	return func(yield func(frame.Frame[Match], error) bool) {
		produce(ctx, q.Path, q.Limit, yield, func(found emit[Match]) (frame.Bound, error) {
			if err := q.Validate(m.SupportsFollow()); err != nil {
				return "", err
			}
			re, err := q.compile()
			if err != nil {
				return "", err
			}
			n, err := q.narrowing()
			if err != nil {
				return "", err
			}
			return m.walk(ctx, q.Scope, n, func(name string) (bool, error) { return m.lines(name, re, found) })
		})
	}
}

// FindPaths implements [Search].
func (m Memory) FindPaths(ctx context.Context, q PathQuery) iter.Seq2[frame.Frame[string], error] {
	return func(yield func(frame.Frame[string], error) bool) {
		produce(ctx, q.Path, q.Limit, yield, func(found emit[string]) (frame.Bound, error) {
			if err := q.Validate(m.SupportsFollow()); err != nil {
				return "", err
			}
			n, err := q.narrowing()
			if err != nil {
				return "", err
			}
			return m.walk(ctx, q.Scope, n, func(name string) (bool, error) { return found(name), nil })
		})
	}
}

func (q ContentQuery) compile() (*regexp.Regexp, error) {
	text := q.Pattern
	if q.Literal {
		text = regexp.QuoteMeta(text)
	}
	if q.IgnoreCase {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, badPattern(q.Pattern, "", err)
	}
	return re, nil
}

// memoryWalk is one walk of a tree.
type memoryWalk struct {
	tree   fs.FS
	ctx    context.Context
	scope  Scope
	keep   narrowing
	start  start
	visit  func(name string) (bool, error) // false: no more
	report Report
	deeper bool
}

func (m Memory) walk(ctx context.Context, scope Scope, n narrowing, visit func(string) (bool, error)) (frame.Bound, error) {
	w := &memoryWalk{tree: m.tree, ctx: ctx, scope: scope, keep: n, visit: visit}
	name := path.Clean(scope.Path)
	if scope.Path == "" {
		name = "."
	}
	info, err := fs.Stat(m.tree, name)
	switch {
	case err != nil:
		return "", outcome.New(outcome.NotFound, scope.Path, err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return "", outcome.New(outcome.NotRegularFile, scope.Path, nil)
	}
	w.start = start{path: name, dir: info.IsDir()}
	if !w.start.dir {
		_, err = w.file(name)
	} else {
		var rules ignoreRules
		for dir := range above(name) {
			rules = rules.enter(m.tree, dir)
		}
		_, err = w.directory(name, rules, 1)
	}
	if scope.Report != nil {
		*scope.Report = w.report
	}
	if err == nil && w.deeper {
		return frame.MaxDepth, nil
	}
	return "", err
}

// above gives the directories that a directory lies in, the root first, itself not.
func above(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if dir == "." || !yield(".") {
			return
		}
		for i, c := range dir {
			if c == '/' && !yield(dir[:i]) {
				return
			}
		}
	}
}

func (w *memoryWalk) directory(dir string, rules ignoreRules, depth int) (more bool, err error) {
	if w.ctx.Err() != nil {
		return false, nil // produce words it
	}
	entries, err := fs.ReadDir(w.tree, dir)
	if err != nil {
		w.count(err)
		return true, nil
	}
	rules = rules.enter(w.tree, dir)
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !w.scope.Hidden && strings.HasPrefix(e.Name(), ".") || !w.scope.NoIgnore && rules.ignores(name, e.IsDir()) {
			continue
		}
		switch {
		case e.IsDir():
			more, err = w.directory(name, rules, depth+1)
		case e.Type().IsRegular() && w.scope.MaxDepth != nil && depth > *w.scope.MaxDepth:
			w.deeper = w.deeper || w.keeps(name)
			more = true
		case e.Type().IsRegular():
			more, err = w.file(name)
		default:
			more = true
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

func (w *memoryWalk) keeps(name string) bool {
	return w.keep.keeps((&selection{start: w.start}).below(name))
}

func (w *memoryWalk) file(name string) (more bool, err error) {
	if !w.keeps(name) {
		return true, nil
	}
	if more, err = w.visit(name); err != nil {
		w.count(err)
		return true, nil
	}
	return more, nil
}

func (w *memoryWalk) count(err error) {
	switch {
	case errors.Is(err, fs.ErrPermission):
		w.report.Withheld++
	case !errors.Is(err, fs.ErrNotExist):
		w.report.Failed++
	}
}

// lines finds the matches of one file. Like ripgrep it gives up a file that shows itself as binary.
func (m Memory) lines(name string, re *regexp.Regexp, found emit[Match]) (more bool, err error) {
	f, err := m.tree.Open(name)
	if err != nil {
		return true, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	if head, _ := in.Peek(64 << 10); bytes.IndexByte(head, 0) >= 0 {
		return true, nil
	}
	for number := int64(1); ; number++ {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 || bytes.IndexByte(line, 0) >= 0 {
			if err != io.EOF {
				return true, err
			}
			return true, nil
		}
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if spans := re.FindAllIndex(line, MaxSpans); spans != nil && !found(matchOf(name, number, line, spans)) {
			return false, nil
		}
	}
}

func matchOf(name string, number int64, line []byte, spans [][]int) Match {
	msg := message{line: number, text: kept{bytes: line, total: int64(len(line)) + 1}} // with the line feed, as ripgrep counts
	for _, s := range spans {
		msg.spans = append(msg.spans, Span{int64(s[0]), int64(s[1])})
	}
	first := line[spans[0][0]:spans[0][1]]
	msg.first = kept{bytes: first[:min(len(first), maxFirst)], total: int64(len(first))}
	if len(line) > MaxText && utf8.Valid(line) {
		msg.text.bytes = wholeRunes(line[:MaxText])
	}
	return msg.match(name)
}
