package evaluator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// glob is a deny pattern with its matcher, which is the rule itself but in tests.
type glob struct {
	rule    *srtconfig.GlobRule
	matcher matcher
}

// matcher is what is asked of a pattern, about absolute and clean paths. It must not allocate.
type matcher interface {
	Match(path string) bool  // the pattern matches the path itself
	Covers(path string) bool // it matches the path or one above it
}

// matched is the deepest prefix of a path, the path included, that a pattern matches. depth is -1 for none.
type matched struct {
	rule  *srtconfig.GlobRule
	depth int32
}

func compileGlobs(rules []srtconfig.GlobRule) []glob {
	globs := make([]glob, len(rules))
	for i := range rules {
		globs[i] = glob{rule: &rules[i], matcher: &rules[i]}
	}
	return globs
}

// ofList returns the globs of one list; nil for none. They come in one order, so that of two that match a path always
// the same decides.
func ofList(globs []glob, list srtconfig.List) []glob {
	var of []glob
	for _, g := range globs {
		if g.rule.List == list {
			of = append(of, g)
		}
	}
	slices.SortFunc(of, func(a, b glob) int {
		return cmp.Or(strings.Compare(a.rule.Pattern, b.rule.Pattern), compareSources(a.rule.Source, b.rule.Source))
	})
	return of
}

// deepestMatch tries path and each of its ancestors against each pattern.
func deepestMatch(globs []glob, path string) matched {
	best := matched{depth: -1}
	for i := range globs {
		g := &globs[i]
		if !g.matcher.Covers(path) {
			continue
		}
		depth := depthOf(path)
		for at := path; depth > max(best.depth, 0); depth, at = depth-1, parentOf(at) {
			if g.matcher.Match(at) {
				best = matched{rule: g.rule, depth: depth}
			}
		}
		if best.depth < 0 && g.matcher.Match("/") {
			best = matched{rule: g.rule}
		}
	}
	return best
}

func depthOf(path string) int32 {
	if path == "/" {
		return 0
	}
	return int32(strings.Count(path, "/"))
}
