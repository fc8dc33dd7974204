package artifact

import (
	"context"
	"sync"
)

// treeCache keeps the last document that was parsed, for each format: queries on a document come in series. A
// document is parsed by one query at a time, so that many at once do not take many times the memory. A large one is
// not kept: parsing it again costs less than holding its memory.
type treeCache struct {
	parsing chan struct{} // holds a token while nobody parses

	mu   sync.Mutex
	last map[string]tree
}

// keepBytes is the size of the largest document whose tree is kept, in bytes. Trees take some seven times as much for
// JSON and forty times for Markdown.
const keepBytes = 8 << 20

// tree is a parsed document in the state of the file it was parsed from.
type tree struct {
	of  *Artifact
	id  Identity
	doc any
}

func newTreeCache() *treeCache {
	c := &treeCache{parsing: make(chan struct{}, 1), last: make(map[string]tree)}
	c.parsing <- struct{}{}
	return c
}

func (c *treeCache) get(format string, v *view) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.last[format]
	if ok && t.of == v.Artifact && t.id.sameContent(v.id) && t.id.ChangeTime.Equal(v.id.ChangeTime) {
		return t.doc, true
	}
	return nil, false
}

func (c *treeCache) put(format string, v *view, doc any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.size > keepBytes || v.gone.Load() {
		return
	}
	c.last[format] = tree{of: v.Artifact, id: v.id, doc: doc}
}

// forget drops what was parsed from an artifact.
func (c *treeCache) forget(a *Artifact) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for format, t := range c.last {
		if t.of == a {
			delete(c.last, format)
		}
	}
}

func (c *treeCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.last)
}

// parsed returns the document of a format, parsing it if the last one was another.
func parsed[T any](ctx context.Context, c *treeCache, v *view, format string, parse func() (T, error)) (T, error) {
	var zero T
	if doc, ok := c.get(format, v); ok {
		return doc.(T), nil
	}
	select {
	case <-c.parsing:
	case <-ctx.Done():
		return zero, ctx.Err()
	}
	defer func() { c.parsing <- struct{}{} }()
	if doc, ok := c.get(format, v); ok { // another query was faster
		return doc.(T), nil
	}
	doc, err := parse()
	if err != nil {
		return zero, err
	}
	c.put(format, v, doc)
	return doc, nil
}
