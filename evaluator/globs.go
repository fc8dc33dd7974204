package evaluator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// glob is a deny pattern with its matcher. match is given absolute and clean paths, allocates nothing and has no
// effect.
type glob struct {
	rule  *srtconfig.GlobRule
	match func(path string) bool
}

// sortGlobs puts globs into one order, so that of two that match a path always the same decides.
func sortGlobs(globs []glob) {
	slices.SortFunc(globs, func(a, b glob) int {
		return cmp.Or(cmp.Compare(a.rule.List, b.rule.List), strings.Compare(a.rule.Pattern, b.rule.Pattern),
			compareSources(a.rule.Source, b.rule.Source))
	})
}

func (e *Evaluator) readGlob(path string) globHit {
	if e.readGlobs == nil {
		return globHit{depth: -1}
	}
	return deepestMatch(e.readGlobs, path)
}

func (e *Evaluator) writeGlob(path string) globHit {
	if e.writeGlobs == nil {
		return globHit{depth: -1}
	}
	return deepestMatch(e.writeGlobs, path)
}

// ofList returns the globs of one list; nil for none.
func ofList(globs []glob, list srtconfig.List) []glob {
	var of []glob
	for _, g := range globs {
		if g.rule.List == list {
			of = append(of, g)
		}
	}
	return of
}

// deepestMatch tries path and then each of its ancestors.
func deepestMatch(globs []glob, path string) globHit {
	depth := int32(strings.Count(path, "/"))
	if path == "/" {
		depth = 0
	}
	for ; ; depth-- {
		for i := range globs {
			if globs[i].match(path) {
				return globHit{rule: globs[i].rule, depth: depth}
			}
		}
		if depth <= 0 {
			return globHit{depth: -1}
		}
		path = parentOf(path)
	}
}

// compileGlobs makes the matchers of the deny patterns.
func compileGlobs(rules []srtconfig.GlobRule) ([]glob, error) {
	if len(rules) > 0 {
		return nil, fmt.Errorf("internal: no matcher for the pattern %q", rules[0].Pattern)
	}
	return nil, nil
}
