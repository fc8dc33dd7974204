package srtconfig

import (
	"iter"
	"path"
	"strings"
)

// within reports that p is dir or lies below it.
func within(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}

// ancestors yields an absolute, clean path, then each directory above it, and "/" last.
func ancestors(p string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(p) && p != "/" {
			p = path.Dir(p)
		}
	}
}

// nearestRule returns the rule of a list that stands nearest at or above a path; nil when none does.
func (d *deriver) nearestRule(p string, list List) *PathRule {
	for dir := range ancestors(p) {
		if i, ok := d.seen[pathKey{list, dir}]; ok {
			return &d.paths[i]
		}
	}
	return nil
}

// checkWorkingDirectory refuses settings that hide the directory that every command starts in. Launchers have started
// it elsewhere then, where relative paths meant other files.
func (d *deriver) checkWorkingDirectory() {
	deny := d.nearestRule(d.cwd, DenyRead)
	if deny == nil {
		return
	}
	if allow := d.nearestRule(d.cwd, AllowRead); allow != nil && len(allow.Path) >= len(deny.Path) {
		return
	}
	if allow := d.nearestRule(d.cwd, AllowWrite); allow != nil && len(allow.Path) > len(deny.Path) {
		return
	}
	d.fail(deny.Source, "denyRead entry %q hides the working directory %s; start elsewhere, or add it to filesystem.allowRead", deny.Source.Text, d.cwd)
}

func (d *deriver) checkContradictions() {
	for _, r := range d.paths {
		if r.List != AllowWrite {
			continue
		}
		_, denied := d.seen[pathKey{DenyRead, r.Path}]
		_, reopened := d.seen[pathKey{AllowRead, r.Path}]
		if denied && !reopened {
			d.warn(r.Source, "allowWrite entry %q contradicts the denyRead entry for the same path: it stays closed; take one of them out", r.Source.Text)
		}
		if _, denied := d.seen[pathKey{DenyWrite, r.Path}]; denied {
			d.warn(r.Source, "allowWrite entry %q contradicts the denyWrite entry for the same path: nothing can be written there; take one of them out", r.Source.Text)
		}
	}
}

const tmpDir = "/tmp"

// checkTmp refuses a session in /tmp itself when commands see another /tmp: they would start in an empty directory.
func (d *deriver) checkTmp() {
	if d.settings.Own.Tmp == TmpHost {
		return
	}
	if d.cwd == tmpDir && !d.settings.Filesystem.Disabled {
		d.fail(d.source("/sandboxctl/tmp", ""), `the working directory is /tmp, and commands get a /tmp of their own; start in a directory below it, or set "sandboxctl": {"tmp": "host"}`)
	}
	for _, r := range d.paths {
		if r.Path == tmpDir && (r.List == AllowWrite || r.List == AllowRead) {
			d.warn(r.Source, `%s entry %q: commands get a /tmp of their own, not the host's; set "sandboxctl": {"tmp": "host"} to share it`, r.List, r.Source.Text)
		}
	}
}
