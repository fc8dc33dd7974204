package workspace

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is the number of links that the kernel follows in one path (MAXSYMLINKS in its namei.h).
const maxLinks = 40

// closedOnTheWay reports whether path leads through, or fails at, something that the judge closes for reading: a closed
// link, a closed directory that ".." leads out of again, a closed entry that ends the walk. In the sandbox those are not
// there, so the tools must not show that they are.
//
// It is used to word a refusal, and to refuse; never to allow. So a swap while it walks gains nothing but a word.
func (r *Root) closedOnTheWay(asked string) bool {
	closed := false
	// An error of with means that the root was closed, after which nothing is told anyway.
	_ = with(r.dir, func(root int) error {
		w := walk{root: r, todo: strings.Split(asked, "/")}
		defer w.close()
		closed = w.run(root)
		return nil
	})
	return closed
}

// walk follows a path by descriptors, one component at a time, and never leaves the root.
type walk struct {
	root *Root
	todo []string
	at   []string // components of the directory reached
	dirs []int    // its descriptor and those of its ancestors, without the root
}

func (w *walk) close() {
	for _, fd := range w.dirs {
		unix.Close(fd)
	}
}

func (w *walk) readable(parts ...string) bool {
	rel := path.Join(append(append([]string{}, w.at...), parts...)...)
	if rel == "" {
		rel = "."
	}
	return w.root.judge.CanRead(w.root.abs(rel)).Allowed
}

func (w *walk) run(root int) (closed bool) {
	for links := 0; len(w.todo) > 0; {
		name := w.todo[0]
		w.todo = w.todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(w.at) == 0 {
				return false
			}
			if !w.readable() {
				return true
			}
			w.at = w.at[:len(w.at)-1]
			unix.Close(w.dirs[len(w.dirs)-1])
			w.dirs = w.dirs[:len(w.dirs)-1]
			continue
		}
		dir := root
		if len(w.dirs) > 0 {
			dir = w.dirs[len(w.dirs)-1]
		}
		fd, err := openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
		var st unix.Stat_t
		if err == nil {
			if err = unix.Fstat(fd, &st); err != nil {
				unix.Close(fd)
			}
		}
		if err != nil {
			return !w.readable(name)
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			w.at = append(w.at, name)
			w.dirs = append(w.dirs, fd)
		case unix.S_IFLNK:
			buf := make([]byte, unix.PathMax)
			n, err := unix.Readlinkat(fd, "", buf)
			unix.Close(fd)
			if err != nil || !w.readable(name) {
				return !w.readable(name)
			}
			if links++; links > maxLinks || n == 0 || buf[0] == '/' {
				return false
			}
			w.todo = append(strings.Split(string(buf[:n]), "/"), w.todo...)
		default:
			unix.Close(fd)
			return !w.readable(name)
		}
	}
	return false
}
