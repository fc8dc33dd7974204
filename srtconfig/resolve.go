package srtconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// maxLinks is how many symlinks one path may go through, as in the kernel (MAXSYMLINKS, include/linux/namei.h).
const maxLinks = 40

// resolved is a path with every symlink followed.
type resolved struct {
	path   string
	links  []string // absolute, parent resolved, outermost first
	exists bool
	dir    bool
	hidden error // a component could not be looked at, so that nobody knows whether the path exists
	// barrier is the directory that could not be searched; "" when there was none.
	barrier string
}

var errLinkLoop = errors.New("too many symbolic links, or a loop of them")

// resolver resolves paths. What it once saw to be a directory, and no link, it does not look at again: protected names
// share nearly all of their components. It serves one Derive and is not safe for concurrent use.
type resolver struct{ dirs map[string]bool }

func newResolver() *resolver { return &resolver{dirs: map[string]bool{}} }

// resolve follows every symlink in an absolute path, as the kernel does: ".." after a link is the parent of its
// target. The tail that does not exist is kept as it is. It differs from filepath.EvalSymlinks in that it takes absent
// paths and tells which links it met, so that they can be kept from being replaced.
func (v *resolver) resolve(name string) (resolved, error) {
	r := resolved{path: "/", exists: true, dir: true}
	rest := strings.Split(name, "/")
	for len(rest) > 0 {
		component := rest[0]
		rest = rest[1:]
		switch component {
		case "", ".":
			continue
		case "..":
			r.path, r.dir = path.Dir(r.path), true
			if !r.exists {
				// Back out of the part that does not exist: look again where that leads.
				rest = append(strings.Split(r.path, "/"), rest...)
				r = resolved{path: "/", links: r.links, exists: true, dir: true}
			}
			continue
		}
		here := joinName(r.path, component)
		if !r.exists || r.hidden != nil {
			r.path = here
			continue
		}
		if !r.dir {
			r.path, r.exists = here, false
			continue
		}
		if v.dirs[here] {
			r.path = here
			continue
		}
		info, err := os.Lstat(here)
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			r.path, r.exists, r.dir = here, false, false
			continue
		case errors.Is(err, fs.ErrPermission):
			r.barrier = r.path
			r.path, r.exists, r.dir, r.hidden = here, false, false, err
			continue
		default:
			return resolved{}, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			r.path, r.dir = here, info.IsDir()
			if r.dir {
				v.dirs[here] = true
			}
			continue
		}
		r.links = append(r.links, here)
		if len(r.links) > maxLinks {
			return resolved{}, fmt.Errorf("%q: %w", name, errLinkLoop)
		}
		target, err := os.Readlink(here)
		if err != nil {
			return resolved{}, err
		}
		if strings.HasPrefix(target, "/") {
			r.path = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return r, nil
}

// absence says why a path leads to nothing; "" when it does not.
func (r resolved) absence() string {
	switch {
	case r.exists:
		return ""
	case r.hidden != nil:
		return "cannot be reached: permission denied"
	}
	return "does not exist"
}
