package evaluator

import (
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// zones are the directories of the host in whose place a sandbox with a private /tmp has a tmpfs of its own.
var zones = [...]string{"/tmp", "/dev/shm"}

// insertZones marks the zones, and what of the host re-appears in them: the working directory and each existing entry
// of the settings that lies below. A protected path is no entry of the settings, and an absent one cannot be mounted.
func (b *builder) insertZones(cwd string) error {
	for _, zone := range zones {
		root, err := b.insert(zone)
		if err != nil {
			return err
		}
		b.nodes[root].hidden, b.nodes[root].tmpWay = true, true
		// A working directory that is the zone itself keeps the host's: nothing of it could be left out.
		if cwd == zone || strings.HasPrefix(cwd, zone+"/") {
			i, err := b.insert(cwd)
			if err != nil {
				return err
			}
			b.own[i].anchor = true
		}
		b.anchorEntries(root)
	}
	return nil
}

// anchorEntries marks the existing entries strictly below the node at root.
func (b *builder) anchorEntries(root int32) {
	below := make([]bool, len(b.nodes))
	for i := int(root) + 1; i < len(b.nodes); i++ {
		parent := b.nodes[i].parent
		if below[i] = parent == root || below[parent]; !below[i] {
			continue
		}
		for list, r := range b.own[i].rules {
			if r != nil && r.Exists && srtconfig.List(list) != srtconfig.Protected {
				b.own[i].anchor = true
			}
		}
	}
}
