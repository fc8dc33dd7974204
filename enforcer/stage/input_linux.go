package stage

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// reopenInput opens a standard input that is a regular file anew, on a read-only mount of this one file that hangs nowhere.
// Through the descriptor as it was given, whose mount is the host's own and writable, the command could change the file's
// mode and times (fchmod(2) asks only for ownership); Landlock does not restrict that.
//
// The position is taken over, and handed back at the end: a shell that reads the same file goes on where the command
// stopped. It comes before the mounts, while the file can be found by its name on the host.
//
// It returns the new descriptor, or -1 when there was nothing to do: no regular file, one opened for writing, or one
// without a name, whose mode is nobody's concern.
func reopenInput() (int, error) {
	var st unix.Stat_t
	if err := unix.Fstat(0, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink == 0 {
		return -1, nil
	}
	flags, err := unix.FcntlInt(0, unix.F_GETFL, 0)
	if err != nil {
		return -1, fail(LayerProcess, "fcntl F_GETFL", "descriptor 0", err)
	}
	if flags&unix.O_ACCMODE != unix.O_RDONLY {
		return -1, nil
	}
	at, err := unix.Seek(0, 0, unix.SEEK_CUR)
	if err != nil {
		return -1, fail(LayerProcess, "lseek", "descriptor 0", err)
	}
	fd, err := openApart(0, &st)
	if err != nil {
		return -1, err
	}
	if _, err := unix.Seek(fd, at, unix.SEEK_SET); err != nil {
		return -1, fail(LayerProcess, "lseek", "descriptor 0", err)
	}
	if err := unix.Dup3(fd, 0, 0); err != nil {
		return -1, fail(LayerProcess, "dup3", "descriptor 0", err)
	}
	return fd, nil
}

func openApart(given int, want *unix.Stat_t) (int, error) {
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", given))
	if err != nil {
		return -1, fail(LayerProcess, "readlink", "descriptor 0", err)
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return -1, notTheFile(name, err)
	}
	defer unix.Close(tree)
	var st unix.Stat_t
	if err := unix.Fstat(tree, &st); err != nil || st.Dev != want.Dev || st.Ino != want.Ino {
		return -1, notTheFile(name, unix.ESTALE)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return -1, notTheFile(name, err)
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", tree), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, notTheFile(name, err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0); err != nil {
		return -1, notTheFile(name, err)
	}
	return fd, nil
}

func notTheFile(name string, err error) error {
	f := fail(LayerProcess, "open standard input anew", name, err).(*Failure)
	f.Cause = "a read-only view of it; give it through a pipe instead: cat FILE | sandboxctl run …"
	return f
}
