package search

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Scope is what searches for content and for names have in common.
type Scope struct {
	// Path is the directory or file to search, relative to the workspace root and slash-separated, as a path translator
	// gives it. "" and "." are the root.
	Path string
	// IGlob narrows the files, without regard to case; "" does not. See Glob of [ContentQuery].
	IGlob string
	// Limit is the greatest number of items, at least 1; nil is no limit.
	Limit *int
	// MaxDepth is how many levels are searched, at least 1: 1 is the files directly in Path. Nil is every level.
	MaxDepth *int
	// Hidden includes entries whose name begins with a dot.
	Hidden bool
	// NoIgnore includes what .gitignore, .ignore and .rgignore files leave out.
	NoIgnore bool
	// Follow follows links to what they lead to. It is refused unless the Search declares that it supports it.
	Follow bool
	// Report is filled in by the time of the done frame; nil = not wanted.
	Report *Report
}

// ContentQuery asks for lines. Apart from Pattern, the zero value of each field leaves the search as wide as can be.
type ContentQuery struct {
	Scope
	// Pattern is a regular expression that is matched line by line. Required; the empty one matches every line.
	Pattern string
	// Glob narrows which files are searched; "" does not. Without a slash it speaks of the name of a file, at any depth. With
	// one, it speaks of the whole path from Scope.Path on, where ** stands for any number of directories, none included; a
	// leading slash or ./ is such a slash and matches nothing itself. dir/ stands for all below dir. A leading ! leaves out what
	// the rest matches. {a,b}, [a-z], [!a] and \ work. A glob only narrows: it never brings back a hidden or ignored file.
	Glob string
	// IgnoreCase matches without regard to case.
	IgnoreCase bool
	// Literal takes the pattern as a fixed string.
	Literal bool
}

// PathQuery asks for files by path.
type PathQuery struct {
	Scope
	// Glob is what a path must match; see [ContentQuery]. Required.
	Glob string
}

// Bounds of what a caller may ask with.
const (
	// MaxPattern is in bytes. An argument of a program may be 128 KiB (execve(2), MAX_ARG_STRLEN).
	MaxPattern = 64 << 10
	// MaxGlob is in bytes.
	MaxGlob = 4 << 10
)

// names of the tools, for messages about their arguments.
const (
	contentTool = "search_files"
	pathTool    = "find_files"
)

// Validate checks the query. supportsFollow is what the Search declares. The error is an *outcome.Error, of the outcome
// InvalidArguments, InvalidPattern or PathRejected. Every Search calls it before anything else.
func (q ContentQuery) Validate(supportsFollow bool) error {
	if err := q.Scope.validate(contentTool, supportsFollow); err != nil {
		return err
	}
	switch {
	case len(q.Pattern) > MaxPattern:
		return badPattern(q.Pattern[:64]+"…", outcome.Number("It is longer than ", MaxPattern, " bytes."), nil)
	case strings.ContainsRune(q.Pattern, 0):
		return badPattern(q.Pattern, "It holds a NUL byte; files that hold one are taken for binary and not searched.", nil)
	case strings.ContainsRune(q.Pattern, '\n'):
		return badPattern(q.Pattern, "It holds a line feed, and lines are matched one by one; search for one line of it.", nil)
	case !utf8.ValidString(q.Pattern):
		return badPattern(q.Pattern, `It is not UTF-8; write other bytes as \xFF with the flag (?-u).`, nil)
	}
	_, err := q.narrowing()
	return err
}

// Validate checks the query; see [ContentQuery.Validate].
func (q PathQuery) Validate(supportsFollow bool) error {
	if err := q.Scope.validate(pathTool, supportsFollow); err != nil {
		return err
	}
	if q.Glob == "" {
		return invalid(pathTool, "glob is missing or empty.")
	}
	_, err := q.narrowing()
	return err
}

func (s Scope) validate(tool string, supportsFollow bool) error {
	if s.Limit != nil && *s.Limit < 1 {
		return invalid(tool, "limit must be an integer of at least 1; leave it out for no limit.")
	}
	if s.MaxDepth != nil && *s.MaxDepth < 1 {
		return invalid(tool, "max_depth must be an integer of at least 1; leave it out for every level.")
	}
	if s.Follow && !supportsFollow {
		return followRefused(tool)
	}
	if strings.ContainsRune(s.Path, 0) {
		return outcome.Reject(s.Path, outcome.ReasonNUL)
	}
	if s.Path != "" && !filepath.IsLocal(s.Path) {
		return outcome.Reject(s.Path, outcome.ReasonEscapes)
	}
	return nil
}

func (q ContentQuery) narrowing() (narrowing, error) { return compileNarrowing(q.Glob, q.IGlob) }
func (q PathQuery) narrowing() (narrowing, error)    { return compileNarrowing(q.Glob, q.IGlob) }

func invalid(tool string, detail outcome.Plain) error {
	e := outcome.New(outcome.InvalidArguments, tool, nil)
	e.Detail = detail
	return e
}

func badPattern(pattern string, detail outcome.Plain, cause error) error {
	e := outcome.New(outcome.InvalidPattern, pattern, cause)
	e.Detail = detail
	return e
}

func followRefused(tool string) error {
	return invalid(tool, "follow cannot be true here: whether what links lead to stays within the sandbox's settings has not been audited for this search. Leave it out; search the place that a link leads to by its own path.")
}
