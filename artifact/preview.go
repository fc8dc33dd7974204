package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DefaultPreviewBytes is the usual size of a preview, in bytes.
const DefaultPreviewBytes = 8 << 10

// Preview is the beginning and the end of an artifact, as valid UTF-8.
type Preview struct {
	Head string
	// Tail is empty when Head is all.
	Tail string
	// OmittedBytes and OmittedLines are what lies between the two. A line that is in part in them counts.
	OmittedBytes int64
	OmittedLines int64
}

// Preview returns the first and the last bytes of the artifact, maxBytes together at most; 0 gives none of them. It
// is cut between lines where a line ends nearby, else between characters. Counting the omitted lines of a file
// reads it; of a spool it costs nothing more than the preview when everything fits.
func (a *Artifact) Preview(ctx context.Context, maxBytes int) (Preview, error) {
	if maxBytes < 0 {
		return Preview{}, errors.New("preview: a negative size")
	}
	v, err := a.view()
	if err != nil {
		return Preview{}, err
	}
	if v.size <= int64(maxBytes) {
		b, err := v.readRange(0, v.size)
		if err != nil {
			return Preview{}, err
		}
		if s, took := clean(b, maxBytes); took == len(b) {
			return Preview{Head: s}, nil
		}
	}
	half := maxBytes / 2
	head, err := v.readRange(0, min(v.size, int64(maxBytes-half)))
	if err != nil {
		return Preview{}, err
	}
	tailFrom := max(int64(len(head)), v.size-int64(half))
	tail, err := v.readRange(tailFrom, v.size)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{}
	var took int
	p.Head, took = clean(untilLineEnd(head), maxBytes-half)
	tail = fromLineStart(tail)
	tailStart := v.size - int64(len(tail))
	for p.Tail = ""; len(tail) > 0; {
		s, n := clean(tail, half)
		if n == len(tail) {
			p.Tail = s
			break
		}
		// Bytes that are not UTF-8 take more room than they are.
		tailStart += int64(len(tail) - n)
		tail = tail[len(tail)-n:]
	}
	p.OmittedBytes = tailStart - int64(took)
	if p.OmittedBytes > 0 {
		from, err := v.lines.LineAt(ctx, int64(took))
		if err != nil {
			return Preview{}, err
		}
		to, err := v.lines.LineAt(ctx, tailStart)
		if err != nil {
			return Preview{}, err
		}
		p.OmittedLines = to - from
		if b, err := v.readRange(tailStart-1, tailStart); err == nil && len(b) == 1 && b[0] != '\n' {
			p.OmittedLines++
		}
	}
	return p, nil
}

// String joins the two with a line that says what lies between.
func (p Preview) String() string {
	if p.OmittedBytes == 0 {
		return p.Head + p.Tail
	}
	var b strings.Builder
	b.WriteString(p.Head)
	if p.Head != "" && !strings.HasSuffix(p.Head, "\n") {
		b.WriteByte('\n')
	}
	if p.Head != "" || p.Tail != "" {
		fmt.Fprintf(&b, "[%d bytes in %d lines left out]\n", p.OmittedBytes, p.OmittedLines)
	}
	b.WriteString(p.Tail)
	return b.String()
}

// clean returns as much of b as fits into limit bytes of valid UTF-8, and how much of b that is.
func clean(b []byte, limit int) (string, int) {
	o := output{limit: limit}
	n := o.bytes(b)
	return string(o.text), n
}

// untilLineEnd drops the beginning of a line, or else of a character, at the end of b.
func untilLineEnd(b []byte) []byte {
	const nearby = 1 << 10
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 && len(b)-i <= nearby {
		return b[:i+1]
	}
	for i := 1; i <= min(len(b), utf8.UTFMax); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
