package evaluator

import (
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// zones are the directories of the host in whose place a sandbox with a private /tmp has a tmpfs of its own.
var zones = [...]string{"/tmp", "/dev/shm"}

// insertZones marks the zones, and what of the host re-appears in them: the working directory, and each existing entry of the
// settings that lies below and can be read. A protected path is no entry of the settings, an absent one cannot be mounted,
// and of a denied one nothing may show.
// Preconditions: the verdicts are there.
func (b *builder) insertZones(cwd string, readGlobs []glob) error {
	for _, zone := range zones {
		root, err := b.insert(zone)
		if err != nil {
			return err
		}
		b.own[root].zone, b.nodes[root].tmpWay = true, true
	}
	for _, zone := range zones {
		root, err := b.insert(zone)
		if err != nil {
			return err
		}
		// A working directory that is the zone itself keeps the host's: nothing of it could be left out.
		if cwd == zone || strings.HasPrefix(cwd, zone+"/") {
			i, err := b.insert(cwd)
			if err != nil {
				return err
			}
			b.own[i].anchor = true
		}
		b.anchorEntries(root, readGlobs)
	}
	return nil
}

// anchorEntries marks the existing entries strictly below the node at root that can be read, and the directories of the
// symlinks that lead to re-opened ones.
func (b *builder) anchorEntries(root int32, readGlobs []glob) {
	below := make([]bool, len(b.nodes))
	for i := int(root) + 1; i < len(b.nodes); i++ {
		parent := b.nodes[i].parent
		below[i] = parent == root || below[parent]
	}
	for i := range below {
		for list, r := range b.own[i].rules {
			if r == nil || !r.Exists || srtconfig.List(list) == srtconfig.Protected || !b.nodes[i].readable(deepestMatch(readGlobs, r.Path)) {
				continue
			}
			b.own[i].anchor = b.own[i].anchor || below[i]
			if !b.own[i].zone { // an entry for the zone itself opens nothing of it
				b.wayToLinks(b.own[i].ways, below)
			}
		}
	}
}

// wayToLinks marks the links in a zone that show there, so that their directories do.
func (b *builder) wayToLinks(links []string, below []bool) {
	for _, l := range links {
		if at, err := b.insert(l); err == nil && below[at] {
			b.nodes[at].tmpWay = true
		}
	}
}
