package srtconfig

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// settingsFileName is where settings are looked for when none are named.
const settingsFileName = ".srt-settings.json"

// protect adds the rules for protected names: in the working directory, in the home directory and at each writable
// tree whether or not they exist, and where the walk found them.
func (d *deriver) protect() {
	git := &gitFinder{
		links: d.links,
		home:  d.home, configHome: d.host.ConfigHome, freeConfig: d.settings.Filesystem.AllowGitConfig,
		seenDirs: map[string]bool{}, configs: map[string][]string{},
		protect: d.protectPath,
	}
	if git.configHome == "" && d.home != "" {
		git.configHome = path.Join(d.home, ".config")
	}
	git.userConfig()
	for _, root := range d.protectedRoots() {
		for _, n := range protectedNames {
			d.protectPath(path.Join(root, n.name), n.name, n.dir)
		}
		git.worktree(root, true)
		if isGitDir(root) {
			git.gitDir(root, "")
		}
	}
	d.protectFound(git)
	d.protectOwnFiles()
	d.checkWritesToProtected()
}

func (d *deriver) protectedRoots() []string {
	roots := []string{d.cwd}
	if d.home != "" {
		roots = append(roots, d.home)
	}
	for _, r := range d.paths {
		if r.List == AllowWrite && r.Dir {
			roots = append(roots, r.Path)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// protectFound adds what the walk met. In a .git or .claude that exists, names that do not exist are protected too:
// the directory is in use, and a new hook in it runs.
func (d *deriver) protectFound(git *gitFinder) {
	slices.SortFunc(d.found, func(a, b foundName) int { return strings.Compare(a.dir+"/"+a.name, b.dir+"/"+b.name) })
	for _, f := range slices.Compact(d.found) {
		switch f.name {
		case "":
			git.gitDir(f.dir, "")
		case dotGit:
			git.worktree(f.dir, false)
		case dotClaude:
			for _, n := range protectedNames {
				if strings.HasPrefix(n.name, dotClaude+"/") {
					d.protectPath(path.Join(f.dir, n.name), n.name, n.dir)
				}
			}
		default:
			i := slices.IndexFunc(protectedNames[:], func(n protectedName) bool { return n.name == f.name })
			d.protectPath(path.Join(f.dir, f.name), f.name, protectedNames[i].dir)
		}
	}
}

// protectOwnFiles keeps a command from choosing the rules of the next one.
func (d *deriver) protectOwnFiles() {
	type ownFile struct{ path, name string }
	own := []ownFile{
		{d.settings.path, "settings file"}, {d.host.SettingsFile, "settings file"}, {d.host.Executable, "sandboxctl"},
		{d.settings.Own.SeccompProfile, "seccomp profile"},
	}
	if d.home != "" {
		own = append(own, ownFile{path.Join(d.home, settingsFileName), "settings file"})
	}
	for _, f := range own {
		if f.path == "" {
			continue
		}
		base, rest, err := d.start(f.path)
		if err != nil {
			continue // own() reports it
		}
		d.protectPath(base+"/"+rest, f.name, false)
	}
}

// protectPath adds the rule for one path, which may be absent, a link, or both.
func (d *deriver) protectPath(at, name string, dir bool) {
	rule := PathRule{List: Protected, Dir: dir, Source: Source{Text: name}}
	r, err := d.links.resolve(at)
	switch {
	case err != nil:
		// A loop of links. Whoever replaces it makes the name.
		d.protectLink(at, rule)
		return
	case r.exists && ofDevices(r.path):
		// A link to /dev/null empties a start file on purpose. The device stays writable, the link may not be replaced.
		if len(r.links) > 0 {
			d.protectLink(at, rule)
		}
		return
	}
	if r.barrier != "" {
		d.cover(Protected, r.barrier, rule.Source)
	}
	rule.Path, rule.Exists, rule.Links = r.path, r.exists, r.links
	if r.exists {
		rule.Dir = r.dir
	}
	d.add(rule)
}

// protectLink protects a link whose target is nothing to protect.
func (d *deriver) protectLink(at string, rule PathRule) {
	parent, err := d.links.resolve(path.Dir(at))
	if err != nil {
		return
	}
	link := path.Join(parent.path, path.Base(at))
	rule.Path, rule.Exists, rule.Dir = link, false, false
	if info, err := os.Lstat(link); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		rule.Links = append(slices.Clone(parent.links), link)
	}
	d.add(rule)
}

// ofDevices reports an object that is neither a file nor a directory, or that lies in a tree of the kernel's.
func ofDevices(p string) bool {
	if within(p, "/dev") || within(p, "/proc") || within(p, "/sys") {
		return true
	}
	info, err := os.Lstat(p)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

func (d *deriver) checkWritesToProtected() {
	for _, r := range d.paths {
		if r.List != AllowWrite {
			continue
		}
		if p := d.nearestRule(r.Path, Protected); p != nil {
			d.warn(r.Source, "allowWrite entry %q opens nothing: %s is protected (%s)", r.Source.Text, p.Path, p.Source.Text)
		}
	}
}
