package srtconfig

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dirReader reads directories with getdents64(2) into a buffer of its own. os.ReadDir allocates and sorts every name,
// which for a tree of 300,000 files is most of the time of the walk. It is not safe for concurrent use.
type dirReader struct {
	buf       []byte
	noOpenat2 bool
}

const dirBufferBytes = 32 << 10

func newDirReader() *dirReader { return &dirReader{buf: make([]byte, dirBufferBytes)} }

// direntHeader is the size of what stands before the name in struct linux_dirent64: d_ino, d_off, d_reclen, d_type.
const direntHeader = 8 + 8 + 2 + 1

// open refuses symlinks in every component: a program of another session could swap a directory that was just listed
// for a link, and lead the walk away from what the rules are about.
func (r *dirReader) open(name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOFOLLOW
	if !r.noOpenat2 {
		how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
		for {
			fd, err := unix.Openat2(unix.AT_FDCWD, name, &how)
			switch {
			case err == nil:
				return fd, nil
			case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN): // a rename raced with the resolution: openat2(2)
				continue
			case errors.Is(err, unix.ENOSYS):
				// Before Linux 5.6, or under a filter that does not know the call.
				r.noOpenat2 = true
			default:
				return -1, err
			}
			break
		}
	}
	for {
		fd, err := unix.Open(name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// read calls visit for each name but "." and "..". The name is only valid during the call. The type is one of the DT_
// constants, DT_UNKNOWN where the file system does not say.
func (r *dirReader) read(dir string, visit func(name string, kind uint8)) error {
	fd, err := r.open(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	for {
		n, err := unix.Getdents(fd, r.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0:
			return nil
		}
		for rest := r.buf[:n]; len(rest) > direntHeader; {
			length := int(binary.NativeEndian.Uint16(rest[16:]))
			if length <= direntHeader || length > len(rest) {
				return errors.New("internal error: the kernel gave a directory entry of a wrong length")
			}
			name := rest[direntHeader:length]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			if len(name) > 0 && !(name[0] == '.' && (len(name) == 1 || len(name) == 2 && name[1] == '.')) {
				visit(unsafe.String(&name[0], len(name)), rest[18])
			}
			rest = rest[length:]
		}
	}
}

// entryKind asks the kernel for the type of a name whose directory does not tell.
func entryKind(name string) uint8 {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return unix.DT_UNKNOWN
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return unix.DT_DIR
	case unix.S_IFLNK:
		return unix.DT_LNK
	}
	return unix.DT_REG
}
