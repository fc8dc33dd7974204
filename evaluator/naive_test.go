package evaluator

import (
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// naive is the precedence table as plain scans over the entries, slow and with nothing compiled. It shares no code with
// the evaluator.
type naive struct{ input }

func nWithin(path, top string) bool {
	return path == top || top == "/" || strings.HasPrefix(path, top+"/")
}

func nBelow(path, top string) bool { return path != top && nWithin(path, top) }

func nDepth(path string) int {
	if path == "/" {
		return 0
	}
	return strings.Count(path, "/")
}

func nParent(path string) string {
	cut := path[:strings.LastIndex(path, "/")]
	if cut == "" {
		return "/"
	}
	return cut
}

// deepest is the depth of the deepest entry of a list at or above path, or -1.
func (n naive) deepest(list srtconfig.List, path string) int {
	best := -1
	for _, r := range n.paths {
		if r.List == list && nWithin(path, r.Path) {
			best = max(best, nDepth(r.Path))
		}
	}
	return best
}

// globDepth is the depth of the deepest prefix of path that a pattern of a list matches, or -1.
func (n naive) globDepth(list srtconfig.List, path string) int {
	best := -1
	for p := path; ; p = nParent(p) {
		for _, g := range n.globs {
			if g.rule.List == list && g.matcher.Match(p) {
				best = max(best, nDepth(p))
			}
		}
		if p == "/" {
			return best
		}
	}
}

func (n naive) opensReading(path string) (open, closed bool) {
	deny := max(n.deepest(srtconfig.DenyRead, path), n.globDepth(srtconfig.DenyRead, path))
	if deny < 0 {
		return true, false
	}
	return n.deepest(srtconfig.AllowRead, path) >= deny || n.deepest(srtconfig.AllowWrite, path) > deny, true
}

func (n naive) hidden(path string) (hidden, way bool) {
	if !n.privateTmp {
		return false, false
	}
	for _, zone := range []string{"/tmp", "/dev/shm"} {
		if !nWithin(path, zone) {
			continue
		}
		anchors, shown := []string{}, []string{}
		if nWithin(n.cwd, zone) {
			anchors = append(anchors, n.cwd)
		}
		for _, r := range n.paths {
			readable, _ := n.opensReading(r.Path)
			if r.List == srtconfig.Protected || !r.Exists || !readable {
				continue
			}
			if nBelow(r.Path, zone) {
				anchors = append(anchors, r.Path)
			}
			if (r.List == srtconfig.AllowRead || r.List == srtconfig.AllowWrite) && !nZone(r.Path) {
				shown = append(shown, r.Links...)
			}
		}
		way = path == zone
		for _, l := range shown {
			way = way || nBelow(l, zone) && nWithin(l, path)
		}
		for _, a := range anchors {
			if nWithin(path, a) {
				return false, false
			}
			way = way || nBelow(a, path)
		}
		return true, way
	}
	return false, false
}

func nZone(path string) bool { return path == "/tmp" || path == "/dev/shm" }

func (n naive) read(path string) (bool, Reason) {
	if hidden, way := n.hidden(path); hidden {
		if way {
			return true, Way
		}
		return false, PrivateTmp
	}
	open, closed := n.opensReading(path)
	switch {
	case open && !closed:
		return true, ReadOpen
	case open:
		return true, AllowedByEntry
	}
	for _, r := range n.paths {
		if (r.List == srtconfig.AllowRead || r.List == srtconfig.AllowWrite) && nBelow(r.Path, path) {
			if effective, _ := n.opensReading(r.Path); effective {
				return true, Way
			}
		}
		if r.List == srtconfig.AllowRead || r.List == srtconfig.AllowWrite {
			for _, l := range r.Links {
				if effective, _ := n.opensReading(r.Path); effective && nWithin(l, path) && !(n.privateTmp && nZone(r.Path)) {
					return true, Way
				}
			}
		}
	}
	if n.globDepth(srtconfig.DenyRead, path) > n.deepest(srtconfig.DenyRead, path) {
		return false, DeniedByGlob
	}
	return false, DeniedByEntry
}

func (n naive) write(path string) (bool, Reason) {
	if hidden, _ := n.hidden(path); hidden {
		return false, PrivateTmp
	}
	if n.deepest(srtconfig.Protected, path) >= 0 {
		return false, ProtectedPath
	}
	if n.deepest(srtconfig.DenyWrite, path) >= 0 {
		return false, DeniedByEntry
	}
	if n.globDepth(srtconfig.DenyWrite, path) >= 0 {
		return false, DeniedByGlob
	}
	readable, why := n.read(path)
	switch {
	case !readable:
		return false, Unreadable
	case why == Way:
		return false, Way
	case n.deepest(srtconfig.AllowWrite, path) < 0:
		return false, WriteClosed
	}
	return true, AllowedByEntry
}

func (n naive) remove(path string) (bool, Reason) {
	if ok, why := n.write(path); !ok {
		return false, why
	}
	for _, r := range n.paths {
		if (r.Exists || r.List == srtconfig.Protected) && nWithin(r.Path, path) {
			return false, Pinned
		}
		for _, link := range r.Links {
			if nWithin(link, path) {
				return false, Pinned
			}
		}
	}
	if ok, why := n.write(nParent(path)); !ok {
		return false, why
	}
	return true, AllowedByEntry
}
