package artifact

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Identity tells one state of one file from every other. A file that is written to, truncated, renamed or replaced
// changes at least ChangeTime, which unlike ModTime cannot be set (inode(7)); two changes within one tick of the
// filesystem's clock (up to 10 ms, much less from Linux 6.13 on) can share it.
type Identity struct {
	Dev        uint64    `json:"dev"`
	Ino        uint64    `json:"ino"`
	Size       int64     `json:"size"` // bytes
	ModTime    time.Time `json:"modTime"`
	ChangeTime time.Time `json:"changeTime"`
	Links      uint64    `json:"links"` // names that the file has
}

// identify reads the identity of an open file. The error is ErrNotRegular for anything but a regular file.
func identify(f *os.File) (Identity, error) {
	info, err := f.Stat()
	if err != nil {
		return Identity{}, err
	}
	if !info.Mode().IsRegular() {
		return Identity{}, ErrNotRegular
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Identity{}, errors.New("the file has no inode")
	}
	return Identity{
		Dev:        uint64(st.Dev),
		Ino:        st.Ino,
		Size:       st.Size,
		ModTime:    time.Unix(st.Mtim.Unix()).UTC(),
		ChangeTime: time.Unix(st.Ctim.Unix()).UTC(),
		Links:      uint64(st.Nlink),
	}, nil
}

// sameContent reports whether nothing says that the content changed from a to b. A changed ChangeTime alone may be
// a new name, mode or owner; it may also be a write whose ModTime was set back.
func (a Identity) sameContent(b Identity) bool {
	return a.Dev == b.Dev && a.Ino == b.Ino && a.Size == b.Size && a.ModTime.Equal(b.ModTime)
}

// since says in words what happened to the file between an earlier identity and this one, or nothing.
func (a Identity) since(earlier Identity) string {
	switch {
	case a.Size < earlier.Size:
		return fmt.Sprintf("the file was truncated since it was opened: from %d to %d bytes; this is its content now", earlier.Size, a.Size)
	case a.Size > earlier.Size:
		return fmt.Sprintf("the file has grown since it was opened: from %d to %d bytes; this is its content now", earlier.Size, a.Size)
	case !a.ModTime.Equal(earlier.ModTime):
		return "the file was written to since it was opened; this is its content now"
	case a.Links < earlier.Links:
		return "the file was removed or replaced since it was opened; this is the old one"
	case !a.ChangeTime.Equal(earlier.ChangeTime):
		return "the file was touched since it was opened (name, mode or owner, or its content with the time set back); this is its content now"
	}
	return ""
}
