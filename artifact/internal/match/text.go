package match

import (
	"bytes"
	"context"
	"io"
)

const (
	// window is how much text is searched at once with flag s.
	window = 4 << 20
	// shared is how much of a window is searched again in the next one, so that a match that begins in the part
	// that is not shared has at least so much room.
	shared = 1 << 20
)

// scanText searches for matches that may span lines. After a match the search goes on at the next line.
func (p *Pattern) scanText(ctx context.Context, r io.ReaderAt, span Span, lim Limits, emit func(Match) bool) error {
	buf := make([]byte, 0, min(window, span.End-span.Start))
	line := span.Line
	free := span.Start // the line after the last match
	for start := span.Start; start < span.End; {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(start+window, span.End)
		b, err := readAt(r, buf, start, to)
		if err != nil {
			return err
		}
		w := textWindow{b: b, start: start, begins: start == span.Start, ends: to == span.End || start+int64(len(b)) < to}
		w.stride = len(b)
		if !w.ends {
			w.stride -= shared
		}
		for pos := max(0, int(free-start)); pos < w.stride; {
			m, ok := w.search(p, pos, lim.Excerpt)
			if !ok {
				break
			}
			m.Line += line
			m.LastLine += line
			if !emit(m) {
				return nil
			}
			pos = int(w.after - start)
			free = w.after
		}
		if w.ends {
			return nil
		}
		// The next window begins at a line, so that ^ and \b see what they would see in the whole.
		next := 1 + bytes.LastIndexByte(b[:w.stride], '\n')
		if next == 0 {
			next = w.stride
		}
		line += int64(bytes.Count(b[:next], newline))
		start += int64(next)
	}
	return nil
}

// textWindow is a part of a file.
type textWindow struct {
	b            []byte
	start        int64
	begins, ends bool // whether it has the beginning and the end of the whole
	stride       int  // matches that begin further on are left to the next window
	after        int64
}

// search finds the first match in b[pos:], where a line starts, and sets after to the line that follows it. Lines
// are numbered from the start of the window.
func (w *textWindow) search(p *Pattern, pos, excerpt int) (Match, bool) {
	if p.literals != nil {
		candidates := p.literals.in(w.b)
		if candidates.next(pos) < 0 {
			return Match{}, false
		}
	}
	re := p.forPart(w.begins && pos == 0, w.ends)
	if re == nil {
		re = p.re
	}
	loc := re.FindIndex(w.b[pos:])
	if loc == nil {
		return Match{}, false
	}
	at, end := pos+loc[0], pos+loc[1]
	if at >= w.stride { // also an empty match behind the last line end, which is on no line
		return Match{}, false
	}
	first := 1 + bytes.LastIndexByte(w.b[:at], '\n')
	// A match that takes in a line end belongs to the line that it ends.
	last := max(at, end-1)
	if i := bytes.IndexByte(w.b[last:], '\n'); i >= 0 {
		last += i
	} else {
		last = len(w.b)
	}
	m := Match{Start: w.start + int64(first), Line: int64(bytes.Count(w.b[:first], newline))}
	m.LastLine = m.Line + int64(bytes.Count(w.b[first:last], newline))
	m.excerpt(w.b[first:last], m.Start, at-first, excerpt)
	m.Cut = m.Cut || !w.ends && end == len(w.b)
	w.after = w.start + int64(last) + 1
	return m, true
}
