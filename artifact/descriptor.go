package artifact

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Descriptor tells another process of the same user how to open what an artifact reads. It holds a path of the
// host: it is for programs that share a session, never for a model.
//
// To reopen by hand: open Path without following a last link (O_NOFOLLOW|O_NONBLOCK), fstat it, and accept it only
// if device, inode, size and modification time are those of Identity, since a path may have come to mean another
// file. [Store.Reopen] does that.
type Descriptor struct {
	Handle
	Path     string   `json:"path"`
	Identity Identity `json:"identity"`
	// Spool is set when Path is in the spool directory of the describing store: it is gone when that store is
	// closed. Otherwise Path is the file itself, wherever it was when it was described.
	Spool bool `json:"spool"`
}

// Describe returns a descriptor of the artifact. A spool without a name gets one in its private directory. The
// error is ErrReaderNotDescribable for a file that has no name any more or whose name cannot be found out.
func (a *Artifact) Describe() (Descriptor, error) {
	v, err := a.view()
	if err != nil {
		return Descriptor{}, err
	}
	d := Descriptor{Handle: a.handle}
	d.ByteLength = v.size
	if a.spooled != nil {
		d.Spool = true
		if d.Path, err = a.spooled.file.Publish(); err != nil {
			return Descriptor{}, notDescribable(err)
		}
		// The link has changed the inode's change time and link count.
		if d.Identity, err = identify(a.spooled.file.File); err != nil {
			return Descriptor{}, notDescribable(err)
		}
		return d, nil
	}
	f, ok := a.file.(*os.File)
	if !ok || v.id.Links == 0 {
		return Descriptor{}, ErrReaderNotDescribable
	}
	if d.Path, err = nameOf(f); err != nil {
		return Descriptor{}, notDescribable(err)
	}
	d.Identity = v.id
	return d, nil
}

func notDescribable(err error) error {
	return &CodedError{Code: CodeNotDescribable, Reason: ErrReaderNotDescribable.Reason, Err: err}
}

// nameOf asks the kernel for the name under which a file is found now, which may not be the one it was opened by.
func nameOf(f *os.File) (string, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return "", err
	}
	var name string
	var linkErr error
	if err := conn.Control(func(fd uintptr) { name, linkErr = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd))) }); err != nil {
		return "", err
	}
	if linkErr != nil {
		return "", linkErr
	}
	if !strings.HasPrefix(name, "/") {
		return "", fmt.Errorf("its name %q is not a path", name)
	}
	return name, nil
}

// Reopen makes an artifact of what a descriptor describes, under the same call id. A descriptor may come from
// anywhere and name any file: admit is asked to judge the file that was opened and may refuse it with an error;
// it is required. Errors: ErrIdentity, ErrNotRegular, ErrDuplicate, ErrNotInitialized, that of admit.
func (s *Store) Reopen(d Descriptor, admit func(*os.File) error) (*Artifact, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	if admit == nil {
		return nil, errors.New("reopen an artifact: nothing to admit files by")
	}
	// O_NONBLOCK: a FIFO that took the place of the file must not hang the open.
	f, err := os.OpenFile(d.Path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("reopen an artifact: %w", err)
	}
	a, err := s.reopened(f, d, admit)
	if err != nil {
		f.Close()
		return nil, err
	}
	return a, nil
}

func (s *Store) reopened(f *os.File, d Descriptor, admit func(*os.File) error) (*Artifact, error) {
	id, err := identify(f)
	if err != nil {
		return nil, fmt.Errorf("reopen an artifact: %w", err)
	}
	if !id.sameContent(d.Identity) {
		return nil, ErrIdentity
	}
	if err := admit(f); err != nil {
		return nil, err
	}
	return s.File(f, Meta{CallID: d.CallID, Kind: d.Kind, MIMEType: d.MIMEType})
}
