package tools

import (
	"bytes"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// hunk is one change of a line patch: the lines that must be there, and those that take their place. Lines carry their
// line feeds.
type hunk struct {
	old, new [][]byte
	at       int      // index of the line where old is expected; -1 when the form does not say
	after    [][]byte // lines to look for first, one after the other; old is then the next place that fits
	atEnd    bool     // old must end the content
	bareEnd  bool     // the form cannot say that the last line has no line feed, so it is left as it is
}

// hunks is a line patch: changes in the order of the content.
type hunks []hunk

func (hs hunks) apply(content []byte, max int64) ([]byte, int, error) {
	lines := bytes.SplitAfter(content, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	var out bytes.Buffer
	done := 0 // lines of content already in out
	for i, h := range hs {
		at, err := h.find(lines, done)
		if err != nil {
			err.Detail = outcome.Number("Change ", int64(i+1), " of the patch: ") + err.Detail + lineEndHint(content, bytes.Join(h.old, nil))
			return nil, 0, err
		}
		for _, line := range lines[done:at] {
			out.Write(line)
		}
		added := bytes.Join(h.new, nil)
		done = at + len(h.old)
		if h.bareEnd && done == len(lines) && len(lines) > 0 {
			added = keepBareEnd(&out, added, lines[done-1], len(h.old) > 0)
		}
		out.Write(added)
		if int64(out.Len()) > max {
			return nil, 0, outcome.New(outcome.TooLarge, "", nil)
		}
	}
	for _, line := range lines[done:] {
		out.Write(line)
	}
	if int64(out.Len()) > max {
		return nil, 0, outcome.New(outcome.TooLarge, "", nil)
	}
	return out.Bytes(), len(hs), nil
}

// keepBareEnd makes content that had no final line feed end without one again. last is its last line, replaced tells
// whether that is among what is replaced; otherwise the new lines come after it, and need one in between.
func keepBareEnd(out *bytes.Buffer, added, last []byte, replaced bool) []byte {
	if bytes.HasSuffix(last, []byte("\n")) || len(added) == 0 {
		return added
	}
	if !replaced {
		out.WriteByte('\n')
	}
	return bytes.TrimSuffix(added, []byte("\n"))
}

// find gives the index of the line where h applies, at or after from.
func (h *hunk) find(lines [][]byte, from int) (int, *outcome.Error) {
	for _, anchor := range h.after {
		at := h.findAnchor(lines, from, anchor)
		if at < 0 {
			return 0, mismatch(outcome.Quoted("the line after @@, ", string(anchor), ", is not there."))
		}
		from = at + 1
	}
	if len(h.old) == 0 {
		switch {
		case h.at > len(lines), h.at >= 0 && h.at < from:
			return 0, mismatch("the place to insert at is not there.")
		case h.at >= 0:
			return h.at, nil
		case len(h.after) > 0 && !h.atEnd:
			return from, nil
		}
		return len(lines), nil
	}
	if h.at >= from && h.fits(lines, h.at) {
		return h.at, nil
	}
	found, count := 0, 0
	for at := from; at+len(h.old) <= len(lines); at++ {
		if !h.fits(lines, at) {
			continue
		}
		if len(h.after) > 0 {
			return at, nil
		}
		if count++; count == 1 {
			found = at
		}
	}
	switch count {
	case 0:
		return 0, mismatch(outcome.Quoted("its lines do not stand there; the first is ", string(bytes.TrimSuffix(h.old[0], []byte("\n"))), "."))
	case 1:
		return found, nil
	}
	return 0, mismatch(outcome.Number("its lines stand there ", int64(count), " times. Give more lines around the one that is meant."))
}

// fits reports whether the old lines stand at an index.
func (h *hunk) fits(lines [][]byte, at int) bool {
	end := at + len(h.old)
	if end > len(lines) || h.atEnd && end != len(lines) {
		return false
	}
	for i, want := range h.old {
		got := lines[at+i]
		if bytes.Equal(got, want) {
			continue
		}
		last := at+i == len(lines)-1
		if !(h.bareEnd && last && bytes.Equal(got, bytes.TrimSuffix(want, []byte("\n")))) {
			return false
		}
	}
	return true
}

// findAnchor looks for the line itself, and if there is none for one that differs in its indentation.
func (h *hunk) findAnchor(lines [][]byte, from int, anchor []byte) int {
	for _, same := range []func(line []byte) bool{
		func(line []byte) bool { return bytes.Equal(bytes.TrimRight(line, "\r\n"), anchor) },
		func(line []byte) bool { return bytes.Equal(bytes.TrimSpace(line), bytes.TrimSpace(anchor)) },
	} {
		for at := from; at < len(lines); at++ {
			if same(lines[at]) {
				return at
			}
		}
	}
	return -1
}
