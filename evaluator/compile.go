package evaluator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// input is what the path decisions follow from.
type input struct {
	cwd        string
	privateTmp bool
	paths      []srtconfig.PathRule
	globs      []glob
}

// builder makes a tree. own and links stand beside the nodes, as they are of no use once the verdicts are there.
type builder struct {
	tree
	own   []ownRules
	depth []int32
}

// ownRules are the entries at one path, by list, and the entries reached through a symlink there.
type ownRules struct {
	rules  [srtconfig.Protected + 1]*srtconfig.PathRule
	link   *srtconfig.PathRule
	ways   []string // the symlinks that the entries which re-open were reached through
	zone   bool     // a file system of the sandbox's own is here
	anchor bool     // re-appears in a zone
}

// compile makes the tree of in, of which readGlobs are the denyRead patterns. The order of in.paths does not matter.
func compile(in input, readGlobs []glob) (*tree, error) {
	rules, err := sortedRules(in.paths)
	if err != nil {
		return nil, err
	}
	b := &builder{}
	b.add(-1, "")
	for i := range rules {
		if err := b.insertRule(&rules[i]); err != nil {
			return nil, err
		}
	}
	b.inherit()
	if in.privateTmp {
		if err := b.insertZones(in.cwd, readGlobs); err != nil {
			return nil, err
		}
		b.inherit() // once more, as what is hidden follows from what can be read
	}
	b.propagate()
	b.markShown(readGlobs)
	return &b.tree, nil
}

// sortedRules copies paths into one order, so that of two entries with one path and list always the same decides,
// and checks that each is a rule at all.
func sortedRules(paths []srtconfig.PathRule) ([]srtconfig.PathRule, error) {
	rules := slices.Clone(paths)
	for i := range rules {
		r := &rules[i]
		if r.List < srtconfig.DenyRead || r.List > srtconfig.Protected {
			return nil, fmt.Errorf("internal: the rule for %q is of no list", r.Path)
		}
		// An entry that opens something absent opens nothing, also not what is made there later.
		if (r.List == srtconfig.AllowRead || r.List == srtconfig.AllowWrite) && !r.Exists {
			return nil, fmt.Errorf("internal: the %s rule for %q is of an absent path", r.List, r.Path)
		}
	}
	slices.SortFunc(rules, func(a, b srtconfig.PathRule) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.List, b.List), compareSources(a.Source, b.Source))
	})
	return rules, nil
}

func compareSources(a, b srtconfig.Source) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Text, b.Text))
}

func (b *builder) add(parent int32, name string) int32 {
	i := int32(len(b.nodes))
	b.nodes = append(b.nodes, node{parent: max(parent, 0)})
	b.own = append(b.own, ownRules{})
	if parent < 0 {
		b.depth = append(b.depth, 0)
		return i
	}
	b.depth = append(b.depth, b.depth[parent]+1)
	switch p := &b.nodes[parent]; {
	case p.many != nil:
		p.many[name] = i
	case p.one != 0:
		p.many = map[string]int32{p.nameOne: p.one, name: i}
		p.nameOne, p.one = "", 0
	default:
		p.nameOne, p.one = name, i
	}
	return i
}

// insert returns the node of path, made if need be with its ancestors.
func (b *builder) insert(path string) (int32, error) {
	if _, problem := b.find(path); problem != "" {
		return 0, fmt.Errorf("internal: the rules hold the path %q: %s", path, problem)
	}
	var at int32
	for rest := path[1:]; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next := b.nodes[at].child(name)
		if next == 0 {
			next = b.add(at, name)
		}
		at = next
	}
	return at, nil
}

func (b *builder) insertRule(r *srtconfig.PathRule) error {
	i, err := b.insert(r.Path)
	if err != nil {
		return err
	}
	if o := &b.own[i]; o.rules[r.List] == nil || !o.rules[r.List].Exists && r.Exists {
		o.rules[r.List] = r
	}
	if r.List == srtconfig.AllowRead || r.List == srtconfig.AllowWrite {
		b.own[i].ways = append(b.own[i].ways, r.Links...)
	}
	for _, link := range r.Links {
		i, err := b.insert(link)
		if err != nil {
			return err
		}
		if b.own[i].link == nil {
			b.own[i].link = r
		}
	}
	return nil
}

// inherit gives each node what its own entries and its parent's verdict say.
func (b *builder) inherit() {
	for i := range b.nodes {
		n, own, depth := &b.nodes[i], &b.own[i], b.depth[i]
		if i == 0 {
			n.denyDepth, n.allowDepth, n.writeDepth = -1, -1, -1
		} else {
			n.verdict = b.nodes[n.parent].verdict
			n.hidden = (n.hidden || own.zone) && !own.anchor
		}
		if r := own.rules[srtconfig.DenyRead]; r != nil {
			n.deny, n.denyDepth = r, depth
		}
		if r := own.rules[srtconfig.AllowRead]; r != nil {
			n.allow, n.allowDepth = r, depth
		}
		if r := own.rules[srtconfig.AllowWrite]; r != nil {
			n.write, n.writeDepth = r, depth
		}
		if r := own.rules[srtconfig.DenyWrite]; r != nil {
			n.denyWrite = r
		}
		if r := own.rules[srtconfig.Protected]; r != nil {
			n.protected = r
		}
	}
}

// propagate hands up, children first, what a node must know of those below it.
func (b *builder) propagate() {
	for i := len(b.nodes) - 1; i >= 0; i-- {
		n, own := &b.nodes[i], &b.own[i]
		if pin := own.pin(); pin != nil {
			n.pin = pin
		}
		if i == 0 {
			return
		}
		parent := &b.nodes[n.parent]
		if n.pin != nil {
			parent.pin = n.pin
		}
		if own.anchor || n.tmpWay {
			parent.tmpWay = true
		}
	}
}

// pin returns the entry for which the kernel has a mount point here, or whose symlink this is, or nil. The directories above
// a protected name are mount points also when the name does not exist: moved away, they would leave its place free.
func (o *ownRules) pin() *srtconfig.PathRule {
	for _, r := range o.rules {
		if r != nil && (r.Exists || r.List == srtconfig.Protected) {
			return r
		}
	}
	return o.link
}

// markShown marks the ancestors of every entry that re-opens reading where it stands.
func (b *builder) markShown(readGlobs []glob) {
	for i := range b.nodes {
		own := &b.own[i]
		r := cmp.Or(own.rules[srtconfig.AllowRead], own.rules[srtconfig.AllowWrite])
		if r == nil || !b.nodes[i].readable(deepestMatch(readGlobs, r.Path)) {
			continue
		}
		b.showAbove(int32(i))
		if !own.zone {
			b.showLinks(own.ways)
		}
	}
}

// showLinks makes the directories show that hold the symlinks which a re-opening entry was reached through.
func (b *builder) showLinks(links []string) {
	for _, l := range links {
		if at, err := b.insert(l); err == nil { // it is there: insertRule put it in
			b.nodes[at].shows = true
			b.showAbove(at)
		}
	}
}

func (b *builder) showAbove(at int32) {
	for at != 0 {
		at = b.nodes[at].parent
		if b.nodes[at].shows {
			return
		}
		b.nodes[at].shows = true
	}
}
