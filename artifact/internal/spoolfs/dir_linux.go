package spoolfs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// prefix begins the name of every spool directory, so that a later process finds what an earlier one left.
const prefix = "sandboxctl-spool-"

// createAttempts bounds how often Create starts anew after losing its fresh directory to a sweep.
const createAttempts = 16

// Dir is a private spool directory. It is safe for concurrent use.
type Dir struct {
	path string
	// handle is the directory itself. It carries the lock that says that the owner lives, and files are made
	// relative to it, so that renaming a parent cannot lead them elsewhere.
	handle *os.File
	// named is set when the filesystem has no O_TMPFILE.
	named atomic.Bool
}

// Create makes a fresh spool directory under parent and removes those that dead processes left there.
// An empty parent means os.TempDir.
func Create(parent string) (*Dir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, fmt.Errorf("spool directory: %w", err)
	}
	sweep(parent)
	for range createAttempts {
		name, err := randomName()
		if err != nil {
			return nil, err
		}
		path := filepath.Join(parent, prefix+name)
		if err := os.Mkdir(path, 0o700); err != nil {
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return nil, fmt.Errorf("spool directory: %w", err)
		}
		handle, err := openDir(unix.AT_FDCWD, path)
		if errors.Is(err, unix.ENOENT) {
			continue // swept between the two calls
		}
		if err != nil {
			return nil, err
		}
		if owned(handle) {
			return &Dir{path: path, handle: handle}, nil
		}
		handle.Close()
	}
	return nil, fmt.Errorf("spool directory in %q: %d attempts were lost to other processes", parent, createAttempts)
}

// owned takes the lock and reports whether the directory is still there: a sweep that came between mkdir and
// flock has removed it, or holds the lock and is about to.
func owned(handle *os.File) bool {
	return withFd(handle, func(fd int) error {
		if err := flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if st.Nlink == 0 {
			return unix.ENOENT
		}
		return nil
	}) == nil
}

// Path is the absolute path of the directory. It names a place on the host: not for a model to read.
func (d *Dir) Path() string { return d.path }

// Close removes the directory and everything in it. Files that are still open stay readable until closed.
func (d *Dir) Close() error {
	err := unlinkAll(d.handle)
	if rmErr := os.Remove(d.path); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	// The lock goes last: a sweep must not meet a half-emptied directory that seems to have no owner.
	return errors.Join(err, d.handle.Close())
}

// sweep removes directories whose owner is dead. It is best effort: what it cannot remove stays for the next.
func sweep(parent string) {
	top, err := openDir(unix.AT_FDCWD, parent)
	if err != nil {
		return
	}
	defer top.Close()
	names, err := top.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			sweepOne(top, name)
		}
	}
}

func sweepOne(top *os.File, name string) {
	// O_NOFOLLOW and the owner check: anybody can plant a link or a directory of this name in a shared /tmp.
	var dir *os.File
	err := withFd(top, func(fd int) (err error) {
		dir, err = openDir(fd, name)
		return err
	})
	if err != nil {
		return
	}
	defer dir.Close()
	err = withFd(dir, func(fd int) error {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if int(st.Uid) != os.Geteuid() {
			return unix.EPERM
		}
		return flock(fd, unix.LOCK_EX|unix.LOCK_NB) // EWOULDBLOCK: its owner lives
	})
	if err != nil || unlinkAll(dir) != nil {
		return
	}
	_ = withFd(top, func(fd int) error { // fails harmlessly if another sweep was first
		return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR)
	})
}

// unlinkAll unlinks the entries of a spool directory, which holds plain files only.
func unlinkAll(dir *os.File) error {
	if _, err := dir.Seek(0, 0); err != nil {
		return fmt.Errorf("spool directory: %w", err)
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("spool directory: %w", err)
	}
	for _, name := range names {
		err := withFd(dir, func(fd int) error { return unix.Unlinkat(fd, name, 0) })
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return &os.PathError{Op: "unlinkat", Path: name, Err: err}
		}
	}
	return nil
}

func openDir(at int, path string) (*os.File, error) {
	fd, err := unix.Openat(at, path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "openat", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// withFd runs use with the descriptor of f held open: os.File.Fd would give a number that a Close on another
// goroutine can free and a later open reuse. A closed file gives os.ErrClosed.
func withFd(f *os.File, use func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if conn.Control(func(fd uintptr) { inner = use(int(fd)) }) != nil {
		return os.ErrClosed // the only way it fails; its error is the poller's own and matches nothing
	}
	return inner
}

func flock(fd, how int) error {
	for {
		err := unix.Flock(fd, how)
		if err != unix.EINTR {
			return err
		}
	}
}

func randomName() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("random name: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
