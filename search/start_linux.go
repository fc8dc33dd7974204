package search

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Judge says what the settings open for reading. Paths are absolute, clean and free of links. *evaluator.Evaluator is one.
type Judge interface {
	CanRead(path string) evaluator.Decision
}

// root is the directory of the workspace, held open.
type root struct {
	dir   *os.File
	path  string // free of links
	judge Judge
}

func openRoot(dir string, judge Judge) (*root, error) {
	if !filepath.IsAbs(dir) {
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "the directory to search must be absolute: " + strconv.Quote(dir)}
	}
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, how)
	if err != nil {
		code := outcome.CodeInvalidConfig
		if errors.Is(err, unix.ENOSYS) {
			code = outcome.CodeUnsupportedEnv // openat2(2), Linux 5.6
		}
		return nil, &outcome.SetupError{Code: code, Message: "the directory to search", Err: &os.PathError{Op: "openat2", Path: dir, Err: err}}
	}
	r := &root{dir: os.NewFile(uintptr(fd), dir), judge: judge}
	if r.path, err = nameOf(fd); err != nil {
		r.dir.Close()
		return nil, &outcome.SetupError{Code: outcome.CodeUnsupportedEnv, Message: "the directory to search has no name in /proc", Err: err}
	}
	return r, nil
}

// start is where a search begins.
type start struct {
	path string // relative to the root, free of links; "." is the root
	dir  bool
}

// find resolves a path below the root and asks the judge about the object that it leads to. Nothing is read. What is
// closed, missing, or below something that is no directory is told alike.
//
// What ripgrep finds there a moment later may be something else; the sandbox that it runs in is the boundary for that.
func (r *root) find(asked string) (start, error) {
	conn, err := r.dir.SyscallConn()
	if err != nil {
		return start{}, outcome.New(outcome.SessionClosed, asked, err)
	}
	var s start
	if conn.Control(func(fd uintptr) { s, err = r.resolve(int(fd), asked) }) != nil {
		return start{}, outcome.New(outcome.SessionClosed, asked, os.ErrClosed)
	}
	return s, err
}

func (r *root) resolve(dir int, asked string) (start, error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(dir, path.Clean(asked), how)
	switch {
	case errors.Is(err, unix.EXDEV), errors.Is(err, unix.ELOOP):
		return start{}, outcome.Reject(asked, outcome.ReasonEscapes)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, unix.EACCES):
		return start{}, outcome.New(outcome.NotFound, asked, err)
	case err != nil:
		return start{}, outcome.New(outcome.IOFailure, asked, err)
	}
	defer unix.Close(fd)
	name, err := nameOf(fd)
	if err != nil {
		return start{}, outcome.New(outcome.IOFailure, asked, err)
	}
	s := start{path: "."}
	if name != r.path {
		below, ok := strings.CutPrefix(name, strings.TrimSuffix(r.path, "/")+"/")
		if !ok { // the directory was moved away while it was looked at
			return start{}, outcome.New(outcome.NotFound, asked, nil)
		}
		s.path = below
	}
	if !r.judge.CanRead(name).Allowed {
		return start{}, outcome.New(outcome.Denied, asked, nil)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return start{}, outcome.New(outcome.IOFailure, asked, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		s.dir = true
	case unix.S_IFREG:
	default:
		return start{}, outcome.New(outcome.NotRegularFile, asked, nil)
	}
	return s, nil
}

// shows reports whether the name of a file, relative to the root, may be shown.
func (r *root) shows(name string) bool {
	return r.judge.CanRead(path.Join(r.path, name)).Allowed
}

// nameOf gives the path that the kernel knows a descriptor by.
func nameOf(fd int) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf)
	if err != nil {
		return "", &os.PathError{Op: "readlink", Path: "/proc/self/fd", Err: err}
	}
	return string(buf[:n]), nil
}
