package evaluator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// Narrows returns nil if inner allows nothing that outer does not, and else a [*srtconfig.PolicyConflictError] that
// names the entry of the first thing that it allows too much. Any other error says that one of the two is no policy,
// see [New].
//
// Paths are compared for reading, writing and removing at every entry of both, at every ancestor of one, and at names
// below that neither knows; between those, no answer changes. All else is compared entry by entry, see
// [srtconfig.Rules.NarrowsApartFromPaths]: what is narrower only in sum may be called a conflict, but no conflict is
// missed.
//
// Every policy narrows itself, and one that narrows a second which narrows a third narrows the third.
func Narrows(inner, outer *srtconfig.Rules) error {
	c, err := newComparison(inner, outer)
	if err != nil {
		return err
	}
	if conflict := c.paths(); conflict != nil {
		return conflict.policyError()
	}
	if g := c.missingGlob(); g != nil {
		return &srtconfig.PolicyConflictError{Source: g.Source, Message: "the inner policy lacks this pattern, and opens some of what it may match later"}
	}
	if r := c.missingAddress(); r != nil {
		return &srtconfig.PolicyConflictError{Source: r.Source, Message: "the inner policy does not deny this address, which a name that it allows may resolve to"}
	}
	return inner.NarrowsApartFromPaths(outer)
}

// comparison is two policies side by side.
type comparison struct {
	inner, outer side
	probes       []string // the entries of both and their ancestors, sorted
}

// side is one policy with its evaluator, and the same without its patterns.
type side struct {
	rules      *srtconfig.Rules
	full, bare *Evaluator
}

func newComparison(inner, outer *srtconfig.Rules) (c *comparison, err error) {
	c = &comparison{}
	if c.inner, err = newSide(inner); err != nil {
		return nil, fmt.Errorf("inner policy: %w", err)
	}
	if c.outer, err = newSide(outer); err != nil {
		return nil, fmt.Errorf("outer policy: %w", err)
	}
	seen := map[string]bool{"/": true}
	add := func(path string) {
		for ; !seen[path]; path = parentOf(path) {
			seen[path] = true
		}
	}
	for _, zone := range zones {
		add(zone)
	}
	for _, rules := range []*srtconfig.Rules{inner, outer} {
		add(rules.Cwd())
		for _, r := range rules.Paths() {
			add(r.Path)
			for _, link := range r.Links {
				add(link)
			}
		}
	}
	for path := range seen {
		c.probes = append(c.probes, path)
	}
	slices.Sort(c.probes)
	return c, nil
}

func newSide(rules *srtconfig.Rules) (side, error) {
	full, err := New(rules)
	if err != nil {
		return side{}, err
	}
	in := inputOf(rules)
	in.globs = nil
	bare, err := newEvaluator(in)
	if err != nil {
		return side{}, err
	}
	bare.disabled = full.disabled
	return side{rules: rules, full: full, bare: bare}, nil
}

// pathConflict is a question about a path that the inner policy answers with more than the outer one.
type pathConflict struct {
	path         string
	inner, outer Decision
}

func (c *pathConflict) policyError() *srtconfig.PolicyConflictError {
	source, opens := srtconfig.Source{}, "the default of the inner policy"
	if r := c.inner.Rule; r != nil {
		source, opens = r.Source, entryText(r.List.String(), r.Source)
	} else if r := c.outer.Rule; r != nil {
		source = r.Source
	}
	path := strings.ReplaceAll(c.path, unknown, "...")
	return &srtconfig.PolicyConflictError{Source: source, Message: fmt.Sprintf("%s lets a command %s %q, and the outer policy does not: %s",
		opens, c.inner.Op, path, c.outer.Explain())}
}

// unknown is a name that no entry has.
const unknown = "\x01unknown"

// below is a name below path that stands for all those that no entry knows.
func below(path string) string { return strings.TrimSuffix(path, "/") + "/" + unknown }

// paths compares what the two allow of paths. A name that stands for others must not meet a pattern that the others do
// not: there the policies are compared without patterns, which missingGlob compares.
func (c *comparison) paths() *pathConflict {
	// Removal comes last: that a name may not be taken away is most often the trace of something that says more.
	for _, can := range []func(*Evaluator, string) Decision{(*Evaluator).CanRead, (*Evaluator).CanWrite, (*Evaluator).CanRemove} {
		for _, path := range c.probes {
			for _, conflict := range []pathConflict{
				{path, can(c.inner.full, path), can(c.outer.full, path)},
				{path, can(c.inner.bare, path), can(c.outer.bare, path)},
				{below(path), can(c.inner.bare, below(path)), can(c.outer.bare, below(path))},
			} {
				if extent(conflict.inner) > extent(conflict.outer) {
					return &conflict
				}
			}
		}
	}
	return nil
}

// extent orders answers by what they let happen: a directory that shows the way shows less than one that is open.
func extent(d Decision) int {
	switch {
	case !d.Allowed:
		return 0
	case d.Reason == Way:
		return 1
	}
	return 2
}

// missingGlob finds a pattern of the outer policy that the inner one lacks, where that allows anything below the
// pattern's directory: a file that is made later could be denied by the one and allowed by the other.
func (c *comparison) missingGlob() *srtconfig.GlobRule {
	mine := c.inner.rules.Globs()
	for _, g := range c.outer.rules.Globs() {
		same := func(m srtconfig.GlobRule) bool { return m.List == g.List && m.Pattern == g.Pattern }
		if !slices.ContainsFunc(mine, same) && c.opensBelow(globBase(g.Pattern), g.List) {
			return &g
		}
	}
	return nil
}

// globBase is a directory that holds all matches of an absolute pattern.
func globBase(pattern string) string {
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		pattern = pattern[:i]
	}
	return parentOf(pattern)
}

// opensBelow reports whether the inner policy allows something at or below dir that a pattern of list would deny.
func (c *comparison) opensBelow(dir string, list srtconfig.List) bool {
	can := c.inner.bare.CanRead
	if list == srtconfig.DenyWrite {
		can = c.inner.bare.CanWrite
	}
	for _, path := range append([]string{dir}, c.probes...) {
		if path != dir && dir != "/" && !strings.HasPrefix(path, dir+"/") {
			continue
		}
		if extent(can(path)) == 2 || extent(can(below(path))) == 2 {
			return true
		}
	}
	return false
}

// missingAddress finds an address that the outer policy denies and the inner one does not, where the inner one allows
// any host: a denied address is also refused when an allowed name resolves to it, as in srt 0.0.78
// (dist/sandbox/resolved-address-guard.js), so that lists of names are never apart from it.
func (c *comparison) missingAddress() *srtconfig.DomainRule {
	inner := c.inner.rules.Network()
	if len(inner.AllowedDomains) == 0 && !inner.AllowAllDomains {
		return nil
	}
	for _, r := range c.outer.rules.Network().DeniedDomains {
		if _, isAddr := r.Pattern.Addr(); !isAddr {
			continue
		}
		if !slices.ContainsFunc(inner.DeniedDomains, func(in srtconfig.DomainRule) bool { return in.Pattern.Covers(r.Pattern) }) {
			return &r
		}
	}
	return nil
}
