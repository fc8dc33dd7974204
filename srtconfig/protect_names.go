package srtconfig

import "strings"

// protectedName is a name that a program may not write, because something outside the sandbox runs or obeys it later.
type protectedName struct {
	name string // relative to the directory that it stands in
	dir  bool
}

// protectedNames are those of srt 0.0.78 (dist/sandbox/sandbox-utils.js, DANGEROUS_FILES and getDangerousDirectories)
// and the settings files of Claude Code, which srt adds elsewhere. Git's own files are in gitNames.
var protectedNames = [...]protectedName{
	{".gitconfig", false}, {".gitmodules", false},
	{".bashrc", false}, {".bash_profile", false}, {".zshrc", false}, {".zprofile", false}, {".profile", false},
	{".ripgreprc", false}, {".mcp.json", false},
	{".vscode", true}, {".idea", true},
	{".claude/commands", true}, {".claude/agents", true},
	{".claude/settings.json", false}, {".claude/settings.local.json", false},
}

// gitName is a protected name inside a git directory.
type gitName struct {
	name   string
	dir    bool
	config bool // freed by filesystem.allowGitConfig
}

// gitNames are the names in a git directory that make git run programs, or read such names from another directory:
// commondir is looked for in every git directory, and a new one would lead to hooks of the writer's choice
// (gitrepository-layout(5)).
var gitNames = [...]gitName{
	{"hooks", true, false},
	{"info/attributes", false, false},
	{"commondir", false, false},
	{"config", false, true},
	{"config.worktree", false, true},
}

// worktreeGitNames are those of a linked worktree's own git directory; git takes the others from the common directory.
var worktreeGitNames = [...]gitName{
	{"commondir", false, false},
	{"config.worktree", false, true},
}

const (
	dotGit    = ".git"
	dotClaude = ".claude"
)

// searchedFor reports that a directory entry is worth a note when names are looked for below a writable tree.
func searchedFor(name string) bool {
	if name[0] != '.' {
		return false
	}
	if name == dotGit || name == dotClaude {
		return true
	}
	for _, p := range protectedNames {
		if p.name == name {
			return true
		}
	}
	return false
}

// notSearched tells the directories that names are not looked for in: those that are protected as a whole or by a
// table of their own, and node_modules, as in srt, whose thousands of packages hold no project of the user.
func notSearched(name string) bool {
	switch name {
	case dotGit, dotClaude, ".vscode", ".idea", "node_modules":
		return true
	}
	return false
}

// note keeps a name that could need protection.
func (v *visitor) note(name string) {
	switch {
	case searchedFor(name):
		v.out.names = append(v.out.names, foundName{dir: v.item.path, name: strings.Clone(name)})
	case name == "HEAD", name == "objects", name == "refs":
		v.gitFiles++
	}
}
