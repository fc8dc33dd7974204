package workspace

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// temporaryName cannot be guessed, so nobody can have put anything there.
func temporaryName() string { return ".sandboxctl-" + rand.Text() + ".tmp" }

// openat repeats the call when a signal came between.
func openat(dir int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// unchanged compares what is there with what the content was made from. A file that was only touched has not changed.
func (s *saving) unchanged(old *object) error {
	base := s.req.Base
	if base == nil || s.req.Overwrite || stamp(&old.stat) == base.Stamp {
		return nil
	}
	if old.stat.Size != base.Stamp.Size {
		return s.fail(outcome.ChangedOnDisk)
	}
	fd, err := s.root.reopen(old.fd, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), s.base)
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(file, base.Stamp.Size+1)); err != nil {
		return err
	}
	if [32]byte(h.Sum(nil)) != base.Sum {
		return s.fail(outcome.ChangedOnDisk)
	}
	return nil
}

// replace writes a new file beside the old one and gives it the name.
func (s *saving) replace(old *object, temp string) (Saved, error) {
	// Opened before anything is written: a directory that cannot be flushed is noticed in time.
	dir, err := openat(s.parent, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return Saved{}, err
	}
	defer unix.Close(dir)
	mode := uint32(0o666) // less the umask, as for any new file
	if old != nil {
		mode = 0o600 // nobody else's until it has its owner
	}
	fd, err := openat(s.parent, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, mode)
	if err != nil {
		return Saved{}, err
	}
	s.temp = temp
	file := os.NewFile(uintptr(fd), temp)
	defer file.Close()
	if _, err := file.Write(s.req.Content); err != nil {
		return Saved{}, err
	}
	if old != nil {
		if err := keepOwner(file, &old.stat); err != nil {
			return Saved{}, err
		}
	}
	if err := file.Sync(); err != nil {
		return Saved{}, err
	}
	if err := s.stillThere(); err != nil {
		return Saved{}, err
	}
	if err := s.takeName(old); err != nil {
		return Saved{}, err
	}
	s.temp, s.made = "", nil
	if err := unix.Fsync(dir); err != nil {
		return Saved{}, err
	}
	return s.done(file, old == nil, false)
}

// keepOwner gives the new file the owner and the permission bits of the old one, the owner first: the kernel clears bits
// when the owner changes.
func keepOwner(file *os.File, old *unix.Stat_t) error {
	return with(file, func(fd int) error {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if st.Uid != old.Uid || st.Gid != old.Gid {
			if err := unix.Fchown(fd, int(old.Uid), int(old.Gid)); err != nil {
				return err
			}
		}
		return unix.Fchmod(fd, old.Mode&0o1777)
	})
}

// takeName renames the new file. Over an old one, it looks a last time whether that is still the one that was judged; a
// change in the instant after is the one thing that is lost. Where there was none, the kernel refuses if there is one now.
func (s *saving) takeName(old *object) error {
	if old == nil {
		err := unix.Renameat2(s.parent, s.temp, s.parent, s.base, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EINVAL) { // a file system without the flag: rename(2)
			if err = unix.Linkat(s.parent, s.temp, s.parent, s.base, 0); err == nil {
				err = unix.Unlinkat(s.parent, s.temp, 0)
			}
		}
		if errors.Is(err, unix.EEXIST) {
			return s.fail(outcome.ChangedOnDisk)
		}
		return err
	}
	now, err := s.existing()
	if err != nil {
		return err
	}
	if now == nil {
		return s.fail(outcome.ChangedOnDisk)
	}
	defer now.close()
	if stamp(&now.stat) != stamp(&old.stat) {
		return s.fail(outcome.ChangedOnDisk)
	}
	return unix.Renameat(s.parent, s.temp, s.parent, s.base)
}

// overwrite writes into the old file itself.
func (s *saving) overwrite(old *object) (Saved, error) {
	fd, err := s.root.reopen(old.fd, unix.O_WRONLY|unix.O_NONBLOCK)
	if err != nil {
		return Saved{}, err
	}
	file := os.NewFile(uintptr(fd), s.base)
	defer file.Close()
	if _, err := file.WriteAt(s.req.Content, 0); err != nil {
		return Saved{}, err
	}
	if err := file.Truncate(int64(len(s.req.Content))); err != nil {
		return Saved{}, err
	}
	if err := file.Sync(); err != nil {
		return Saved{}, err
	}
	return s.done(file, false, true)
}

func (s *saving) done(file *os.File, created, inPlace bool) (Saved, error) {
	saved := Saved{Path: s.req.Path, Bytes: int64(len(s.req.Content)), Created: created, InPlace: inPlace}
	err := with(file, func(fd int) (err error) {
		saved.Stamp, err = stampOf(fd)
		return err
	})
	return saved, err
}
