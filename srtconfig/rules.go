package srtconfig

import (
	"context"
	"errors"
	"slices"
)

// List names the settings list (or the built-in table) that an entry stands in.
// The zero value is no list.
type List uint8

// The lists, named as in the settings file.
const (
	DenyRead   List = iota + 1 // filesystem.denyRead
	AllowRead                  // filesystem.allowRead
	AllowWrite                 // filesystem.allowWrite
	DenyWrite                  // filesystem.denyWrite
	Protected                  // built in: never writable, see [Rules.Paths]
)

// String returns the name of the list as the settings file writes it, or "protected".
func (l List) String() string {
	switch l {
	case DenyRead:
		return "denyRead"
	case AllowRead:
		return "allowRead"
	case AllowWrite:
		return "allowWrite"
	case DenyWrite:
		return "denyWrite"
	case Protected:
		return "protected"
	}
	return "no list"
}

// Source says where an entry was written, so that a refusal can point at it.
type Source struct {
	File    string // the settings file as it was named; "" for a built-in entry
	Pointer string // JSON pointer, as in "/filesystem/denyRead/2"; "" for a built-in entry
	Line    int    // from 1; 0 for a built-in entry
	Column  int    // from 1, in bytes; 0 for a built-in entry
	Text    string // the entry as written, unexpanded
}

// PathRule is one resolved path of one list. It speaks of the path and of all below it.
type PathRule struct {
	List   List
	Path   string // absolute, clean, free of symlinks in every component that exists
	Dir    bool   // the path is a directory; for an absent path: whether the entry asked for one
	Exists bool   // at Derive; an absent AllowRead or AllowWrite entry is never here, it opens nothing
	// Links are the symlinks (absolute, parent resolved) that were followed from the written form to Path, outermost
	// first. They may not be replaced while the entry holds.
	Links  []string
	direct bool // another entry of the list names Path without a link, so that nothing depends on them
	Source Source
}

// GlobRule is a pattern of DenyRead or DenyWrite that was expanded to PathRules at Derive. It is kept so that the
// evaluator can also judge files that were made later, which the kernel side cannot.
type GlobRule struct {
	List List
	// Pattern is for messages: absolute, its directory resolved, and in brackets what is literal there. Its syntax is that
	// of Glob, in which a backslash and braces are ordinary characters; use Match.
	Pattern string
	Source  Source
	glob    *Glob
}

// Match reports whether the pattern matches an absolute, resolved path itself, and not only one above it. It does not
// allocate. A GlobRule that Derive did not make matches nothing.
func (g GlobRule) Match(path string) bool { return g.glob != nil && g.glob.Match(path) }

// Covers reports whether the pattern matches an absolute, resolved path or a directory above it. It does not allocate.
func (g GlobRule) Covers(path string) bool { return g.glob != nil && g.glob.Covers(path) }

// Warning is a remark about settings that are valid and yet may surprise.
type Warning struct {
	Source  Source
	Message string // one sentence, no final newline, names what to change
	Minor   bool   // often meant so, as a denial of what does not exist; for a check of settings, not for every run
}

// Rules is the policy: what Settings mean on one host for one session. Every path is absolute and resolved.
// It is immutable and safe for concurrent use. The zero value denies every write and every connection,
// and is refused by the evaluator and the enforcer, as it has no working directory.
type Rules struct {
	cwd, home string
	disabled  bool
	paths     []PathRule
	globs     []GlobRule
	network   NetworkRules
	tmp       TmpMode
	own       OwnSettings
	warnings  []Warning
	sources   map[string]Source
	weaker    bool
	ripgrep   RipgrepSettings
	git       GitSettings
	ignore    map[string][]string
	depth     int
	stats     DeriveStats

	settings *Settings // what it was derived from, for Refresh
	host     Host
}

// TmpMode says which /tmp a command sees. The zero value is TmpPrivate.
type TmpMode uint8

const (
	TmpPrivate TmpMode = iota // a tmpfs of the sandbox's own
	TmpHost                   // the host's, under the path rules
)

// DeriveStats counts the work that Derive did.
type DeriveStats struct {
	Walks       int // walks of a tree: 0 or 1
	Directories int // directories read
	Entries     int // names seen
}

// Refresh derives the same settings for the same host and session again. A command may have made what did not exist before (a
// repository with hooks, a file that a pattern matches), and the next one has to be kept off it. Errors are those of Derive.
func (r *Rules) Refresh(ctx context.Context) (*Rules, error) {
	if r.settings == nil {
		return nil, errors.New("internal error: rules that Derive did not make")
	}
	return Derive(ctx, r.settings, r.host)
}

// Cwd is the working directory of the session: absolute and resolved.
func (r *Rules) Cwd() string { return r.cwd }

// Home is the home directory: absolute and resolved; "" when there is none.
func (r *Rules) Home() string { return r.home }

// FilesystemDisabled reports filesystem.disabled: every read and write is open.
func (r *Rules) FilesystemDisabled() bool { return r.disabled }

// Paths returns every path entry, sorted by path and then by list. Protected entries are there for names that exist
// and for names that do not (see PathRule.Exists).
func (r *Rules) Paths() []PathRule { return slices.Clone(r.paths) }

// Globs returns the deny patterns.
func (r *Rules) Globs() []GlobRule { return slices.Clone(r.globs) }

// Network returns the network rules.
func (r *Rules) Network() NetworkRules { return r.network.clone() }

// Tmp says which /tmp a command sees.
func (r *Rules) Tmp() TmpMode { return r.tmp }

// Own returns the settings under the key "sandboxctl".
func (r *Rules) Own() OwnSettings { return r.own.clone() }

// Warnings returns what Derive found worth a remark.
func (r *Rules) Warnings() []Warning { return slices.Clone(r.warnings) }

// WeakerNested reports enableWeakerNestedSandbox: the host's /proc may stand in where a fresh one cannot be mounted.
func (r *Rules) WeakerNested() bool { return r.weaker }

// Stats counts the work that Derive did.
func (r *Rules) Stats() DeriveStats { return r.stats }

// Source returns where the value at a JSON pointer was written. ok is false when the settings do not hold it.
func (r *Rules) Source(pointer string) (Source, bool) {
	s, ok := r.sources[pointer]
	return s, ok
}

// Ripgrep says which ripgrep the search tools start.
func (r *Rules) Ripgrep() RipgrepSettings { return r.ripgrep.clone() }

// Git returns the section "git".
func (r *Rules) Git() GitSettings { return r.git.clone() }

// IgnoreViolations maps command patterns ("*" for all) to path prefixes whose refusals are not reported.
func (r *Rules) IgnoreViolations() map[string][]string { return cloneLists(r.ignore) }

// SearchDepth is how deep below writable trees protected names were looked for: 1 to 10.
func (r *Rules) SearchDepth() int { return r.depth }
