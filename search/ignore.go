package search

import (
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreRules are the ignore files that speak of a directory, as gitignore(5) has them: the deepest first, and of one
// directory .rgignore before .ignore before .gitignore. It is immutable: enter makes another.
type ignoreRules struct {
	files [][]ignoreLine
	git   bool // the directory lies in a repository, so that .gitignore counts
}

// ignoreLine is one line of an ignore file.
type ignoreLine struct {
	pattern string // from the root of the tree
	keep    bool   // a ! brings back what an earlier line ignores
	dirOnly bool
}

func (r ignoreRules) enter(tree fs.FS, dir string) ignoreRules {
	in := ignoreRules{git: r.git}
	if _, err := fs.Stat(tree, path.Join(dir, ".git")); err == nil {
		in.git = true
	}
	for _, name := range []string{".rgignore", ".ignore", ".gitignore"} {
		if name == ".gitignore" && !in.git {
			continue
		}
		if text, err := fs.ReadFile(tree, path.Join(dir, name)); err == nil {
			in.files = append(in.files, ignoreLines(dir, string(text)))
		}
	}
	in.files = append(in.files, r.files...)
	return in
}

// ignores reports whether the rules ignore an entry. Of one file the last line that matches decides, and the first file
// that has one.
func (r ignoreRules) ignores(name string, dir bool) bool {
	for _, lines := range r.files {
		for i := len(lines) - 1; i >= 0; i-- {
			l := lines[i]
			if (dir || !l.dirOnly) && doublestar.MatchUnvalidated(l.pattern, name) {
				return !l.keep
			}
		}
	}
	return false
}

func ignoreLines(dir, text string) []ignoreLine {
	var lines []ignoreLine
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if trimmed := strings.TrimRight(line, " "); !strings.HasSuffix(trimmed, `\`) {
			line = trimmed
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var l ignoreLine
		line, l.keep = strings.CutPrefix(line, "!")
		line, l.dirOnly = strings.CutSuffix(line, "/")
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		l.pattern = strings.TrimPrefix(line, "/")
		if dir != "." {
			l.pattern = literalGlob(dir) + "/" + l.pattern
		}
		if doublestar.ValidatePattern(l.pattern) {
			lines = append(lines, l)
		}
	}
	return lines
}

// literalGlob is a glob that matches a path and nothing else.
func literalGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`).Replace(name)
}
