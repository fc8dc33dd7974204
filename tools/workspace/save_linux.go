package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Save implements [FileSystem]. A file is replaced at once or not at all: the content goes to a new file of a random name
// in the same directory, is flushed, and takes the name by a rename. Permission bits and owner of an existing file stay;
// set-user-ID and set-group-ID bits do not, since the content is another; access lists, extended attributes and further
// hard links are not carried over.
//
// Where the settings open an existing file but not its directory, a program in the sandbox could only overwrite it, and
// so does Save; Saved.InPlace then says that it was not atomic.
//
// The policy is asked about the name first, before anything is looked at, so a refusal tells nothing of what is there.
// No link is followed, neither on the way nor at the end.
func (r *Root) Save(ctx context.Context, req SaveRequest) (Saved, error) {
	if err := ctx.Err(); err != nil {
		return Saved{}, outcome.New(outcome.Aborted, req.Path, err)
	}
	if err := checkBackend(req.Path); err != nil {
		return Saved{}, err
	}
	if req.Path == "." || strings.HasSuffix(req.Path, "/") {
		return Saved{}, outcome.New(outcome.IsDirectory, req.Path, nil)
	}
	if !within(req.Under, req.Path) || req.Path == req.Under {
		return Saved{}, outcome.New(outcome.OutsideWriteRoot, req.Path, nil)
	}
	if !r.judge.CanWrite(r.abs(req.Path)).Allowed {
		return Saved{}, outcome.New(outcome.WriteDenied, req.Path, nil)
	}
	s := saving{root: r, req: req, base: path.Base(req.Path)}
	defer s.close()
	saved, err := s.run()
	if err != nil {
		s.undo()
		return Saved{}, s.word(err)
	}
	return saved, nil
}

// saving is one run of Save.
type saving struct {
	root   *Root
	req    SaveRequest
	base   string
	parent int      // O_PATH descriptor of the directory; 0 before it is open
	made   []string // directories that were made, outermost first
	temp   string   // name of the new file while it has not got its own; "" otherwise
}

func (s *saving) close() {
	if s.parent != 0 {
		unix.Close(s.parent)
	}
}

// undo takes back what a failed save left. It is done as far as it can be: what it cannot remove was already reported by
// the error that led here.
func (s *saving) undo() {
	if s.temp != "" {
		_ = unix.Unlinkat(s.parent, s.temp, 0)
	}
	for i := len(s.made) - 1; i >= 0; i-- {
		up, err := s.openDirectory(path.Dir(s.made[i]))
		if err != nil {
			return
		}
		err = unix.Unlinkat(up, path.Base(s.made[i]), unix.AT_REMOVEDIR)
		unix.Close(up)
		if err != nil {
			return
		}
	}
}

// word turns a system error into an outcome.
func (s *saving) word(err error) error {
	var known *outcome.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, fs.ErrClosed):
		return outcome.New(outcome.SessionClosed, s.req.Path, err)
	case errors.Is(err, unix.ELOOP):
		return outcome.New(outcome.LinkOnWritePath, s.req.Path, err)
	case errors.Is(err, unix.ENOTDIR):
		return outcome.New(outcome.NotDirectory, s.req.Path, err)
	}
	return outcome.New(outcome.IOFailure, s.req.Path, err)
}

func (s *saving) fail(o outcome.Outcome) error { return outcome.New(o, s.req.Path, nil) }

func (s *saving) run() (Saved, error) {
	if err := s.openParent(); err != nil {
		return Saved{}, err
	}
	old, err := s.existing()
	if err != nil {
		return Saved{}, err
	}
	if old != nil {
		defer old.close()
		if err := s.unchanged(old); err != nil {
			return Saved{}, err
		}
	}
	temp := temporaryName()
	judge, beside := s.root.judge, path.Join(path.Dir(s.req.Path), temp)
	switch {
	case judge.CanWrite(s.root.abs(beside)).Allowed && (old == nil || judge.CanRemove(s.root.abs(s.req.Path)).Allowed):
		return s.replace(old, temp)
	case old == nil:
		return Saved{}, s.fail(outcome.WriteDenied)
	}
	return s.overwrite(old)
}

// openDirectory opens a directory below the root without following any link.
func (s *saving) openDirectory(rel string) (fd int, err error) {
	err = with(s.root.dir, func(dir int) (err error) {
		fd, err = openat2(dir, rel, unix.OpenHow{
			Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		return err
	})
	return fd, err
}

func (s *saving) openParent() error {
	rel := path.Dir(s.req.Path)
	fd, err := s.openDirectory(rel)
	if errors.Is(err, unix.ENOENT) {
		if !s.req.Parents {
			return s.fail(outcome.ParentMissing)
		}
		if err := s.makeParents(rel); err != nil {
			return err
		}
		fd, err = s.openDirectory(rel)
	}
	if err != nil {
		return err
	}
	s.parent = fd
	return s.stillThere()
}

// makeParents makes the missing directories of rel, each judged by its own name.
func (s *saving) makeParents(rel string) error {
	at := ""
	for name := range strings.SplitSeq(rel, "/") {
		up := path.Dir(path.Join(at, name))
		at = path.Join(at, name)
		fd, err := s.openDirectory(at)
		if err == nil {
			unix.Close(fd)
			continue
		}
		if !errors.Is(err, unix.ENOENT) {
			return err
		}
		if !within(s.req.Under, at) {
			return s.fail(outcome.OutsideWriteRoot)
		}
		if !s.root.judge.CanWrite(s.root.abs(at)).Allowed {
			return s.fail(outcome.WriteDenied)
		}
		dir, err := s.openDirectory(up)
		if err != nil {
			return err
		}
		err = unix.Mkdirat(dir, name, 0o777)
		unix.Close(dir)
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
		if err == nil {
			s.made = append(s.made, at)
		}
	}
	return nil
}

// stillThere makes sure that the directory that is open is the one the path names. It is asked again before the new file
// takes its name: a directory that was moved away meanwhile gets nothing.
func (s *saving) stillThere() error {
	o := object{fd: s.parent}
	if err := s.root.identify(&o); err != nil {
		return err
	}
	if o.rel != path.Dir(s.req.Path) {
		return errMoving
	}
	return nil
}

// existing opens what has the name now, as O_PATH; nil when nothing has.
func (s *saving) existing() (*object, error) {
	fd, err := openat(s.parent, s.base, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o := &object{fd: fd, rel: s.req.Path}
	if err := unix.Fstat(fd, &o.stat); err != nil {
		o.close()
		return nil, err
	}
	switch o.kind() {
	case unix.S_IFREG:
		return o, nil
	case unix.S_IFLNK:
		err = s.fail(outcome.LinkOnWritePath)
	case unix.S_IFDIR:
		err = s.fail(outcome.IsDirectory)
	default:
		err = s.fail(outcome.NotRegularFile)
	}
	o.close()
	return nil, err
}
