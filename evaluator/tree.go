package evaluator

import (
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// tree is the compiled form of the path entries: one node for each entry and each of its ancestors. A node holds what
// the entries at and above it say, so that a decision is one walk down and no scan. It is never changed once made.
type tree struct {
	nodes []node // nodes[0] is "/"; a parent stands before its children
}

// node is one path of the tree.
type node struct {
	verdict
	parent int32

	pin     *srtconfig.PathRule // an entry with a mount point, or a symlink one was reached through, at or below; or nil
	shows   bool                // an entry strictly below re-opens reading where it stands
	tmpWay  bool                // the zone's root, or an ancestor of something that re-appears in it
	nameOne string              // the only child, which spares a map where the tree does not branch
	one     int32               // 0: not one child
	many    map[string]int32    // nil with fewer than two children
}

// verdict is what the entries at and above a path say of it. A path below the tree's nodes has that of its nearest
// node. Depths count components; "/" has 0, and -1 stands for no entry.
type verdict struct {
	denyDepth, allowDepth, writeDepth int32

	deny, allow, write   *srtconfig.PathRule // the deepest of denyRead, allowRead, allowWrite
	denyWrite, protected *srtconfig.PathRule // the deepest of each
	hidden               bool                // in a zone where the sandbox has a file system of its own
}

func (n *node) child(name string) int32 {
	if n.one != 0 {
		if n.nameOne == name {
			return n.one
		}
		return 0
	}
	return n.many[name]
}

// place is where a path stands in the tree.
type place struct {
	node  *node // the path's own node, or its nearest ancestor's
	below int   // how many components below node: 0, 1, or 2 for more
}

// find walks path component by component. problem is "" for an absolute and clean path, and says what is wrong with
// any other.
func (t *tree) find(path string) (p place, problem string) {
	if path == "" {
		return p, "it is empty"
	}
	if path[0] != '/' {
		return p, "it is not absolute"
	}
	if strings.IndexByte(path, 0) >= 0 {
		return p, "it holds a NUL byte"
	}
	p.node = &t.nodes[0]
	if len(path) == 1 {
		return p, ""
	}
	for rest, more := path[1:], true; more; {
		name := rest
		i := strings.IndexByte(rest, '/')
		if more = i >= 0; more {
			name, rest = rest[:i], rest[i+1:]
		}
		if len(name) <= 2 {
			if problem := badName(name); problem != "" {
				return place{}, problem
			}
		}
		if p.below > 0 {
			p.below = 2
		} else if c := p.node.child(name); c != 0 {
			p.node = &t.nodes[c]
		} else {
			p.below = 1
		}
	}
	return p, ""
}

// badName says what is wrong with a component of a path, or "".
func badName(name string) string {
	switch name {
	case "":
		return "it has an empty component or ends in a slash"
	case ".", "..":
		return "it has a component . or .."
	}
	return ""
}

// up returns the place of the directory that holds p. "/" is its own.
func (t *tree) up(p place) place {
	switch p.below {
	case 0:
		return place{node: &t.nodes[p.node.parent]}
	case 1:
		return place{node: p.node}
	}
	return p
}
