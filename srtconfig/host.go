package srtconfig

import (
	"errors"
	"fmt"
	"os"
	"path"
	"time"
)

// Host is what Derive has to know about the machine and the session. Nothing is read from the environment of the
// process, so that a test or an embedding program says it all.
type Host struct {
	// Cwd is the working directory of the session, absolute. Relative entries start here.
	Cwd string
	// Home is the home directory, absolute. "" when there is none: then "~" is an error.
	Home string
	// SettingsFile is protected from writing, as is the file that Load read. "" adds none.
	SettingsFile string
	// Executable is the path of sandboxctl, protected from writing. "" adds none.
	Executable string
	// ConfigHome is $XDG_CONFIG_HOME, where git looks for git/config. "" is Home/.config.
	ConfigHome string
	// Budget bounds the walk. Its zero value is DefaultBudget.
	Budget Budget
}

// Budget bounds the one walk that expands patterns and finds protected names. A walk that would exceed it is an error.
type Budget struct {
	Entries int           // names; 0 is that of DefaultBudget
	Matches int           // paths that patterns expand to; 0 is that of DefaultBudget
	Time    time.Duration // 0 is that of DefaultBudget
}

// DefaultBudget is enough for a tree of a few million files. A mount namespace holds 100,000 mounts unless
// fs.mount-max says otherwise (proc_sys_fs(5)), so that more matches than its half could not be enforced.
func DefaultBudget() Budget {
	return Budget{Entries: 5_000_000, Matches: 50_000, Time: 20 * time.Second}
}

func (b Budget) orDefault() Budget {
	d := DefaultBudget()
	if b.Entries != 0 {
		d.Entries = b.Entries
	}
	if b.Matches != 0 {
		d.Matches = b.Matches
	}
	if b.Time != 0 {
		d.Time = b.Time
	}
	return d
}

// directories resolves the working directory and home.
func (h Host) directories(links *resolver) (cwd, home string, err error) {
	if !path.IsAbs(h.Cwd) {
		return "", "", fmt.Errorf("the working directory %q is not an absolute path", h.Cwd)
	}
	if h.Home != "" && !path.IsAbs(h.Home) {
		return "", "", fmt.Errorf("the home directory %q is not an absolute path", h.Home)
	}
	before, err := os.Stat(h.Cwd)
	if err != nil {
		return "", "", fmt.Errorf("working directory: %w", err)
	}
	r, err := links.resolve(h.Cwd)
	if err != nil {
		return "", "", fmt.Errorf("working directory: %w", err)
	}
	// A link of /proc gives "/dir (deleted)" for a directory that was removed: its text is not its target.
	after, err := os.Lstat(r.path)
	if err != nil || !os.SameFile(before, after) {
		return "", "", fmt.Errorf("the working directory %q has been removed", h.Cwd)
	}
	if !r.dir {
		return "", "", fmt.Errorf("the working directory %q is no directory", h.Cwd)
	}
	if h.Home == "" {
		return r.path, "", nil
	}
	hr, err := links.resolve(h.Home)
	if err != nil {
		return "", "", fmt.Errorf("home directory: %w", err)
	}
	return r.path, hr.path, nil
}

// errNoHome is the reason why an entry with "~" cannot be read.
var errNoHome = errors.New(`"~" means nothing: there is no home directory`)
