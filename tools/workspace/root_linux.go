package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Judge says what the policy allows. Paths are absolute, clean and free of links.
type Judge interface {
	CanRead(path string) evaluator.Decision
	CanWrite(path string) evaluator.Decision
	CanRemove(path string) evaluator.Decision
}

// Root is the workspace: one directory, held open, and a judge of what is found below it. It implements [FileSystem]
// and is safe for concurrent use.
type Root struct {
	dir   *os.File // O_PATH
	proc  *os.File // /proc/self/fd
	path  string   // where dir was when it was opened: the name the policy knows it by
	judge Judge
}

// NewRoot opens the directory at an absolute path, links resolved. It returns an *outcome.SetupError: of the code
// E_INVALID_SANDBOX_CONFIG when the path will not do, E_SANDBOX_UNSUPPORTED_ENV when the kernel has no openat2 (5.6) or
// /proc is not mounted. There is no slower way round: without openat2 a path can be swapped while it is walked.
func NewRoot(path string, judge Judge) (*Root, error) {
	if judge == nil {
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "the workspace root needs a judge"}
	}
	if !filepath.IsAbs(path) {
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "the workspace root must be absolute: " + strconv.Quote(path)}
	}
	proc, err := openProcFDs()
	if err != nil {
		return nil, err
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	fd, err := openat2(unix.AT_FDCWD, path, how)
	if err != nil {
		proc.Close()
		if errors.Is(err, unix.ENOSYS) {
			return nil, &outcome.SetupError{Code: outcome.CodeUnsupportedEnv, Message: "the file tools need openat2 (Linux 5.6)", Err: err}
		}
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "workspace root " + strconv.Quote(path), Err: err}
	}
	r := &Root{dir: os.NewFile(uintptr(fd), "workspace root"), proc: proc, judge: judge}
	if r.path, err = r.readlink(fd); err != nil {
		r.Close()
		return nil, &outcome.SetupError{Code: outcome.CodeUnsupportedEnv, Message: "the workspace root has no name in /proc", Err: err}
	}
	return r, nil
}

// openProcFDs opens the directory that names our descriptors, and makes sure that it is procfs and not something laid
// over it.
func openProcFDs() (*os.File, error) {
	fail := func(err error) (*os.File, error) {
		return nil, &outcome.SetupError{Code: outcome.CodeUnsupportedEnv, Message: "the file tools need /proc", Err: err}
	}
	fd, err := unix.Open("/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		unix.Close(fd)
		return fail(err)
	}
	if st.Type != unix.PROC_SUPER_MAGIC {
		unix.Close(fd)
		return fail(fmt.Errorf("/proc/self/fd is a file system of the type %#x", st.Type))
	}
	return os.NewFile(uintptr(fd), "/proc/self/fd"), nil
}

// Name implements [FileSystem].
func (r *Root) Name() string { return "workspace" }

// Close lets go of the directory. Files that are open stay open; nothing more can be opened.
func (r *Root) Close() error {
	return errors.Join(r.dir.Close(), r.proc.Close())
}

// Locate implements [FileSystem]. The path is resolved through links; it must be an existing directory.
func (r *Root) Locate(host string) (string, error) {
	if !filepath.IsAbs(host) {
		return "", fmt.Errorf("%q is not absolute", host)
	}
	fd, err := openat2(unix.AT_FDCWD, host, unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return "", &os.PathError{Op: "open", Path: host, Err: err}
	}
	defer unix.Close(fd)
	real, err := r.readlink(fd)
	if err != nil {
		return "", &os.PathError{Op: "readlink", Path: host, Err: err}
	}
	rel, below := beneath(r.path, real)
	if !below {
		return "", fmt.Errorf("%q is not below the workspace root %q", host, r.path)
	}
	return rel, nil
}

// abs gives the name under which the policy knows a backend path.
func (r *Root) abs(rel string) string {
	switch {
	case rel == ".":
		return r.path
	case r.path == "/":
		return "/" + rel
	}
	return r.path + "/" + rel
}

// beneath gives path relative to dir, component by component: /w-old is not below /w.
func beneath(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	if dir != "/" {
		dir += "/"
	}
	rel, ok := strings.CutPrefix(path, dir)
	return rel, ok && rel != ""
}

// within is beneath for backend paths.
func within(dir, rel string) bool {
	return dir == "." || rel == dir || strings.HasPrefix(rel, dir+"/")
}

// with runs f with the descriptor of a file, which cannot be closed meanwhile. It returns fs.ErrClosed for a closed one.
func with(file *os.File, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return fmt.Errorf("%w: %w", fs.ErrClosed, err) // Control has no other way to fail
	}
	return inner
}

// openat2 repeats the call when a signal or a rename elsewhere came between: the kernel gives EAGAIN rather than an
// answer that it cannot be sure of. The bound keeps a busy renamer from holding us for ever.
func openat2(dir int, path string, how unix.OpenHow) (int, error) {
	for try := 0; ; try++ {
		fd, err := unix.Openat2(dir, path, &how)
		if err == nil || try == 128 || !(err == unix.EINTR || err == unix.EAGAIN) {
			return fd, err
		}
	}
}

// readlink gives the kernel's present name for an open descriptor of ours.
func (r *Root) readlink(fd int) (name string, err error) {
	buf := make([]byte, unix.PathMax)
	err = with(r.proc, func(proc int) error {
		n, err := unix.Readlinkat(proc, strconv.Itoa(fd), buf)
		if err != nil {
			return err
		}
		if n == 0 || n == len(buf) || buf[0] != '/' {
			return unix.ENAMETOOLONG
		}
		name = string(buf[:n])
		return nil
	})
	return name, err
}

// reopen opens the object of an O_PATH descriptor of ours with other flags. No name is walked, so it is that object.
func (r *Root) reopen(fd, flags int) (opened int, err error) {
	err = with(r.proc, func(proc int) error {
		for {
			opened, err = unix.Openat(proc, strconv.Itoa(fd), flags|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
			if err != unix.EINTR {
				return err
			}
		}
	})
	return opened, err
}
