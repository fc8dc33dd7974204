package srtconfig

import (
	"os"
	"path"
	"strings"
)

// gitFinder follows a repository to every directory from which git takes hooks and configuration.
type gitFinder struct {
	links      *resolver
	home       string
	configHome string
	freeConfig bool // filesystem.allowGitConfig
	// protect is told each path: name is for messages, config whether allowGitConfig frees it.
	protect func(at, name string, dir bool)

	seenDirs   map[string]bool
	configs    map[string][]string // core.hooksPath by configuration file, included files counted in
	hooksPaths []string            // of the files of the user and of the system
}

// Bounds for what a hostile repository can make of links from file to file.
const (
	maxGitFileBytes   = 64 << 10
	maxGitConfigBytes = 1 << 20
	maxGitIncludes    = 10 // as in git: config.c, MAX_INCLUDE_DEPTH
	maxModuleDepth    = 16
)

// userConfig reads the files that hold for every repository of the user (git-config(1), FILES).
func (g *gitFinder) userConfig() {
	files := []string{"/etc/gitconfig"}
	if g.configHome != "" {
		files = append(files, path.Join(g.configHome, "git/config"))
	}
	if g.home != "" {
		files = append(files, path.Join(g.home, ".gitconfig"))
	}
	for _, f := range files {
		g.hooksPaths = append(g.hooksPaths, g.config(f, true, 0)...)
	}
}

// config returns the values of core.hooksPath in a file and in those that it includes, and protects the included ones:
// who writes them writes the configuration. A condition of an include is taken to hold.
func (g *gitFinder) config(file string, keep bool, depth int) []string {
	if known, ok := g.configs[file]; ok || depth > maxGitIncludes {
		return known
	}
	g.configs[file] = nil // a file that includes itself adds nothing
	text, err := readRegular(file, maxGitConfigBytes)
	if err != nil {
		return nil
	}
	var hooks []string
	for _, v := range parseGitConfig(string(text)) {
		switch {
		case v.section == "core" && v.name == "hookspath" && v.value != "":
			hooks = append(hooks, v.value)
		case (v.section == "include" || v.section == "includeif") && v.name == "path":
			included, ok := g.expand(v.value, path.Dir(file))
			if !ok {
				continue
			}
			if keep || !g.freeConfig {
				g.protect(included, "git configuration included by "+file, false)
			}
			hooks = append(hooks, g.config(included, keep, depth+1)...)
		}
	}
	g.configs[file] = hooks
	return hooks
}

// expand makes a path of git's configuration absolute. ok is false for the forms that name no path here.
func (g *gitFinder) expand(p, base string) (string, bool) {
	switch {
	case p == "" || strings.ContainsRune(p, 0) || strings.HasPrefix(p, "%("):
		return "", false
	case strings.HasPrefix(p, "~"):
		if g.home == "" || p != "~" && !strings.HasPrefix(p, "~/") {
			return "", false
		}
		return g.home + p[1:], true
	case path.IsAbs(p):
		return p, true
	}
	return base + "/" + p, true
}

// worktree protects what the .git of a working tree leads to. With always, the names are protected where no repository
// is yet.
func (g *gitFinder) worktree(dir string, always bool) {
	at := path.Join(dir, dotGit)
	r, err := g.links.resolve(at)
	switch {
	case err != nil:
		// A link that leads nowhere: replacing it would make a repository.
		g.protect(at, dotGit, false)
	case !r.exists:
		if always {
			g.names(at, gitNames[:])
		}
	case r.dir:
		// Through the link, when .git is one: it is then kept from being replaced.
		g.names(at, gitNames[:])
		g.gitDir(r.path, dir)
	default:
		// The file says where the repository is, so that to write it is to choose hooks.
		g.protect(at, dotGit, false)
		g.gitFile(r.path, dir)
	}
}

// gitFile follows "gitdir: PATH" (gitrepository-layout(5)). An empty or foreign file leads nowhere.
func (g *gitFinder) gitFile(file, tree string) {
	text, err := readRegular(file, maxGitFileBytes)
	if err != nil {
		return
	}
	target, ok := strings.CutPrefix(string(text), "gitdir:")
	if !ok {
		return
	}
	target = strings.Trim(target, " \t\r\n")
	if target == "" || strings.ContainsRune(target, 0) {
		return
	}
	if !path.IsAbs(target) {
		target = path.Dir(file) + "/" + target
	}
	if r, err := g.links.resolve(target); err == nil && r.dir {
		g.gitDir(r.path, tree)
	}
}

// gitDir protects a git directory (resolved), the one that it shares with others, and the submodules and linked
// worktrees below it. tree is the working tree that led here; "" for none.
func (g *gitFinder) gitDir(dir, tree string) {
	if tree != "" || !g.seenDirs[dir] {
		g.hooks(dir, tree)
	}
	if g.seenDirs[dir] {
		return
	}
	g.seenDirs[dir] = true
	if common, ok := g.commonDir(dir); ok {
		g.names(dir, worktreeGitNames[:])
		g.gitDir(common, tree)
		return
	}
	g.names(dir, gitNames[:])
	g.modules(path.Join(dir, "modules"), 0)
	g.linkedWorktrees(path.Join(dir, "worktrees"))
}

// commonDir reads the file commondir of a linked worktree's git directory.
func (g *gitFinder) commonDir(dir string) (string, bool) {
	text, err := readRegular(path.Join(dir, "commondir"), maxGitFileBytes)
	if err != nil {
		return "", false
	}
	target := strings.Trim(string(text), " \t\r\n")
	if target == "" || strings.ContainsRune(target, 0) {
		return "", false
	}
	if !path.IsAbs(target) {
		target = dir + "/" + target
	}
	r, err := g.links.resolve(target)
	if err != nil || !r.dir || !r.exists || r.path == dir {
		return "", false
	}
	return r.path, true
}

func (g *gitFinder) names(dir string, names []gitName) {
	for _, n := range names {
		if n.config && g.freeConfig {
			continue
		}
		g.protect(path.Join(dir, n.name), dotGit+"/"+n.name, n.dir)
	}
}

// hooks protects the directories that core.hooksPath names. A relative one starts where git runs hooks: in the working
// tree, or in the git directory of a bare repository (git-config(1), core.hooksPath).
func (g *gitFinder) hooks(dir, tree string) {
	values := append([]string{}, g.hooksPaths...)
	bases := []string{dir}
	if tree != "" {
		bases[0] = tree
	}
	for _, name := range []string{"config", "config.worktree"} {
		file := path.Join(dir, name)
		values = append(values, g.config(file, false, 0)...)
		bases = append(bases, g.coreWorktree(file, dir)...)
	}
	for _, v := range values {
		for _, base := range bases {
			if p, ok := g.expand(v, base); ok {
				g.protect(p, "core.hooksPath", true)
			}
		}
	}
}

// coreWorktree is where the configuration of a submodule says that its working tree is.
func (g *gitFinder) coreWorktree(file, dir string) []string {
	text, err := readRegular(file, maxGitConfigBytes)
	if err != nil {
		return nil
	}
	var out []string
	for _, v := range parseGitConfig(string(text)) {
		if v.section == "core" && v.name == "worktree" {
			if p, ok := g.expand(v.value, dir); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

// modules finds the git directories of submodules; a submodule's name may hold slashes.
func (g *gitFinder) modules(dir string, depth int) {
	entries, err := os.ReadDir(dir)
	if err != nil || depth > maxModuleDepth {
		return
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		sub := path.Join(dir, e.Name())
		if isGitDir(sub) {
			g.gitDir(sub, "")
		} else {
			g.modules(sub, depth+1)
		}
	}
}

func (g *gitFinder) linkedWorktrees(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		sub := path.Join(dir, e.Name())
		tree := ""
		if text, err := readRegular(path.Join(sub, "gitdir"), maxGitFileBytes); err == nil {
			if at := strings.Trim(string(text), " \t\r\n"); path.IsAbs(at) && path.Base(at) == dotGit && !strings.ContainsRune(at, 0) {
				tree = path.Dir(at)
			}
		}
		g.gitDir(sub, tree)
	}
}

// isGitDir reports that a directory looks to git like one of its own: HEAD, and either objects and refs or commondir
// (setup.c, is_git_directory).
func isGitDir(dir string) bool {
	has := func(name string) bool {
		_, err := os.Lstat(path.Join(dir, name))
		return err == nil
	}
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}
