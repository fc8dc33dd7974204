package evaluator

import "strings"

// The functions of this file are the table in the package documentation, and the only place that knows it.

// readable reports whether the entries and hit, taken without the zones, let the path be read in full.
func (v *verdict) readable(hit matched) bool {
	depth := max(v.denyDepth, hit.depth)
	return depth < 0 || v.allowDepth >= depth || v.writeDepth > depth
}

// read decides about reading. shows is whether the path itself shows the way to something below it.
func (v *verdict) read(hit matched, shows bool) Decision {
	if v.denyDepth < 0 && hit.depth < 0 {
		return Decision{Allowed: true, Reason: ReadOpen}
	}
	if v.readable(hit) {
		// Of two entries that re-open, the deeper is the more specific. At equal depth that is allowRead.
		by := v.allow
		if v.writeDepth > v.allowDepth {
			by = v.write
		}
		return Decision{Allowed: true, Reason: AllowedByEntry, Rule: by}
	}
	d := Decision{Reason: DeniedByEntry, Rule: v.deny}
	if hit.depth > v.denyDepth {
		d = Decision{Reason: DeniedByGlob, Glob: hit.rule}
	}
	if shows {
		d.Allowed, d.Reason = true, Way
	}
	return d
}

// read decides about reading the path at p.
func (e *Evaluator) read(p place, path string) Decision {
	n, here := p.node, p.below == 0
	if n.hidden {
		// Only the names on the way to what re-appears are the same in the sandbox and on the host.
		return Decision{Allowed: here && n.tmpWay, Reason: hiddenReason(here && n.tmpWay)}
	}
	return n.read(deepestMatch(e.readGlobs, path), here && n.shows)
}

func hiddenReason(way bool) Reason {
	if way {
		return Way
	}
	return PrivateTmp
}

// write decides about changing the content at p, or making it. Of several refusals the one that is hardest to lift is
// named, so that nobody adds an allowWrite entry where none can help.
func (e *Evaluator) write(p place, path string) Decision {
	n := p.node
	switch {
	case n.hidden:
		return Decision{Reason: PrivateTmp}
	case n.protected != nil:
		return Decision{Reason: ProtectedPath, Rule: n.protected}
	case n.denyWrite != nil:
		return Decision{Reason: DeniedByEntry, Rule: n.denyWrite}
	}
	if hit := deepestMatch(e.writeGlobs, path); hit.depth >= 0 {
		return Decision{Reason: DeniedByGlob, Glob: hit.rule}
	}
	if d := e.read(p, path); !d.Allowed {
		d.Reason = Unreadable
		return d
	} else if d.Reason == Way {
		d.Allowed = false
		return d
	}
	if n.write == nil {
		return Decision{Reason: WriteClosed}
	}
	return Decision{Allowed: true, Reason: AllowedByEntry, Rule: n.write}
}

// remove decides about taking the name at p away: by unlink, rmdir, a rename away or a rename over.
func (e *Evaluator) remove(p place, path string) Decision {
	d := e.write(p, path)
	if !d.Allowed {
		return d
	}
	// A mount point cannot be renamed or removed, nor can a directory that holds one be taken away with it. Were it
	// otherwise, mv .git x; mkdir -p .git/hooks would leave the entry speaking of a path that is no longer the same.
	if p.below == 0 && p.node.pin != nil {
		return Decision{Reason: Pinned, Rule: p.node.pin}
	}
	if parent := e.write(e.tree.up(p), parentOf(path)); !parent.Allowed {
		return parent
	}
	return d
}

// parentOf returns the directory of an absolute and clean path; that of "/" is "/".
func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}
