package srtconfig

import "slices"

// dropPlantedLinks takes out allowRead and allowWrite entries that go through a link which a command could have made
// in an earlier session: one inside a writable tree whose target lies outside of every such tree. Else a command could
// replace an open directory by a link to the user's keys, and find them open next time.
func (d *deriver) dropPlantedLinks() {
	writable := func(p string, but int) bool {
		return slices.ContainsFunc(d.paths, func(r PathRule) bool { return r.List == AllowWrite && within(p, r.Path) && r.Path != d.paths[but].Path })
	}
	planted := func(i int) (string, bool) {
		r := d.paths[i]
		if r.List != AllowWrite && r.List != AllowRead || writable(r.Path, i) {
			return "", false
		}
		for _, l := range r.Links {
			if writable(l, i) {
				return l, true
			}
		}
		return "", false
	}
	var drop []int
	for i := range d.paths {
		if link, ok := planted(i); ok {
			r := d.paths[i]
			d.warn(r.Source, "%s entry %q opens nothing: it goes through the link %s, which lies in a writable tree and leads out of it; name %s itself", r.List, r.Source.Text, link, r.Path)
			drop = append(drop, i)
		}
	}
	if len(drop) == 0 {
		return
	}
	kept := d.paths
	d.paths, d.seen = nil, map[pathKey]int{}
	for i, r := range kept {
		if !slices.Contains(drop, i) {
			d.add(r)
		}
	}
}
