package srtconfig

import (
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// visitor reads directories for one worker.
type visitor struct {
	walker   *walker
	out      *walkResult
	reader   *dirReader
	item     walkItem
	children []walkItem
	hits     []hit
	pending  map[string]*walkNode // starts below this directory that were not met yet
	gitFiles int                  // of HEAD, objects and refs
}

func (v *visitor) directory(item walkItem) error {
	v.item, v.pending, v.gitFiles = item, nil, 0
	if item.state == nil && item.depth == 0 {
		return v.descendToStarts()
	}
	if item.node != nil && len(item.node.children) > 0 {
		v.pending = make(map[string]*walkNode, len(item.node.children))
		for name, n := range item.node.children {
			v.pending[name] = n
		}
	}
	before := v.out.entries
	err := v.reader.read(item.path, v.entry)
	v.out.directories++
	switch {
	case err == nil:
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		// Removed or replaced since its parent was read.
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		v.unreadable(item)
	case errors.Is(err, unix.ENAMETOOLONG):
		v.out.tooLong = append(v.out.tooLong, item.path)
	default:
		return fmt.Errorf("read directory %s: %w", item.path, err)
	}
	const gitDirectoryMarks = 3
	if v.gitFiles == gitDirectoryMarks {
		v.out.names = append(v.out.names, foundName{dir: item.path})
	}
	for name, n := range v.pending {
		v.push(path.Join(item.path, name), item.state.below(v.walker.globs, name), n, item.depth)
	}
	return v.checkBudget(v.out.entries - before)
}

// unreadable keeps a directory whose names cannot be listed, when a command could reach what is in it: by name, or after it
// has given itself the permissions that it took away before.
func (v *visitor) unreadable(item walkItem) {
	var st unix.Stat_t
	owned := unix.Lstat(item.path, &st) == nil && int(st.Uid) == os.Geteuid()
	if !owned && unix.Faccessat(unix.AT_FDCWD, item.path, unix.X_OK, unix.AT_EACCESS) != nil {
		return
	}
	v.out.unlisted = append(v.out.unlisted, item)
}

// descendToStarts goes on to the starts below without reading, as nothing here is looked for.
func (v *visitor) descendToStarts() error {
	if v.item.node == nil {
		return nil
	}
	for name, n := range v.item.node.children {
		v.push(path.Join(v.item.path, name), nil, n, 0)
	}
	return nil
}

func (v *visitor) checkBudget(entries int) error {
	w := v.walker
	total := w.entries.Add(int64(entries))
	b := w.budget
	switch {
	case total > int64(b.Entries):
		return &budgetError{fmt.Sprintf("the walk read more than %d names", b.Entries), v.item}
	case w.matches.Load() > int64(b.Matches):
		return &budgetError{fmt.Sprintf("patterns matched more than %d paths", b.Matches), v.item}
	case time.Since(w.began) > b.Time:
		return &budgetError{fmt.Sprintf("the walk took more than %v, for %d names so far", b.Time, total), v.item}
	}
	return nil
}

// entry looks at one name of the directory.
func (v *visitor) entry(name string, kind uint8) {
	v.out.entries++
	var full string // made only for names that matter
	hits := v.hits[:0]
	if v.item.state != nil {
		hits = v.item.state.match(name, hits)
		v.hits = hits
	}
	if kind == unix.DT_UNKNOWN {
		full = joinName(v.item.path, name)
		kind = entryKind(full)
	}
	grown := 0
	for _, h := range hits {
		if !v.walker.globs.matches(h) {
			continue
		}
		if full == "" {
			full = joinName(v.item.path, name)
		}
		v.out.matches = append(v.out.matches, globMatch{h.glob, full, kind})
		v.walker.matches.Add(1)
		if v.walker.grows[h.glob] {
			grown = v.walker.searchDepth + 1
		}
	}
	if v.item.depth > 0 {
		v.note(name)
	}
	if kind != unix.DT_DIR {
		return
	}
	depth := max(v.item.depth-1, 0)
	if notSearched(name) {
		depth = 0
	}
	v.descend(name, full, hits, max(depth, grown))
}

func (v *visitor) descend(name, full string, hits []hit, depth int) {
	var state *globState
	if v.item.state != nil {
		state = v.walker.globs.below(v.item.state, hits)
	}
	node := v.pending[name]
	if state == nil && depth == 0 && node == nil {
		return
	}
	if v.item.path == "/" && ofTheKernel(name) {
		if node == nil {
			return
		}
		state, depth = nil, 0 // what starts there goes on, what only comes by does not
	}
	if full == "" {
		full = joinName(v.item.path, name)
	}
	if full == v.walker.notSearched {
		depth = 0
	}
	if node != nil {
		delete(v.pending, name)
	}
	v.push(full, state, node, depth)
}

// push adds a directory to read, with what starts there.
func (v *visitor) push(full string, state *globState, node *walkNode, depth int) {
	if node != nil {
		state = v.walker.globs.seeded(state, node.globs)
		depth = max(depth, node.depth)
	}
	v.children = append(v.children, walkItem{path: full, state: state, node: node, depth: depth})
}

// ofTheKernel tells the trees at the root that commands see their own of, and that no pattern is about.
func ofTheKernel(name string) bool { return name == "proc" || name == "sys" || name == "dev" }

// joinName copies the name, which stands in a buffer that is used again.
func joinName(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// below is the state inside a directory that was not listed.
func (s *globState) below(gs *globSet, name string) *globState {
	if s == nil {
		return nil
	}
	return gs.below(s, s.match(name, nil))
}
