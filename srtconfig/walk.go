package srtconfig

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A walk reads each directory once, whatever the number of patterns and of trees to search: it starts at the root of a
// trie of all their directories, and goes only where a pattern can match or a protected name is looked for.

// walkNode is a directory of the trie.
type walkNode struct {
	children map[string]*walkNode
	globs    []int // patterns that start here
	depth    int   // levels to look for protected names in, this directory included; 0: none
}

func (n *walkNode) at(dir string) *walkNode {
	for component := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if component == "" {
			continue
		}
		if n.children == nil {
			n.children = map[string]*walkNode{}
		}
		child := n.children[component]
		if child == nil {
			child = &walkNode{}
			n.children[component] = child
		}
		n = child
	}
	return n
}

// walkItem is a directory that is still to be read.
type walkItem struct {
	path  string
	state *globState // nil: no pattern goes on here
	node  *walkNode  // nil: no start lies here or below
	depth int
}

// globMatch is a path that a pattern matched.
type globMatch struct {
	glob int
	path string
	kind uint8
}

// foundName is a directory entry that could need protection.
type foundName struct {
	dir, name string
}

// walkResult is what one worker gathered.
type walkResult struct {
	matches     []globMatch
	names       []foundName
	unlisted    []walkItem // directories that a command can reach into and that cannot be listed
	tooLong     []string
	directories int
	entries     int
}

// walker is one walk. Its workers share the stack.
type walker struct {
	globs *globSet
	// grows tells the patterns whose matches are trees to search for protected names in.
	grows       []bool
	searchDepth int
	// notSearched is a directory that names are not looked for in when a search comes by: /tmp, when commands have one of
	// their own. "" is none.
	notSearched string
	budget      Budget
	began       time.Time

	mu      sync.Mutex
	wake    sync.Cond
	stack   []walkItem
	busy    int
	stopped error
	more    func() // starts the other workers, once; nil when they run

	entries, matches atomic.Int64
}

// budgetError says where the walk was when it had used its budget up.
type budgetError struct {
	what  string
	where walkItem
}

func (e *budgetError) Error() string {
	return fmt.Sprintf("%s, and was at %s", e.what, e.where.path)
}

// run walks from the root of the trie. It returns the gathered results of its workers; their order is that of chance.
func (w *walker) run(ctx context.Context, root *walkNode) ([]walkResult, error) {
	// A short walk is over before the end of ctx has been passed on.
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w.wake.L = &w.mu
	w.began = time.Now()
	w.stack = append(w.stack, walkItem{path: "/", state: w.globs.seeded(nil, root.globs), node: root, depth: root.depth})
	// Reading directories is mostly system time, so that more workers than processors gain nothing.
	results := make([]walkResult, max(1, min(runtime.GOMAXPROCS(0), 8)))
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { w.stop(context.Cause(ctx)) })
		defer stop()
	}
	var wg sync.WaitGroup
	w.more = func() {
		for i := range results[1:] {
			wg.Go(func() { w.work(&results[i+1]) })
		}
	}
	w.work(&results[0])
	wg.Wait()
	return results, w.stopped
}

// worthMore is how many directories wait before other workers start: most trees are read before a thread is up.
const worthMore = 32

func (w *walker) stop(err error) {
	w.mu.Lock()
	if w.stopped == nil {
		w.stopped = err
	}
	w.mu.Unlock()
	w.wake.Broadcast()
}

// next takes a directory from the stack; it waits while others may still add to it.
func (w *walker) next() (walkItem, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.stack) == 0 && w.busy > 0 && w.stopped == nil {
		w.wake.Wait()
	}
	if len(w.stack) == 0 || w.stopped != nil {
		return walkItem{}, false
	}
	item := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	w.busy++
	return item, true
}

func (w *walker) done(children []walkItem) {
	w.mu.Lock()
	w.stack = append(w.stack, children...)
	w.busy--
	if w.more != nil && len(w.stack) >= worthMore {
		w.more()
		w.more = nil
	}
	wake := len(children) > 1 || w.busy == 0
	w.mu.Unlock()
	if wake {
		w.wake.Broadcast()
	}
}

func (w *walker) work(out *walkResult) {
	v := visitor{walker: w, out: out, reader: newDirReader()}
	for {
		item, ok := w.next()
		if !ok {
			return
		}
		v.children = v.children[:0]
		if err := v.directory(item); err != nil {
			w.stop(err)
		}
		w.done(v.children)
	}
}
