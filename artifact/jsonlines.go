package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/sandboxctl/sandboxctl/artifact/internal/jsonval"
)

// record is one line of JSON Lines that is not blank. Records count from 0, valid or not.
type record struct {
	index int64
	line  int64 // of the file, from 0
	text  []byte
}

// badRecords counts the records that are not JSON.
type badRecords struct {
	n     int64
	good  int64
	first error
}

// decode decodes a record. One that is not JSON is counted, and ok is false.
func (b *badRecords) decode(r record) (v any, ok bool) {
	v, err := jsonval.Decode(string(r.text), jsonval.Strict)
	if err == nil {
		b.good++
		return v, true
	}
	if b.n++; b.n == 1 {
		var se *jsonval.SyntaxError
		if errors.As(err, &se) {
			err = fmt.Errorf("line %d, column %d (both from 0): %s", r.line, se.Column, se.Msg)
		}
		b.first = err
	}
	return nil, false
}

// report says how many records were left out; when none is JSON, that is an error.
func (b *badRecords) report(out *output, format Kind) error {
	switch {
	case b.n > 0 && b.good == 0:
		return &FormatError{Format: "JSON Lines (" + string(format) + ")", Err: b.first}
	case b.n > 0:
		out.note("%d records are not JSON and were left out; the first: %v", b.n, b.first)
	}
	return nil
}

// recordBlock is how much is read at a time.
const recordBlock = 256 << 10

// eachRecord calls yield with every record until it returns false. The text is valid during the call only. Memory
// is bounded by the longest line, and a line longer than MaxJSONBytes is an error.
func (v *view) eachRecord(ctx context.Context, yield func(record) bool) error {
	limit := int(v.store.opts.MaxJSONBytes)
	buf := make([]byte, 0, recordBlock)
	var r record
	for off := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := v.readRange(off, off+recordBlock)
		if err != nil {
			return err
		}
		off += int64(len(more))
		last := len(more) < recordBlock
		scanned := len(buf)
		buf = append(buf, more...)
		if off == int64(len(more)) {
			buf = bytes.TrimPrefix(buf, []byte("\xef\xbb\xbf"))
		}
		start := 0
		for {
			i := bytes.IndexByte(buf[max(start, scanned):], '\n')
			if i < 0 && (!last || start == len(buf)) {
				break
			}
			stop := len(buf)
			if i >= 0 {
				stop = max(start, scanned) + i
			}
			if r.text = bytes.TrimSpace(buf[start:stop]); len(r.text) > 0 {
				if !yield(r) {
					return nil
				}
				r.index++
			}
			r.line++
			start = min(stop+1, len(buf))
		}
		if last {
			return nil
		}
		buf = buf[:copy(buf, buf[start:])]
		if len(buf) > limit {
			return &TooLargeError{Format: fmt.Sprintf("JSON record (line %d)", r.line), Size: int64(len(buf)), Limit: int64(limit)}
		}
	}
}
