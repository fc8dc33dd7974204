package workspace

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// errMoving says that an object kept changing its name while we asked for it.
var errMoving = errors.New("the path changes while it is being resolved")

// identifyTries bounds how often a path is resolved anew when something was renamed in the middle.
const identifyTries = 32

// object is something below the root, opened and not yet readable: an O_PATH descriptor, its backend path and its state.
type object struct {
	fd   int
	rel  string
	stat unix.Stat_t
}

func (o *object) close() { unix.Close(o.fd) }

func (o *object) kind() uint32 { return o.stat.Mode & unix.S_IFMT }

// lookup opens what path leads to, whatever that is, and asks the judge about the object and not about the path. An
// object that the judge closes, or the way to which was closed, is Denied.
//
// Opened as O_PATH, a FIFO does not block and a device does not act.
func (r *Root) lookup(path string) (*object, error) {
	if err := checkBackend(path); err != nil {
		return nil, err
	}
	o, err := r.resolve(path, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_MAGICLINKS)
	if err != nil {
		return nil, r.whyNot(path, err)
	}
	if !r.judge.CanRead(r.abs(o.rel)).Allowed {
		o.close()
		return nil, outcome.New(outcome.Denied, path, nil)
	}
	if o.rel != strings.TrimSuffix(path, "/") && r.closedOnTheWay(path) {
		o.close()
		return nil, outcome.New(outcome.Denied, path, nil)
	}
	return o, nil
}

// whyNot words an error of resolve. Only a missing entry needs no second look: every other error tells that something
// is there, and must not be told of what is closed.
func (r *Root) whyNot(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrClosed):
		return outcome.New(outcome.SessionClosed, path, err)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENAMETOOLONG):
		return outcome.New(outcome.NotFound, path, err)
	case r.closedOnTheWay(path):
		return outcome.New(outcome.Denied, path, err)
	case errors.Is(err, unix.EXDEV):
		e := outcome.Reject(path, outcome.ReasonEscapes)
		e.Cause = err
		return e
	case errors.Is(err, unix.ENOTDIR):
		return outcome.New(outcome.NotDirectory, path, err)
	}
	return outcome.New(outcome.IOFailure, path, err)
}

// resolve opens path below the root as O_PATH and finds out what the object's own path is.
func (r *Root) resolve(path string, how uint64) (*object, error) {
	for range identifyTries {
		var o object
		err := with(r.dir, func(dir int) (err error) {
			o.fd, err = openat2(dir, path, unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: how})
			return err
		})
		if err != nil {
			return nil, err
		}
		if err = r.identify(&o); err == nil {
			return &o, nil
		}
		o.close()
		if !errors.Is(err, errMoving) {
			return nil, err
		}
	}
	return nil, errMoving
}

// identify fills in the path and the state of an open object. The kernel's name for the descriptor is walked again,
// without links, and must lead to the same inode: so a name that ended in " (deleted)", was covered by a mount, or is
// out of date is not taken for the object's.
//
// The name is taken relative to where the root is now and judged below where the root was at the start: a root that is
// moved does not leave its rules behind.
func (r *Root) identify(o *object) error {
	if err := unix.Fstat(o.fd, &o.stat); err != nil {
		return err
	}
	return with(r.dir, func(dir int) error {
		root, err := r.readlink(dir)
		if err != nil {
			return err
		}
		name, err := r.readlink(o.fd)
		if err != nil {
			return err
		}
		rel, below := beneath(root, name)
		if !below {
			return errMoving
		}
		again, err := openat2(dir, rel, unix.OpenHow{
			Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		if err != nil {
			return errMoving
		}
		defer unix.Close(again)
		var st unix.Stat_t
		if err := unix.Fstat(again, &st); err != nil {
			return err
		}
		if st.Dev != o.stat.Dev || st.Ino != o.stat.Ino {
			return errMoving
		}
		o.rel = rel
		return nil
	})
}

// stampOf gives the state of an open descriptor.
func stampOf(fd int) (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return Stamp{}, &os.SyscallError{Syscall: "fstat", Err: err}
	}
	return stamp(&st), nil
}

func stamp(st *unix.Stat_t) Stamp {
	return Stamp{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}
}
