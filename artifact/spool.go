package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/sandboxctl/sandboxctl/artifact/internal/spoolfs"
)

const (
	// spoolBuffer gathers small writes.
	spoolBuffer = 64 << 10
	// tailBytes is how much of the end of a stream is kept when its middle does not fit: the last lines of a log
	// are those that are asked for.
	tailBytes = 256 << 10
	// gapBytes is more than the line that stands for what was left out takes.
	gapBytes = 160
	// smallLimit is a limit below which only the beginning is kept.
	smallLimit = 4 << 10
)

// Spool receives a stream and becomes an artifact. Write never fails and never waits for anything but the disk,
// whatever the limits, so that the producer is neither stopped nor killed by them: what does not fit is counted
// and not kept, but for the last 256 KiB (a quarter of the limit, if that is less; nothing of a limit below 4 KiB),
// which follow the beginning after a line that says how much is missing. Memory is bounded by about 320 KiB.
//
// A Spool is safe for concurrent use: several streams can be merged into one, in the order of the calls.
type Spool struct {
	store *Store
	meta  Meta
	file  *spoolfs.File

	mu       sync.Mutex
	done     bool
	buf      []byte // not yet written
	reserved int64  // of the quota
	head     int64  // bytes that are kept from the beginning, buf included
	headMax  int64  // how far head may grow; -1 = no bound
	headEnds bool   // nothing more goes to the beginning
	tail     ring
	stats    SpoolStats
	err      error // of the disk
}

// SpoolStats says what went through a Spool.
type SpoolStats struct {
	Bytes  int64 // bytes written to it
	Lines  int64 // lines in them; a last line without a line end counts
	Stored int64 // bytes that the artifact has
	// Truncated says why not all was kept; empty when all was.
	Truncated Truncation

	newlines int64
	last     byte
}

// Truncation is the reason why a spool was cut.
type Truncation string

const (
	TruncatedByLimit Truncation = "limit" // Meta.LimitBytes
	TruncatedByQuota Truncation = "quota" // Options.QuotaBytes
	TruncatedByDisk  Truncation = "disk"  // the filesystem is full
)

// Spool starts a spool. It ends with Finish or Abort, or when the store is closed.
func (s *Store) Spool(meta Meta) (*Spool, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	if meta.LimitBytes < 0 {
		return nil, errors.New("spool: a negative limit")
	}
	if _, err := meta.handle(); err != nil {
		return nil, err
	}
	f, err := s.dir.NewFile()
	if err != nil {
		if errors.Is(err, os.ErrClosed) {
			return nil, ErrNotInitialized
		}
		return nil, fmt.Errorf("spool: %w", err)
	}
	sp := &Spool{store: s, meta: meta, file: f, headMax: -1}
	sp.tail.size = tailBytes + gapBytes
	switch {
	case meta.LimitBytes >= smallLimit:
		// The ring is as large as what follows the beginning may be, so that a stream within the limit is whole.
		sp.tail.size = int(min(tailBytes, meta.LimitBytes/4)) + gapBytes
		sp.headMax = meta.LimitBytes - int64(sp.tail.size)
	case meta.LimitBytes > 0:
		sp.tail.size = 0
		sp.headMax = meta.LimitBytes
	}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.writing[sp] = struct{}{}
	}
	s.mu.Unlock()
	if closed {
		return nil, errors.Join(ErrNotInitialized, f.Close())
	}
	return sp, nil
}

// Write takes all of p. It fails only after Finish, Abort or the end of the store.
func (sp *Spool) Write(p []byte) (int, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.done {
		return 0, fmt.Errorf("spool: %w", os.ErrClosed)
	}
	n := len(p)
	if n == 0 {
		return 0, nil
	}
	sp.stats.Bytes += int64(n)
	sp.stats.newlines += int64(bytes.Count(p, newline))
	sp.stats.last = p[n-1]
	if !sp.headEnds {
		p = p[sp.keep(p):]
	}
	if len(p) > 0 {
		sp.headEnds = true
		sp.tail.write(p)
	}
	return n, nil
}

// newline is read only.
var newline = []byte{'\n'}

// keep appends to the beginning of the stream as much of p as there is room for, and returns how much that was.
func (sp *Spool) keep(p []byte) int {
	if sp.headMax >= 0 {
		p = p[:min(int64(len(p)), sp.headMax-sp.head)]
	}
	taken := 0
	for len(p) > 0 {
		n := min(len(p), spoolBuffer-len(sp.buf))
		if got := sp.reserve(int64(n)); got < int64(n) {
			sp.stats.Truncated = TruncatedByQuota
			p, n = p[:got], int(got)
		}
		sp.buf = append(sp.buf, p[:n]...)
		sp.head += int64(n)
		taken += n
		p = p[n:]
		if len(sp.buf) == spoolBuffer && !sp.flush() {
			break
		}
	}
	return taken
}

// reserve takes quota in steps of the buffer, so that small writes do not contend for the store.
func (sp *Spool) reserve(n int64) int64 {
	if free := sp.reserved - sp.head; free < n {
		sp.reserved += sp.store.reserve(max(n-free, spoolBuffer))
	}
	return min(n, sp.reserved-sp.head)
}

// flush writes the buffer. A disk that is full ends the beginning of the stream, and nothing else.
func (sp *Spool) flush() bool {
	n, err := sp.file.Write(sp.buf)
	short := len(sp.buf) - n
	sp.buf = sp.buf[:0]
	if err == nil {
		return true
	}
	sp.head -= int64(short)
	sp.headEnds = true
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		sp.stats.Truncated = TruncatedByDisk
	} else if sp.err == nil {
		sp.err = fmt.Errorf("writing the spool: %w", withoutPath(err))
	}
	return false
}

// Stats returns what went through so far. Stored is 0 until Finish.
func (sp *Spool) Stats() SpoolStats {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	return sp.statsNow()
}

func (sp *Spool) statsNow() SpoolStats {
	st := sp.stats
	st.Lines = st.newlines
	if st.Bytes > 0 && st.last != '\n' {
		st.Lines++
	}
	return st
}

// Finish ends the stream and makes the artifact. A stream that did not fit is not an error: see Stats. On error,
// as when the disk failed, the spool is gone.
func (sp *Spool) Finish() (*Artifact, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.done {
		return nil, fmt.Errorf("spool: %w", os.ErrClosed)
	}
	sp.end()
	sp.flush()
	sp.writeTail()
	if sp.err != nil {
		return nil, errors.Join(sp.err, sp.discard())
	}
	if err := sp.store.alive(); err != nil {
		return nil, errors.Join(err, sp.discard())
	}
	// What the tail did not need goes back.
	sp.store.release(sp.reserved - sp.head)
	sp.reserved = sp.head
	sp.stats.Stored = sp.head
	a, err := sp.artifact()
	if err == nil {
		err = sp.store.add(a)
	}
	if err != nil {
		return nil, errors.Join(err, sp.discard())
	}
	return a, nil
}

func (sp *Spool) artifact() (*Artifact, error) {
	h, err := sp.meta.handle()
	if err != nil {
		return nil, err
	}
	id, err := identify(sp.file.File)
	if err != nil {
		return nil, err
	}
	h.ByteLength = id.Size
	if h.MIMEType == "application/octet-stream" && sp.meta.MIMEType == "" {
		h.MIMEType = "text/plain"
	}
	return &Artifact{
		store:   sp.store,
		handle:  h,
		file:    sp.file,
		closer:  sp.file,
		stat:    func() (Identity, error) { return id, nil }, // nobody else writes to it
		opened:  id,
		spooled: &spooled{file: sp.file, stats: sp.statsNow()},
		charged: sp.reserved,
	}, nil
}

// writeTail appends the end of a stream whose middle is missing. Nothing is missing if all that came after the
// beginning is still in the ring.
func (sp *Spool) writeTail() {
	tail := sp.tail.bytes()
	if sp.head+int64(len(tail)) < sp.stats.Bytes {
		if sp.stats.Truncated == "" {
			sp.stats.Truncated = TruncatedByLimit
		}
		if len(tail) > gapBytes {
			tail = fromLineStart(tail[gapBytes:])
			tail = append(sp.gap(tail), tail...)
		}
	}
	if len(tail) == 0 || sp.stats.Truncated == TruncatedByDisk {
		return
	}
	if sp.reserve(int64(len(tail))) < int64(len(tail)) {
		sp.stats.Truncated = TruncatedByQuota
		return
	}
	sp.head += int64(len(tail))
	sp.buf = append(sp.buf[:0], tail...)
	sp.flush()
}

// gap is the line that stands for what was left out.
func (sp *Spool) gap(tail []byte) []byte {
	missing := sp.stats.Bytes - sp.head - int64(len(tail))
	return fmt.Appendf(nil, "\n[%d bytes were left out here; the last %d follow]\n", missing, len(tail))
}

// fromLineStart drops the rest of a line, or else of a character, at the beginning of b.
func fromLineStart(b []byte) []byte {
	const nearby = 4 << 10
	if i := bytes.IndexByte(b[:min(len(b), nearby)], '\n'); i >= 0 {
		return b[i+1:]
	}
	return b[runeStart(b):]
}

// Abort ends the stream and forgets it. After Finish it does nothing.
func (sp *Spool) Abort() error {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.done {
		return nil
	}
	sp.end()
	return sp.discard()
}

func (sp *Spool) end() {
	sp.done = true
	sp.store.mu.Lock()
	delete(sp.store.writing, sp)
	sp.store.mu.Unlock()
}

func (sp *Spool) discard() error {
	sp.store.release(sp.reserved)
	sp.reserved = 0
	sp.buf, sp.tail.buf = nil, nil
	return sp.file.Close()
}

// spooled is what an artifact knows of its spool.
type spooled struct {
	file  *spoolfs.File
	stats SpoolStats
}

// note says that the spool is not the whole stream.
func (s *spooled) note() string {
	if s.stats.Truncated == "" {
		return ""
	}
	return fmt.Sprintf("the output was %d bytes in %d lines, of which %d bytes were kept (%s); the middle or the end is missing",
		s.stats.Bytes, s.stats.Lines, s.stats.Stored, s.stats.Truncated)
}

// Stats returns what went through the spool of an artifact; ok is false for a file.
func (a *Artifact) Stats() (st SpoolStats, ok bool) {
	if a.spooled == nil {
		return SpoolStats{}, false
	}
	return a.spooled.stats, true
}
