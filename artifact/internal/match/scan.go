package match

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// chunk is what one goroutine reads at a time. Of 256 KiB to 4 MiB, 1 MiB was the fastest together with the
	// smallest that was so.
	chunk = 1 << 20
	// slack is read beyond a chunk at once, to finish its last line in the same system call.
	slack = 4 << 10
	// page is what reads are aligned to.
	page = 4 << 10
	// maxLine is the longest line that is matched in one piece.
	maxLine = 1 << 20
	// workers is how many chunks are searched at a time.
	workers = 2
	// ahead is how many chunks may be taken and not yet collected.
	ahead = 8
)

// Span is a part of a file that begins at the start of a line.
type Span struct {
	Start, End int64 // byte offsets
	Line       int64 // the number of the line at Start
}

// Limits bounds a search. The zero value finds everything and gives excerpts of 2 KiB.
type Limits struct {
	Matches int // the most lines that will be wanted; 0 = no limit
	Bytes   int // the most bytes of excerpts that will be wanted; 0 = no limit
	Excerpt int // the longest excerpt in bytes; 0 = 2 KiB
}

// DefaultExcerpt is the length of an excerpt, in bytes, when Limits has none.
const DefaultExcerpt = 2 << 10

// Match is a line, or with flag s a run of lines, in which the expression matched.
type Match struct {
	Line, LastLine int64  // the numbers of the first and the last line
	Start          int64  // the offset of the first line in the file
	Text           []byte // the lines without the last line end, or an excerpt
	TextStart      int64  // the offset of Text in the file
	Cut            bool   // Text is not all of it
}

// Scan calls emit for each line of span that matches, in order, until it returns false. Errors are those of r and
// of ctx; after an error the matches emitted so far are right.
func (p *Pattern) Scan(ctx context.Context, r io.ReaderAt, span Span, lim Limits, emit func(Match) bool) error {
	if lim.Excerpt <= 0 {
		lim.Excerpt = DefaultExcerpt
	}
	if span.End <= span.Start {
		return ctx.Err()
	}
	if p.span {
		return p.scanText(ctx, r, span, lim, emit)
	}
	s := &scan{p: p, r: r, span: span, lim: lim}
	return s.run(ctx, emit)
}

// scan is one search by lines. The fields are read only while its workers run.
type scan struct {
	p    *Pattern
	r    io.ReaderAt
	span Span
	lim  Limits
}

// found is what one chunk gave. Line numbers count from the start of the chunk.
type found struct {
	matches  []Match
	bytes    int // of their excerpts
	newlines int64
	err      error
}

// run lets the workers take chunk after chunk and collects the results in order. No worker gets further ahead of
// the collector than ahead chunks, which bounds what is read in vain when a search stops early; less would make one
// worker wait whenever the other is slow.
func (s *scan) run(ctx context.Context, emit func(Match) bool) error {
	origin := s.span.Start / chunk
	n := (s.span.End+chunk-1)/chunk - origin
	ctx, cancel := context.WithCancel(ctx)
	tokens := make(chan struct{}, ahead)
	var results [ahead]chan found
	for i := range results {
		results[i] = make(chan found, 1)
		tokens <- struct{}{}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			buf := make([]byte, 0, page+chunk+slack)
			for {
				select {
				case <-tokens:
				case <-ctx.Done():
					return
				}
				k := next.Add(1) - 1
				if k >= n {
					return
				}
				at := (origin + k) * chunk
				var f found
				buf, f = s.chunk(ctx, buf, max(s.span.Start, at), min(s.span.End, at+chunk))
				results[k%ahead] <- f // has room: chunk k-ahead was collected before the token for this one was
			}
		})
	}
	defer wg.Wait()
	defer cancel()
	line := s.span.Line
	for k := range n {
		var f found
		select {
		case f = <-results[k%ahead]:
		case <-ctx.Done():
			return ctx.Err()
		}
		tokens <- struct{}{}
		for _, m := range f.matches {
			m.Line += line
			m.LastLine += line
			if !emit(m) {
				return nil
			}
		}
		if f.err != nil {
			return f.err
		}
		line += f.newlines
	}
	return nil
}

// chunk searches the lines that start in [start, end). It returns buf for the next call.
func (s *scan) chunk(ctx context.Context, buf []byte, start, end int64) ([]byte, found) {
	if err := ctx.Err(); err != nil {
		return buf, found{err: err}
	}
	// The byte before start tells whether a line starts there. A whole page is read for it: a copy out of the page
	// cache that is not aligned to it was measured to take several times as long.
	base := max(0, start-1) &^ (page - 1)
	buf, err := readAt(s.r, buf[:0], base, min(end+slack, s.span.End))
	if err != nil {
		return buf, found{err: err}
	}
	head := min(int(start-base), len(buf))
	own := min(int(end-base), len(buf)) // where the next chunk begins
	f := found{newlines: int64(bytes.Count(buf[head:own], newline))}
	first := head
	if start > s.span.Start && head > 0 {
		i := bytes.IndexByte(buf[head-1:own], '\n')
		if i < 0 {
			return buf, f // all of it lies inside a line of an earlier chunk
		}
		first = head + i
	}
	if first >= own {
		return buf, f
	}
	last := max(first, 1+bytes.LastIndexByte(buf[:own-1], '\n')) // the last line that starts here
	buf, stop, err := s.finishLine(buf, base, last, own-1)
	if err != nil {
		f.err = err
		return buf, f
	}
	if stop >= 0 {
		s.lines(&f, buf[:stop], base, first, head)
		return buf, f
	}
	s.lines(&f, buf[:last], base, first, head)
	if !s.full(&f) {
		f.err = s.longLine(ctx, &f, base+int64(last), int64(bytes.Count(buf[head:last], newline)))
	}
	return buf, f
}

// finishLine reads on until the line at last, of which the bytes before from are known, has its end in buf. It
// returns where the line and its '\n' stop, or -1 when the line is longer than maxLine.
func (s *scan) finishLine(buf []byte, base int64, last, from int) ([]byte, int, error) {
	for step := int64(64 << 10); ; step *= 2 {
		if i := bytes.IndexByte(buf[from:], '\n'); i >= 0 {
			return buf, from + i + 1, nil
		}
		from = len(buf)
		if base+int64(len(buf)) >= s.span.End {
			return buf, len(buf), nil
		}
		if len(buf)-last > maxLine {
			return buf, -1, nil
		}
		var err error
		to := min(base+int64(len(buf))+step, s.span.End)
		if buf, err = readAt(s.r, buf, base+int64(len(buf)), to); err != nil {
			return buf, 0, err
		}
		if len(buf) == from { // the file shrank
			return buf, len(buf), nil
		}
	}
}

// lines searches the whole lines b[first:]. Lines are numbered from the one that holds b[head].
func (s *scan) lines(f *found, b []byte, base int64, first, head int) {
	var candidates cursor
	if s.p.literals != nil {
		candidates = s.p.literals.in(b)
	}
	number, counted := int64(0), head
	for from := first; from < len(b) && !s.full(f); {
		at, start := from, from
		if s.p.literals != nil {
			if at = candidates.next(from); at < 0 {
				return
			}
			start = from + 1 + bytes.LastIndexByte(b[from:at], '\n')
		}
		stop := len(b)
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
			stop = at + i
		}
		if place, ok := s.p.matchLine(b[start:stop], at-start, s.lim.Excerpt); ok {
			number += int64(bytes.Count(b[counted:start], newline))
			counted = start
			m := Match{Line: number, LastLine: number, Start: base + int64(start)}
			m.excerpt(b[start:stop], m.Start, place, s.lim.Excerpt)
			f.matches = append(f.matches, m)
			f.bytes += len(m.Text)
		}
		from = stop + 1
	}
}

// full reports whether one chunk alone has given all that can be wanted.
func (s *scan) full(f *found) bool {
	return s.lim.Matches > 0 && len(f.matches) >= s.lim.Matches || s.lim.Bytes > 0 && f.bytes >= s.lim.Bytes
}

// matchLine matches one line without its '\n'. It returns where the match begins if the line is longer than
// excerpt, and otherwise some place in the line. candidate is where a literal was found.
func (p *Pattern) matchLine(line []byte, candidate, excerpt int) (place int, ok bool) {
	if p.literals != nil && p.literals.sufficient {
		return candidate, true
	}
	// '$' stands before "\r\n" as before "\n", and yet the '\r' can be asked for.
	texts := [2][]byte{bytes.TrimSuffix(line, cr), line}
	for i, text := range texts {
		if i == 1 && len(text) == len(texts[0]) {
			break
		}
		if len(line) <= excerpt {
			if p.re.Match(text) {
				return 0, true
			}
		} else if loc := p.re.FindIndex(text); loc != nil {
			return loc[0], true
		}
	}
	return 0, false
}

// excerpt sets the text of a match to a line that begins at start, or to the part of it around place.
func (m *Match) excerpt(line []byte, start int64, place, limit int) {
	line = bytes.TrimSuffix(line, cr)
	from, to := 0, len(line)
	if to > limit {
		from = max(0, min(place-limit/4, to-limit))
		to = from + limit
		m.Cut = true
	}
	m.Text = bytes.Clone(line[from:to])
	m.TextStart = start + int64(from)
}

// readAt appends the bytes [from, to) of r to buf, fewer if r ends before. Files are read and not mapped:
// touching a mapped page of a file that somebody truncates is a signal, touching one of a slow filesystem stops the
// whole program at its next garbage collection, and mapping was measured to save a fifth of the time at most.
func readAt(r io.ReaderAt, buf []byte, from, to int64) ([]byte, error) {
	have := len(buf)
	buf = slices.Grow(buf, int(to-from))[:have+int(to-from)]
	n, err := r.ReadAt(buf[have:], from)
	if err == io.EOF {
		err = nil
	}
	return buf[:have+n], err
}

// These are read only.
var (
	newline = []byte{'\n'}
	cr      = []byte{'\r'}
)
