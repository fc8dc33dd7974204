package match

import (
	"bytes"
	"context"
)

// overlap is how much of a long line two pieces share: a match that is no longer is inside one of them.
const overlap = 64 << 10

// longLine searches the line at start, which is longer than maxLine, piece by piece up to its first match.
func (s *scan) longLine(ctx context.Context, f *found, start, number int64) error {
	buf := make([]byte, 0, maxLine)
	for off := start; off < s.span.End; off += maxLine - overlap {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(off+maxLine, s.span.End)
		b, err := readAt(s.r, buf, off, to)
		if err != nil {
			return err
		}
		ends := off+int64(len(b)) < to || to == s.span.End // the file ends here, or has shrunk
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b, ends = b[:i], true
		}
		if place := s.p.findInPart(b, off == start, ends); place >= 0 {
			m := Match{Line: number, LastLine: number, Start: start}
			m.excerpt(b, off, place, s.lim.Excerpt)
			m.Cut = true
			f.matches = append(f.matches, m)
			f.bytes += len(m.Text)
			return nil
		}
		if ends {
			return nil
		}
	}
	return nil
}

// findInPart returns where the expression matches in a part of a text, or -1.
func (p *Pattern) findInPart(b []byte, begins, ends bool) int {
	if p.literals != nil {
		candidates := p.literals.in(b)
		at := candidates.next(0)
		if at < 0 || p.literals.sufficient {
			return at
		}
	}
	re := p.forPart(begins, ends)
	if re == nil {
		re = p.re
	}
	if ends {
		b = bytes.TrimSuffix(b, cr)
	}
	if loc := re.FindIndex(b); loc != nil {
		return loc[0]
	}
	return -1
}
