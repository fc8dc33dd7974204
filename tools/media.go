package tools

import (
	"bytes"
	"crypto/sha256"
	"io"
	"maps"
	"strconv"
	"sync"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

// Medium is content in memory: a file that was staged, what a patch made of one, or new content. It is on no disk until
// it is saved. It is immutable; its reader fails once the handle is closed.
type Medium struct {
	id      string
	name    string // last part of the path it was staged from or last saved to; may be ""
	mime    string
	kind    string
	tier    TrustTier
	content []byte
	handle  *Handle
	epoch   uint64
	// bases holds, for each path the content was taken from or saved to, what that file then was.
	bases map[string]workspace.Base
	from  string // id of the medium that was patched; ""
}

// ID names the medium in its session.
func (m *Medium) ID() string { return m.id }

// ReadAt implements [io.ReaderAt].
func (m *Medium) ReadAt(p []byte, off int64) (int, error) {
	if err := m.handle.Check(m.epoch); err != nil {
		return 0, err
	}
	return bytes.NewReader(m.content).ReadAt(p, off)
}

// Size is the number of bytes.
func (m *Medium) Size() int64 { return int64(len(m.content)) }

// MarshalJSON always fails, with the code E_READER_NOT_DESCRIBABLE: what is only in memory cannot be described to another
// process. Save it first.
func (m *Medium) MarshalJSON() ([]byte, error) {
	return nil, &outcome.SetupError{Code: outcome.CodeNotDescribable, Message: "medium " + m.id + " is in memory only; save it, and open the file"}
}

var _ io.ReaderAt = (*Medium)(nil)

// MediumView is what a model is told of a medium.
type MediumView struct {
	ID         string    `json:"id"`
	Name       string    `json:"name,omitempty"`
	MIMEType   string    `json:"mimeType"`
	Kind       string    `json:"kind"`
	TrustTier  TrustTier `json:"trustTier"`
	ByteLength int64     `json:"byteLength"`
	From       string    `json:"from,omitempty"` // the medium it was made from
	Saved      bool      `json:"saved"`
	Notes      []string  `json:"notes,omitempty"`
}

// mediaStore holds the media of a session. The zero value is not usable.
type mediaStore struct {
	max int64 // bytes

	mu    sync.Mutex
	used  int64
	next  int
	order []string // ids, oldest first
	items map[string]*held
}

// held is a medium and what became of it.
type held struct {
	*Medium
	saved      bool // its content is on disk
	superseded bool // a patch made a newer one of it
}

func newMediaStore(max int64) *mediaStore { return &mediaStore{max: max, items: map[string]*held{}} }

// room reports whether a medium of size bytes could be held, whatever has to go for it.
func (s *mediaStore) room(size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.max - s.used
	for _, h := range s.items {
		if h.expendable() {
			free += h.Size()
		}
	}
	return size <= free
}

// expendable content is on disk, or has a newer form. Nothing else is ever let go.
func (h *held) expendable() bool { return h.saved || h.superseded }

// add takes a medium in, gives it its id, and lets the oldest expendable ones go when there is no room. It reports false
// when there would still be none.
func (s *mediaStore) add(m *Medium) bool {
	if !s.room(m.Size()) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := s.order[:0]
	for _, id := range s.order {
		h := s.items[id]
		// What a patch is made from is still needed when there is room for both.
		if s.used+m.Size() > s.max && h.expendable() {
			s.used -= h.Size()
			delete(s.items, id)
			continue
		}
		keep = append(keep, id)
	}
	s.order = keep
	if s.used+m.Size() > s.max {
		return false // somebody else took the room meanwhile
	}
	s.next++
	m.id = "media-" + strconv.Itoa(s.next)
	s.used += m.Size()
	s.items[m.id] = &held{Medium: m}
	s.order = append(s.order, m.id)
	if from, there := s.items[m.from]; there {
		from.superseded = true
	}
	return true
}

func (s *mediaStore) get(id string) (*Medium, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.items[id]
	if !ok {
		return nil, false
	}
	return h.Medium, true
}

// markSaved notes that a medium is on disk at path. Media are immutable and shared, so its bases are replaced.
func (s *mediaStore) markSaved(m *Medium, name, path string, stamp workspace.Stamp) {
	bases := maps.Clone(m.bases)
	if bases == nil {
		bases = map[string]workspace.Base{}
	}
	bases[path] = workspace.Base{Stamp: stamp, Sum: sha256.Sum256(m.content)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.items[m.id]; ok {
		saved := *h.Medium
		saved.bases, saved.name = bases, name
		h.Medium, h.saved = &saved, true
	}
}

func (s *mediaStore) views() []MediumView {
	s.mu.Lock()
	defer s.mu.Unlock()
	views := make([]MediumView, 0, len(s.order))
	for _, id := range s.order {
		h := s.items[id]
		v := h.view()
		v.Saved = h.saved
		views = append(views, v)
	}
	return views
}

func (m *Medium) view() MediumView {
	return MediumView{ID: m.id, Name: m.name, MIMEType: m.mime, Kind: m.kind, TrustTier: m.tier, ByteLength: m.Size(), From: m.from}
}
