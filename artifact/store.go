package artifact

import (
	"container/list"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sandboxctl/sandboxctl/artifact/internal/spoolfs"
)

// The values that a zero field of Options stands for.
const (
	DefaultQuotaBytes       = 4 << 30
	DefaultMaxArtifacts     = 512
	DefaultMaxResultBytes   = 64 << 10
	DefaultMaxJSONBytes     = 64 << 20
	DefaultMaxMarkdownBytes = 4 << 20
)

// MinResultBytes is the smallest bound on a result that NewStore accepts.
const MinResultBytes = 4 << 10

// Options configures a Store. The zero value is usable.
type Options struct {
	// Dir is the directory in which the private spool directory is made; empty means os.TempDir. It should be one
	// that no sandboxed command can write to, and not a memory filesystem if spools are to be large.
	Dir string
	// QuotaBytes bounds the spools of all artifacts together, in bytes; 0 means 4 GiB. When it is reached, the
	// least recently used spools are dropped; a single spool that does not fit is truncated.
	QuotaBytes int64
	// MaxArtifacts bounds the artifacts held at a time, each of which holds a descriptor open; 0 means 512. Beyond
	// it the least recently used one is dropped.
	MaxArtifacts int
	// MaxResultBytes bounds the text and the notes of one result, in bytes; 0 means 64 KiB, at least 4 KiB.
	MaxResultBytes int
	// MaxJSONBytes bounds the documents that JSON queries read whole, and the records of line formats, in bytes;
	// 0 means 64 MiB. Decoding takes some seven times as much memory.
	MaxJSONBytes int64
	// MaxMarkdownBytes bounds the documents that Markdown queries read, in bytes; 0 means 4 MiB. Parsing
	// takes some forty times as much memory.
	MaxMarkdownBytes int64
	// Alive is asked before every operation, possibly from several goroutines at once. An error means that the
	// owner is gone, and every operation then fails with ErrNotInitialized, wrapping it. Nil means that only Close
	// ends the store.
	Alive func() error
}

// Store mints artifacts and finds them again by call id. It is safe for concurrent use.
type Store struct {
	opts Options
	dir  *spoolfs.Dir
	// trees holds the document that was parsed last, for the queries that usually follow.
	trees *treeCache

	mu      sync.Mutex
	items   map[string]*Artifact
	byUse   *list.List // of *Artifact, the least recently used in front
	used    int64      // bytes of spools, being written or kept
	dropped []string   // ids, the newest last
	writing map[*Spool]struct{}
	closed  bool
}

// rememberDropped is how many dropped ids are known as such.
const rememberDropped = 1024

// NewStore makes a store with a fresh spool directory.
func NewStore(opts Options) (*Store, error) {
	for _, n := range []int64{opts.QuotaBytes, int64(opts.MaxArtifacts), int64(opts.MaxResultBytes), opts.MaxJSONBytes, opts.MaxMarkdownBytes} {
		if n < 0 {
			return nil, errors.New("artifact store: a negative bound")
		}
	}
	orDefault(&opts.QuotaBytes, DefaultQuotaBytes)
	orDefault(&opts.MaxArtifacts, DefaultMaxArtifacts)
	orDefault(&opts.MaxResultBytes, DefaultMaxResultBytes)
	orDefault(&opts.MaxJSONBytes, DefaultMaxJSONBytes)
	orDefault(&opts.MaxMarkdownBytes, DefaultMaxMarkdownBytes)
	if opts.MaxResultBytes < MinResultBytes {
		return nil, fmt.Errorf("artifact store: results of %d bytes; at least %d are needed", opts.MaxResultBytes, MinResultBytes)
	}
	dir, err := spoolfs.Create(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("artifact store: %w", err)
	}
	return &Store{
		opts:    opts,
		dir:     dir,
		trees:   newTreeCache(),
		items:   make(map[string]*Artifact),
		byUse:   list.New(),
		writing: make(map[*Spool]struct{}),
	}, nil
}

func orDefault[T int | int64](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

// alive is checked before every operation.
func (s *Store) alive() error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return ErrNotInitialized
	}
	if s.opts.Alive != nil {
		if err := s.opts.Alive(); err != nil {
			return &CodedError{Code: CodeNotInitialized, Reason: ErrNotInitialized.Reason, Err: err}
		}
	}
	return nil
}

// Lookup returns the artifact of a call id. Errors: ErrNotInitialized, *UnknownArtifactError.
func (s *Store) Lookup(callID string) (*Artifact, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.items[callID]
	if !ok {
		return nil, &UnknownArtifactError{CallID: callID, Dropped: slices.Contains(s.dropped, callID)}
	}
	s.byUse.MoveToBack(a.use)
	return a, nil
}

// Handles lists the artifacts that are held, the most recently used first.
func (s *Store) Handles() ([]Handle, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Handle
	for e := s.byUse.Back(); e != nil; e = e.Prev() {
		out = append(out, e.Value.(*Artifact).Handle())
	}
	return out, nil
}

// Usage returns how many bytes of the quota are taken.
func (s *Store) Usage() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Remove forgets an artifact and frees what it holds. Queries on it that are under way fail.
func (s *Store) Remove(callID string) error {
	if err := s.alive(); err != nil {
		return err
	}
	s.mu.Lock()
	a, ok := s.items[callID]
	if ok {
		s.forget(a)
	}
	s.mu.Unlock()
	if !ok {
		return &UnknownArtifactError{CallID: callID}
	}
	return a.close()
}

// Close frees everything: descriptors, spools and the spool directory. Later operations, and queries under way,
// fail with ErrNotInitialized. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	var errs []error
	for _, a := range s.items {
		s.forget(a)
		errs = append(errs, a.close())
	}
	writing := s.writing
	s.writing = nil
	s.mu.Unlock()
	for sp := range writing {
		sp.Abort()
	}
	s.trees.clear()
	return errors.Join(append(errs, s.dir.Close())...)
}

// add makes an artifact known, dropping the least recently used beyond the bound.
func (s *Store) add(a *Artifact) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrNotInitialized
	}
	if _, taken := s.items[a.handle.CallID]; taken {
		s.mu.Unlock()
		return fmt.Errorf("%w: %.80q", ErrDuplicate, a.handle.CallID)
	}
	var victims []*Artifact
	for len(s.items) >= s.opts.MaxArtifacts {
		victims = append(victims, s.drop(s.byUse.Front().Value.(*Artifact)))
	}
	s.items[a.handle.CallID] = a
	a.use = s.byUse.PushBack(a)
	s.mu.Unlock()
	for _, v := range victims {
		v.close() // its spool is gone either way
	}
	return nil
}

// reserve takes n bytes of the quota for a spool, dropping the least recently used spools as needed. It returns
// how many it got.
func (s *Store) reserve(n int64) int64 {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return 0
	}
	var victims []*Artifact
	for e := s.byUse.Front(); e != nil && s.used+n > s.opts.QuotaBytes; {
		a := e.Value.(*Artifact)
		e = e.Next()
		if a.charged > 0 {
			victims = append(victims, s.drop(a))
		}
	}
	n = max(0, min(n, s.opts.QuotaBytes-s.used))
	s.used += n
	s.mu.Unlock()
	for _, v := range victims {
		v.close()
	}
	return n
}

func (s *Store) release(n int64) {
	s.mu.Lock()
	s.used -= n
	s.mu.Unlock()
}

// drop forgets an artifact and remembers that it was there. The caller holds mu and closes the artifact after.
func (s *Store) drop(a *Artifact) *Artifact {
	s.forget(a)
	s.dropped = append(s.dropped, a.handle.CallID)
	if len(s.dropped) > rememberDropped {
		s.dropped = slices.Clone(s.dropped[len(s.dropped)-rememberDropped:])
	}
	return a
}

// forget takes an artifact out of the store. The caller holds mu.
func (s *Store) forget(a *Artifact) {
	delete(s.items, a.handle.CallID)
	s.byUse.Remove(a.use)
	s.used -= a.charged
	a.charged = 0
}
