package artifact

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/sandboxctl/sandboxctl/artifact/internal/lines"
)

// Handle is what a tool returns for an artifact: how to ask for it, and nothing of its content.
type Handle struct {
	CallID     string `json:"callId"`
	Kind       Kind   `json:"kind"`
	ByteLength int64  `json:"byteLength"`
	MIMEType   string `json:"mimeType"`
}

// Artifact is a spooled stream or an open file that can be queried. It is safe for concurrent use. All queries
// fail with ErrNotInitialized after the store is closed or its owner is gone.
type Artifact struct {
	store  *Store
	handle Handle
	file   io.ReaderAt
	closer io.Closer
	stat   func() (Identity, error)
	opened Identity
	// spooled is nil for a file.
	spooled *spooled

	gone    atomic.Bool   // closed, by Remove, for room or with the store
	use     *list.Element // guarded by the store's mu
	charged int64         // bytes of the quota; guarded by the store's mu

	mu      sync.Mutex
	index   *lines.Index
	indexed Identity // the state of the file that index is for
}

// File makes an artifact of an open regular file, which it does not read: the cost does not depend on the size.
// On success the artifact owns f. Later queries read the file as it then is, and say so when it changed since.
// Errors: ErrNotRegular, ErrDuplicate, ErrNotInitialized.
func (s *Store) File(f *os.File, meta Meta) (*Artifact, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	id, err := identify(f)
	if err != nil {
		return nil, fmt.Errorf("artifact: %w", err)
	}
	h, err := meta.handle()
	if err != nil {
		return nil, err
	}
	h.ByteLength = id.Size
	a := &Artifact{
		store:  s,
		handle: h,
		file:   f,
		closer: f,
		stat:   func() (Identity, error) { return identify(f) },
		opened: id,
	}
	if err := s.add(a); err != nil {
		return nil, err
	}
	return a, nil
}

// Handle returns the handle of the artifact as it was when it was made.
func (a *Artifact) Handle() Handle { return a.handle }

func (a *Artifact) close() error {
	a.gone.Store(true)
	a.store.trees.forget(a)
	return a.closer.Close()
}

// ReadAt reads the content, checking first that the owner is alive. It makes an Artifact an io.ReaderAt for
// programs; models use the queries.
func (a *Artifact) ReadAt(p []byte, off int64) (int, error) {
	if err := a.store.alive(); err != nil {
		return 0, err
	}
	n, err := a.file.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = a.readError(err)
	}
	return n, err
}

// readError makes an error of reading fit to be shown: the name in an *fs.PathError is a path of the host.
func (a *Artifact) readError(err error) error {
	if a.gone.Load() {
		if err := a.store.alive(); err != nil {
			return err
		}
		return &UnknownArtifactError{CallID: a.handle.CallID, Dropped: true}
	}
	return fmt.Errorf("reading the artifact: %w", withoutPath(err))
}

// view is the artifact in the state in which one query finds it.
type view struct {
	*Artifact
	id    Identity
	size  int64
	lines *lines.Index
}

// view checks that the artifact may be read and looks at the state of its file.
func (a *Artifact) view() (*view, error) {
	if err := a.store.alive(); err != nil {
		return nil, err
	}
	id, err := a.stat()
	if err != nil {
		return nil, a.readError(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.index == nil || !a.indexed.sameContent(id) || !a.indexed.ChangeTime.Equal(id.ChangeTime) {
		a.index, a.indexed = lines.New(a, id.Size), id
	}
	return &view{Artifact: a, id: id, size: id.Size, lines: a.index}, nil
}

// readRange reads bytes [from, to), fewer where the file ends.
func (v *view) readRange(from, to int64) ([]byte, error) {
	buf := make([]byte, max(0, min(to, v.size)-from))
	n, err := v.ReadAt(buf, from)
	if err == io.EOF {
		err = nil
	}
	return buf[:n], err
}

// finish adds to a result what has to be said of the artifact itself.
func (v *view) finish(out *output) (Result, error) {
	now, err := v.stat()
	if err != nil {
		return Result{}, v.readError(err)
	}
	if v.spooled != nil {
		if note := v.spooled.note(); note != "" {
			out.note("%s", note)
		}
		return out.result(), nil
	}
	if change := v.id.since(v.opened); change != "" {
		out.changed = true
		out.note("%s", change)
	} else if change := now.since(v.id); change != "" {
		out.changed = true
		out.note("the file changed while it was read; the result may mix old and new content")
	}
	return out.result(), nil
}

// run is the frame of every query.
func (a *Artifact) run(ctx context.Context, query func(*view, *output) error) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	v, err := a.view()
	if err != nil {
		return Result{}, err
	}
	out := newOutput(a.store.opts.MaxResultBytes)
	if err := query(v, out); err != nil {
		return Result{}, err
	}
	return v.finish(out)
}
