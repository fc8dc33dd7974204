package differential

import (
	"context"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// shrink makes the smallest world that it finds in which the question still gives a disagreement of the same kind.
func (r rig) shrink(ctx context.Context, w world, d disagreement) (world, disagreement) {
	still := func(c world) (disagreement, bool) {
		o, err := r.runCase(ctx, c, []question{d.question})
		if err != nil || len(o.differ) == 0 || o.differ[0].kind() != d.kind() {
			return disagreement{}, false
		}
		return o.differ[0], true
	}
	for again := true; again && ctx.Err() == nil; {
		again = false
		for _, c := range smaller(w) {
			if found, ok := still(c); ok {
				w, d, again = c, found, true
				break
			}
		}
	}
	return w, d
}

// smaller returns worlds with one thing less, larger cuts first.
func smaller(w world) []world {
	var out []world
	for i := range w.nodes {
		top := w.nodes[i].path
		c := w
		c.nodes = slices.DeleteFunc(slices.Clone(w.nodes), func(n node) bool {
			return n.path == top || strings.HasPrefix(n.path, top+"/") || n.kind == hardLink && (n.target == top || strings.HasPrefix(n.target, top+"/"))
		})
		gone := func(p string) bool { return p == top || strings.HasPrefix(p, top+"/") }
		if gone(w.cwd) || gone(w.home) {
			continue
		}
		out = append(out, c)
	}
	lists := func(f *srtconfig.FilesystemSettings) []*[]srtconfig.PathEntry {
		return []*[]srtconfig.PathEntry{&f.DenyRead, &f.AllowRead, &f.AllowWrite, &f.DenyWrite}
	}
	for i, l := range lists(&w.settings.Filesystem) {
		for j := range *l {
			c := w
			f := &c.settings.Filesystem
			*lists(f)[i] = slices.Delete(slices.Clone(*l), j, j+1)
			out = append(out, c)
		}
	}
	for _, change := range []func(*world){
		func(c *world) { c.home = "-" },
		func(c *world) { c.cwd = "" },
		func(c *world) { c.base = "/var/tmp" },
		func(c *world) { c.settings.Own.Tmp = srtconfig.TmpPrivate },
		func(c *world) { c.settings.Filesystem.AllowGitConfig = false },
	} {
		c := w
		change(&c)
		if c.home != w.home || c.cwd != w.cwd || c.base != w.base || c.settings.Own.Tmp != w.settings.Own.Tmp ||
			c.settings.Filesystem.AllowGitConfig != w.settings.Filesystem.AllowGitConfig {
			out = append(out, c)
		}
	}
	return out
}
