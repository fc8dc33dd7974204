package search

import "strconv"

// contentArguments are what a search for content has and one for names has not.
//
// A value of the model's is only ever the rest of an argument that begins with our option, or it follows "--": nothing
// that a model writes can be an option. "=" is what all versions of ripgrep take, also for a value that begins with "-".
func contentArguments(q ContentQuery) []string {
	return []string{
		"--json",
		either(q.IgnoreCase, "--ignore-case", "--case-sensitive"),
		either(q.Literal, "--fixed-strings", "--no-fixed-strings"),
		"--no-multiline",
		"--regexp=" + q.Pattern,
	}
}

// scopeArguments state both values of each switch, so that no arguments from the settings can turn one, and keep off what
// would run programs (--pre, --search-zip) or read a configuration from a place that a sandboxed command may have written.
func scopeArguments(s Scope, n narrowing) []string {
	args := []string{
		"--no-config", "--no-pre", "--no-search-zip", "--no-follow", "--no-ignore-messages", "--color=never",
		either(s.Hidden, "--hidden", "--no-hidden"),
		either(s.NoIgnore, "--no-ignore", "--ignore"),
	}
	if pattern, ok := n.nameGlob(); ok {
		args = append(args, "--type-add=narrowed:"+pattern, "--type=narrowed")
		if !s.Hidden {
			// A file of a chosen type is searched although it is hidden, in vain; a glob that excludes comes before that.
			args = append(args, "--glob=!.*")
		}
	}
	return args
}

func depthArgument(s Scope) []string {
	if s.MaxDepth == nil {
		return nil
	}
	return []string{"--max-depth=" + strconv.Itoa(*s.MaxDepth)}
}

func either(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}
