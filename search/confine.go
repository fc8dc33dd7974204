package search

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// Confined narrows an Enforcer to what a search of one directory needs, so that a name which is swapped for a link while
// ripgrep walks leads it nowhere: it reads what the settings open below root, programs and libraries, and nothing else, and
// it writes nothing. An entry that re-opens a place in a denied directory counts if the place exists now.
//
// settings and host are those that the Enforcer's rules were derived from; root is the workspace. The caller closes what it
// gets. Errors are those of [srtconfig.Derive] and [enforcer.Enforcer.Narrow].
func Confined(ctx context.Context, e *enforcer.Enforcer, settings *srtconfig.Settings, host srtconfig.Host, root string) (*enforcer.Enforcer, error) {
	narrow, err := confine(settings, e.Rules(), root)
	if err != nil {
		return nil, err
	}
	// What closes all else must not close the working directory.
	host.Cwd = root
	rules, err := srtconfig.Derive(ctx, narrow, host)
	if err != nil {
		return nil, fmt.Errorf("narrow the settings to a search: %w", err)
	}
	return e.Narrow(rules)
}

// runtimePaths is where programs and their libraries are. Some are links into others, which have to be there too.
var runtimePaths = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/etc/ld.so.cache", "/etc/alternatives"}

// confine closes reading at / and opens anew what is open now below root and of the runtime. The denials stay as they are
// written, patterns included; so does everything but paths and the network.
func confine(settings *srtconfig.Settings, rules *srtconfig.Rules, root string) (*srtconfig.Settings, error) {
	judge, err := evaluator.New(rules)
	if err != nil {
		return nil, err
	}
	narrow := *settings
	narrow.Network = srtconfig.NetworkSettings{}
	fs := &narrow.Filesystem
	fs.Disabled = false
	fs.DenyRead = append(absolute(fs.DenyRead, rules.Cwd(), root), srtconfig.PathEntry{Path: "/"})
	fs.DenyWrite = absolute(fs.DenyWrite, rules.Cwd(), root)
	fs.AllowRead, fs.AllowWrite = nil, nil
	reopen := func(path string) {
		// One that only shows the way to what is open below would open all below.
		if d := judge.CanRead(path); d.Allowed && d.Reason != evaluator.Way {
			fs.AllowRead = append(fs.AllowRead, srtconfig.PathEntry{Path: path, Literal: true})
		}
	}
	reopen(root)
	for _, p := range rules.Paths() {
		// Writing re-opens reading too.
		if (p.List == srtconfig.AllowRead || p.List == srtconfig.AllowWrite) && p.Exists && strings.HasPrefix(p.Path, strings.TrimSuffix(root, "/")+"/") {
			reopen(p.Path)
		}
	}
	for _, path := range append(slices.Clone(runtimePaths), program(rules.Ripgrep())...) {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		// The entry opens what a link leads to, so that is asked about. Longer chains are left to Narrow, which refuses more
		// than there was.
		if target, err := os.Readlink(path); err == nil && !judge.CanRead(filepath.Join(filepath.Dir(path), target)).Allowed && !filepath.IsAbs(target) {
			continue
		}
		reopen(path)
	}
	return &narrow, nil
}

// absolute makes relative entries mean the same for a session that starts in another directory.
func absolute(entries []srtconfig.PathEntry, from, to string) []srtconfig.PathEntry {
	entries = slices.Clone(entries)
	if from == to {
		return entries
	}
	// In brackets each of these stands for itself.
	pattern := strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(from)
	for i, e := range entries {
		switch {
		case filepath.IsAbs(e.Path), e.Path == "~", strings.HasPrefix(e.Path, "~/"):
		case e.Literal:
			entries[i].Path = from + "/" + e.Path
		default:
			entries[i].Path = pattern + "/" + e.Path
		}
	}
	return entries
}

// program is where ripgrep is, when that can be told; it may lie outside of the usual places.
func program(s srtconfig.RipgrepSettings) []string {
	name := s.Command
	if name == "" {
		name = "rg"
	}
	found, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(found) {
		return nil // then the sandbox does not find it either, and says so
	}
	return []string{found}
}
