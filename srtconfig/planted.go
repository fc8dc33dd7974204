package srtconfig

import "slices"

// dropPlantedLinks takes out allowRead and allowWrite entries that go through a link which a command could have made
// in an earlier session: one inside a writable tree whose target lies outside of every such tree. Else a command could
// replace an open directory by a link to the user's keys, and find them open next time.
func (d *deriver) dropPlantedLinks() {
	var doubtful []int
	sure := map[string]bool{} // writable trees that no such link opened
	for i, r := range d.paths {
		switch {
		case (r.List == AllowWrite || r.List == AllowRead) && d.linkInWritableTree(r) != "":
			doubtful = append(doubtful, i)
		case r.List == AllowWrite:
			sure[r.Path] = true
		}
	}
	drop := slices.DeleteFunc(doubtful, func(i int) bool {
		for dir := range ancestors(d.paths[i].Path) {
			if sure[dir] {
				return true
			}
		}
		return false
	})
	if len(drop) == 0 {
		return
	}
	kept := d.paths
	for _, i := range drop {
		r := kept[i]
		d.warn(r.Source, "%s entry %q opens nothing: the link %s lies in a writable tree and leads out of it; name %s itself",
			r.List, r.Source.Text, d.linkInWritableTree(r), r.Path)
	}
	d.paths, d.seen = nil, map[pathKey]int{}
	for i, r := range kept {
		if !slices.Contains(drop, i) {
			d.add(r)
		}
	}
}

// linkInWritableTree returns a link of the rule that another entry makes writable; "" when there is none.
func (d *deriver) linkInWritableTree(r PathRule) string {
	if r.direct {
		return ""
	}
	for _, link := range r.Links {
		for dir := range ancestors(link) {
			if _, ok := d.seen[pathKey{AllowWrite, dir}]; ok && dir != r.Path {
				return link
			}
		}
	}
	return ""
}
