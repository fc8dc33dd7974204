package artifact

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// tailBlock is how much is read at a time to find lines from the end.
const tailBlock = 64 << 10

// tail shows the last n lines, or the last of them that there is room for.
func (t textView) tail(ctx context.Context, out *output, n int64) error {
	if t.size == 0 {
		out.note("the artifact is empty")
		return nil
	}
	// What cannot be shown need not be looked at.
	least := max(0, t.size-t.room(out.left()))
	least += (t.unit - least%t.unit) % t.unit
	var b []byte
	start := t.size - t.size%t.unit
	found := int64(-1) // the line end of the last line begins no line
	for start > least && found < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := max(least, start-tailBlock)
		more, err := t.readRange(from, t.size-int64(len(b)))
		if err != nil {
			return err
		}
		b = append(more, b...)
		start = from
		found = t.countEnds(b) - 1
		if !bytes.HasSuffix(b, t.lineEnd) {
			found++
		}
	}
	// Drop the lines in front of the last n.
	cut := 0
	for ; found >= n; found-- {
		cut += t.indexLineEnd(b[cut:])
	}
	b, start = b[cut:], start+int64(cut)
	if cut > 0 || start == 0 {
		if took := t.show(out, b); took == len(b) {
			t.hint(out, start)
			return nil
		}
		out.text, out.replaced = out.text[:0], 0
	}
	return t.lastThatFit(out, b, start, n)
}

func (t textView) countEnds(b []byte) int64 {
	n := int64(0)
	for at := 0; ; n++ {
		i := t.indexLineEnd(b[at:])
		if i < 0 {
			return n
		}
		at += i
	}
}

// lastThatFit shows the end of b, which is too long, from the start of a line if there is one.
func (t textView) lastThatFit(out *output, b []byte, start, n int64) error {
	drop := max(0, len(b)-out.left())
	for {
		drop = min(drop+drop%int(t.unit), len(b))
		at := drop
		if i := t.indexLineEnd(b[drop:]); i >= 0 && drop+i < len(b) && t.readable() {
			at += i
		} else if t.name == encodingUTF8 {
			at += runeStart(b[drop:])
		}
		if took := t.show(out, b[at:]); took == len(b)-at {
			out.cut = true
			first := start + int64(at)
			out.note("the last %d lines do not fit; shown are the last %d bytes; for what is before use artifact_cat with endByte %d and a startByte%s", n, len(b)-at, first, t.encodingHint())
			return nil
		}
		out.text, out.replaced = out.text[:0], 0
		// Some bytes take more room as text than as they are.
		drop += max(int(t.unit), (len(b)-drop)/8)
	}
}

// runeStart returns where the first whole character of b begins, if b may begin inside one.
func runeStart(b []byte) int {
	for i := range min(len(b), utf8.UTFMax) {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return 0
}
