package spoolfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// ErrNoName is returned by [File.Publish] when the file cannot be given a name another process could open.
var ErrNoName = errors.New("the spool file has no name and cannot be given one")

// File is one spool file, open for reading and writing. Its methods may be called from several goroutines.
type File struct {
	*os.File
	dir *Dir

	mu   sync.Mutex
	name string // empty while the file has no name
}

// NewFile makes an empty spool file. It has no name where O_TMPFILE works, and a random one elsewhere.
func (d *Dir) NewFile() (*File, error) {
	if !d.named.Load() {
		f, err := d.open(".", unix.O_TMPFILE)
		switch {
		case err == nil:
			return &File{File: f, dir: d}, nil
		// EOPNOTSUPP: the filesystem has no O_TMPFILE. EISDIR, EINVAL: the kernel or a filesystem layer does not
		// know the flag and sees a directory opened for writing (open(2)).
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EISDIR), errors.Is(err, unix.EINVAL):
			d.named.Store(true)
		default:
			return nil, &os.PathError{Op: "openat", Path: d.path, Err: err}
		}
	}
	name, err := randomName()
	if err != nil {
		return nil, err
	}
	f, err := d.open(name, unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW)
	if err != nil {
		return nil, &os.PathError{Op: "openat", Path: filepath.Join(d.path, name), Err: err}
	}
	return &File{File: f, dir: d, name: name}, nil
}

func (d *Dir) open(name string, flags int) (*os.File, error) {
	var f *os.File
	err := withFd(d.handle, func(at int) error {
		fd, err := unix.Openat(at, name, flags|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err == nil {
			f = os.NewFile(uintptr(fd), "spool")
		}
		return err
	})
	return f, err
}

// Publish gives the file a name in its private directory, if it has none, and returns the absolute path.
// From then on the file is on disk until Close, or, if the process is killed, until the next Create.
// The error is [ErrNoName] where the kernel refuses the link, as when /proc is not mounted.
func (f *File) Publish() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.name != "" {
		return filepath.Join(f.dir.path, f.name), nil
	}
	name, err := randomName()
	if err != nil {
		return "", err
	}
	// Linking by /proc/self/fd needs no capability, unlike AT_EMPTY_PATH (open(2), O_TMPFILE).
	err = withFd(f.dir.handle, func(at int) error {
		return withFd(f.File, func(fd int) error {
			from := "/proc/self/fd/" + strconv.Itoa(fd)
			return unix.Linkat(unix.AT_FDCWD, from, at, name, unix.AT_SYMLINK_FOLLOW)
		})
	})
	if err != nil {
		return "", fmt.Errorf("%w: linkat: %w", ErrNoName, err)
	}
	f.name = name
	return filepath.Join(f.dir.path, name), nil
}

// Close closes the file and removes its name.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.name != "" {
		err = withFd(f.dir.handle, func(at int) error { return unix.Unlinkat(at, f.name, 0) })
		if errors.Is(err, unix.ENOENT) || errors.Is(err, os.ErrClosed) {
			err = nil // the directory was closed, and emptied, before the file
		}
		f.name = ""
	}
	return errors.Join(err, f.File.Close())
}
