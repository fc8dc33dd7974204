package srtconfig

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Derive says what settings mean on one host for one session. It reads the file system (links, and at most one walk
// for patterns and protected names) and changes nothing. What is wrong with the settings comes back as *SettingsError,
// all of it at once; a plain error says what is wrong with the host. When ctx ends, Derive returns its error.
func Derive(ctx context.Context, s *Settings, host Host) (*Rules, error) {
	links := newResolver()
	cwd, home, err := host.directories(links)
	if err != nil {
		return nil, err
	}
	d := &deriver{settings: s, host: host, cwd: cwd, home: home, links: links, seen: map[pathKey]int{}}
	d.refuseMissingFeatures()
	if depth := d.searchDepth(); depth < 1 || depth > maxSearchDepth {
		return nil, errorAt(d.source("/mandatoryDenySearchDepth", ""), "want a number from 1 to %d, found %d", maxSearchDepth, depth)
	}
	if !s.Filesystem.Disabled {
		d.entries()
		if err := d.expand(ctx); err != nil {
			return nil, err
		}
		d.dropPlantedLinks()
		d.protect()
		d.checkWorkingDirectory()
		d.checkContradictions()
	}
	rules := &Rules{
		cwd: cwd, home: home, disabled: s.Filesystem.Disabled,
		network: d.network(), own: d.own(), tmp: s.Own.Tmp,
		sources: s.places, weaker: s.EnableWeakerNestedSandbox,
		ripgrep: s.Ripgrep.clone(), git: s.Git.clone(), ignore: cloneLists(s.IgnoreViolations),
		depth: d.searchDepth(),
		stats: d.stats,

		settings: s, host: host,
	}
	d.checkTmp()
	if len(d.errs) > 0 {
		return nil, joinErrors(d.errs)
	}
	slices.SortFunc(d.paths, func(a, b PathRule) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.List, b.List))
	})
	rules.paths, rules.globs, rules.warnings = d.paths, d.globs, d.warnings
	return rules, nil
}

// deriver gathers Rules.
type deriver struct {
	settings  *Settings
	host      Host
	cwd, home string
	links     *resolver

	paths    []PathRule
	seen     map[pathKey]int // index in paths
	globs    []GlobRule
	patterns []pattern
	found    []foundName
	warnings []Warning
	errs     []*SettingsError
	stats    DeriveStats
}

type pathKey struct {
	list List
	path string
}

func (d *deriver) fail(s Source, format string, args ...any) {
	d.errs = append(d.errs, errorAt(s, format, args...))
}

// note is a warning that is Minor.
func (d *deriver) note(s Source, format string, args ...any) {
	d.warnings = append(d.warnings, Warning{Source: s, Message: fmt.Sprintf(format, args...), Minor: true})
}

func (d *deriver) warn(s Source, format string, args ...any) {
	d.warnings = append(d.warnings, Warning{Source: s, Message: fmt.Sprintf(format, args...)})
}

// source returns where a value was written; for settings that were built in code, just what it is.
func (d *deriver) source(pointer, text string) Source {
	if s, ok := d.settings.places[pointer]; ok {
		return s
	}
	return Source{File: d.settings.file, Pointer: pointer, Text: text}
}

// add keeps one rule for a path in a list. Of several entries that name it, the first is the one that is shown, with the links
// of all. What is opened does not depend on a link when one entry does without.
func (d *deriver) add(r PathRule) {
	key := pathKey{r.List, r.Path}
	r.direct = r.direct || len(r.Links) == 0
	if i, ok := d.seen[key]; ok {
		d.paths[i].direct = d.paths[i].direct || r.direct
		for _, l := range r.Links {
			if !slices.Contains(d.paths[i].Links, l) {
				d.paths[i].Links = append(slices.Clip(d.paths[i].Links), l)
			}
		}
		d.paths[i].Dir = d.paths[i].Dir || r.Dir && !r.Exists
		return
	}
	d.seen[key] = len(d.paths)
	d.paths = append(d.paths, r)
}

// entries turns the four lists into rules.
func (d *deriver) entries() {
	for _, l := range d.settings.Filesystem.lists() {
		for i, e := range l.entries {
			d.entry(l.list, e, d.source(fmt.Sprintf("/filesystem/%s/%d", l.list, i), e.Path))
		}
	}
}

// cover closes a directory that cannot be looked into as a whole, in place of what is to be closed in it. A command that owns it
// could otherwise take its permissions away, which hides what is below from the rules of the next command, and give them
// back there.
func (d *deriver) cover(list List, dir string, src Source) {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil || int(st.Uid) != os.Geteuid() {
		return // whoever may not change its permissions stays out
	}
	if src.Line > 0 {
		d.warn(src, "%s entry %q: %s cannot be looked into, and is closed as a whole", list, src.Text, dir)
	}
	d.add(PathRule{List: list, Path: dir, Exists: true, Dir: true, Source: src})
}

// literal adds the rule for one path.
func (d *deriver) literal(list List, abs string, src Source) {
	r, err := d.links.resolve(abs)
	if err != nil {
		d.fail(src, "%w", err)
		return
	}
	if r.barrier != "" && denies(list) {
		d.cover(list, r.barrier, src)
	}
	if reason := r.absence(); reason != "" && denies(list) {
		d.note(src, "%s entry %q closes nothing now: %s %s", list, src.Text, r.path, reason)
	} else if reason != "" {
		d.warn(src, "%s entry %q opens nothing: %s %s; make it first, or take the entry out", list, src.Text, r.path, reason)
		return
	}
	d.add(PathRule{
		List: list, Path: r.path, Exists: r.exists, Dir: r.dir && r.exists || !r.exists && strings.HasSuffix(abs, "/"),
		Links: r.links, Source: src,
	})
}
