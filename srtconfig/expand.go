package srtconfig

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// pattern is an entry that is expanded by the walk.
type pattern struct {
	list  List
	glob  *Glob
	links []string // met on the way to the pattern's directory
	src   Source
}

func denies(l List) bool { return l == DenyRead || l == DenyWrite }

// patternEntry adds an entry that holds pattern characters. Components from the left whose very name exists are taken
// literally, so that "pages/[id]" works. A denial is then applied in both readings: a program that may write there
// could otherwise make a file called "*.env", and so turn the pattern off in the next session.
func (d *deriver) patternEntry(list List, start string, components []string, src Source) {
	first := slices.IndexFunc(components, hasMeta)
	literal := d.literalPrefix(start, components, first)
	if literal == len(components) {
		d.literal(list, joinComponents(start, components, false), src)
	} else {
		d.pattern(list, joinComponents(start, components[:literal], false), components[literal:], src)
	}
	if literal == first || !denies(list) || slices.Contains(components[first:], "..") {
		return
	}
	d.note(src, `%s entry %q is also the name of something that exists; it is read both ways; write {"path": %q, "literal": true} to mean that name alone`, list, src.Text, src.Text)
	d.pattern(list, joinComponents(start, components[:first], false), components[first:], src)
}

// literalPrefix counts the components that exist as they are written. The first ones hold no pattern.
func (d *deriver) literalPrefix(start string, components []string, first int) int {
	for i := first; i < len(components); i++ {
		if !hasMeta(components[i]) {
			continue
		}
		if r, err := d.links.resolve(joinComponents(start, components[:i+1], false)); err != nil || !r.exists {
			return i
		}
	}
	return len(components)
}

func joinComponents(start string, components []string, asDir bool) string {
	s := start + "/" + strings.Join(components, "/")
	if asDir {
		s += "/"
	}
	return s
}

// pattern adds a pattern whose directory is literal.
func (d *deriver) pattern(list List, dir string, components []string, src Source) {
	base, err := d.links.resolve(dir)
	if err != nil {
		d.fail(src, "%w", err)
		return
	}
	glob, err := compileGlob(base.path, components)
	if err != nil {
		d.fail(src, "%w", err)
		return
	}
	if denies(list) {
		d.globs = append(d.globs, GlobRule{List: list, Pattern: glob.String(), Source: src, glob: glob})
	}
	if !base.exists || !base.dir {
		if denies(list) {
			d.note(src, "%s pattern %q matches nothing now: %s is no directory", list, src.Text, base.path)
		} else {
			d.warn(src, "%s pattern %q opens nothing: %s is no directory", list, src.Text, base.path)
		}
		return
	}
	d.patterns = append(d.patterns, pattern{list: list, glob: glob, links: base.links, src: src})
}

// expand walks once for all patterns and for the protected names below writable trees.
func (d *deriver) expand(ctx context.Context) error {
	root := &walkNode{}
	w := &walker{budget: d.host.Budget.orDefault(), searchDepth: d.searchDepth()}
	if d.settings.Own.Tmp == TmpPrivate {
		w.notSearched = tmpDir
	}
	globs := make([]*Glob, len(d.patterns))
	for i, p := range d.patterns {
		globs[i] = p.glob
		w.grows = append(w.grows, p.list == AllowWrite)
		n := root.at(p.glob.base)
		n.globs = append(n.globs, i)
	}
	searched := d.searchRoots()
	for _, dir := range searched {
		root.at(dir).depth = w.searchDepth + 1
	}
	if len(globs) == 0 && len(searched) == 0 {
		return ctx.Err()
	}
	w.globs = newGlobSet(globs)
	results, err := w.run(ctx, root)
	d.stats.Walks = 1
	for _, r := range results {
		d.stats.Directories += r.directories
		d.stats.Entries += r.entries
	}
	var over *budgetError
	switch {
	case errors.As(err, &over):
		d.overBudget(over)
		return nil
	case err != nil:
		return err
	}
	d.gather(results)
	return nil
}

func (d *deriver) searchDepth() int {
	return cmp.Or(d.settings.MandatoryDenySearchDepth, DefaultSearchDepth)
}

// searchRoots are the directories below which protected names are looked for: each writable tree, and the working and
// home directories where those can lie in one.
func (d *deriver) searchRoots() []string {
	var roots []string
	for _, r := range d.paths {
		if r.List == AllowWrite && r.Dir && (r.Path != tmpDir || d.settings.Own.Tmp != TmpPrivate) {
			roots = append(roots, r.Path)
		}
	}
	for _, dir := range []string{d.cwd, d.home} {
		if dir != "" && d.mayWrite(dir) && !slices.Contains(roots, dir) {
			roots = append(roots, dir)
		}
	}
	return roots
}

func (d *deriver) mayWrite(dir string) bool {
	for _, r := range d.paths {
		if r.List == AllowWrite && within(dir, r.Path) {
			return true
		}
	}
	for _, p := range d.patterns {
		if p.list == AllowWrite && p.glob.Covers(dir) {
			return true
		}
	}
	return false
}

// overBudget names what the walk was for at the place where it gave up. To go on with part of the matches would leave
// files open that the settings close.
func (d *deriver) overBudget(e *budgetError) {
	named := false
	if e.where.state != nil {
		for _, p := range e.where.state.places {
			src := d.patterns[p.glob].src
			d.fail(src, "pattern %q is too broad: %w; start it in a smaller directory", src.Text, e)
			named = true
		}
	}
	if !named {
		d.fail(d.source("/mandatoryDenySearchDepth", ""), "the search for protected names below writable trees is too long: %w; lower mandatoryDenySearchDepth, or open smaller directories", e)
	}
}

// gather turns what the workers found into rules, in an order that does not depend on them.
func (d *deriver) gather(results []walkResult) {
	var matches []globMatch
	var unlisted []walkItem
	var tooLong []string
	for _, r := range results {
		matches = append(matches, r.matches...)
		unlisted = append(unlisted, r.unlisted...)
		tooLong = append(tooLong, r.tooLong...)
		d.found = append(d.found, r.names...)
	}
	slices.SortFunc(matches, func(a, b globMatch) int {
		return cmp.Or(cmp.Compare(a.glob, b.glob), cmp.Compare(a.path, b.path))
	})
	matched := make([]bool, len(d.patterns))
	for i, m := range matches {
		if i > 0 && m.glob == matches[i-1].glob && m.path == matches[i-1].path {
			continue
		}
		if d.addMatch(d.patterns[m.glob], m) {
			matched[m.glob] = true
		}
	}
	for i, p := range d.patterns {
		if matched[i] {
			continue
		}
		if denies(p.list) {
			d.note(p.src, "%s pattern %q matches nothing now", p.list, p.src.Text)
		} else {
			d.warn(p.src, "%s pattern %q opens nothing: it matches nothing that exists", p.list, p.src.Text)
		}
	}
	slices.SortFunc(unlisted, func(a, b walkItem) int { return cmp.Compare(a.path, b.path) })
	for _, item := range unlisted {
		d.denyUnlisted(item)
	}
	slices.Sort(tooLong)
	for _, dir := range tooLong {
		d.warn(Source{}, "patterns and protected names were not looked for in %q: the path is longer than the kernel takes", dir)
	}
}

// addMatch reports whether the match gave a rule.
func (d *deriver) addMatch(p pattern, m globMatch) bool {
	rule := PathRule{List: p.list, Path: m.path, Exists: true, Dir: m.kind == unix.DT_DIR, Links: p.links, Source: p.src}
	if m.kind == unix.DT_LNK {
		if !denies(p.list) {
			// A program that may write here could have made the link, to open what it points to.
			d.note(p.src, "%s pattern %q matches the link %s, which it does not open; name the target itself", p.list, p.src.Text, m.path)
			return false
		}
		r, err := d.links.resolve(m.path)
		if err != nil {
			// A loop leads to nothing that could be read. Whoever replaces it makes the name.
			d.linkItself(p, m.path)
			return false
		}
		if within(p.glob.base, r.path) || within(d.cwd, r.path) {
			// What such a link leads to holds the tree that the pattern speaks of, and was not meant.
			d.note(p.src, "%s pattern %q matches the link %s to %s, which is left open: it holds the pattern's own directory", p.list, p.src.Text, m.path, r.path)
			d.linkItself(p, m.path)
			return false
		}
		rule.Path, rule.Exists, rule.Dir = r.path, r.exists, r.dir && r.exists
		rule.Links = append(slices.Clone(p.links), r.links...)
	}
	d.add(rule)
	return true
}

// linkItself closes the name of a link whose target stays open.
func (d *deriver) linkItself(p pattern, link string) {
	d.add(PathRule{List: p.list, Path: link, Links: append(slices.Clone(p.links), link), Source: p.src})
}

// denyUnlisted closes a directory whose names cannot be listed: what a pattern matches in it cannot be found out, nor whether
// there are protected names.
func (d *deriver) denyUnlisted(item walkItem) {
	if item.depth > 0 {
		d.add(PathRule{List: Protected, Path: item.path, Exists: true, Dir: true, Source: Source{Text: "directory that cannot be listed"}})
	}
	if item.state == nil {
		return
	}
	for _, pl := range item.state.places {
		p := d.patterns[pl.glob]
		if !denies(p.list) {
			continue
		}
		d.warn(p.src, "%s pattern %q: %s cannot be listed, and is closed as a whole", p.list, p.src.Text, item.path)
		d.add(PathRule{List: p.list, Path: item.path, Exists: true, Dir: true, Source: p.src})
	}
}

// entry adds one entry of a list.
func (d *deriver) entry(list List, e PathEntry, src Source) {
	if err := checkPathText(e, true); err != nil {
		d.fail(src, "%w", err)
		return
	}
	start, rest, err := d.start(e.Path)
	if err != nil {
		d.fail(src, "%w", err)
		return
	}
	asDir := strings.HasSuffix(rest, "/")
	components := strings.Split(strings.Trim(rest, "/"), "/")
	if !e.Literal {
		for len(components) > 0 && components[len(components)-1] == "**" {
			components, asDir = components[:len(components)-1], true
		}
		if slices.ContainsFunc(components, hasMeta) {
			d.patternEntry(list, start, components, src)
			return
		}
	}
	d.literal(list, joinComponents(start, components, asDir), src)
}

// start gives an entry its base and what follows it. Nothing is cleaned: ".." after a link is a matter of its target.
func (d *deriver) start(p string) (base, rest string, err error) {
	switch {
	case path.IsAbs(p):
		return "", p, nil
	case p == "~" || strings.HasPrefix(p, "~/"):
		if d.home == "" {
			return "", "", errNoHome
		}
		return d.home, p[1:], nil
	}
	return d.cwd, p, nil
}
