package artifact

import (
	"bytes"
	"context"
	"fmt"
)

// HeadArgs are the arguments of artifact_head.
type HeadArgs struct {
	N        *int64 `json:"n" jsonschema:"minimum=1" jsonschema_description:"How many lines. Default 10."`
	Encoding string `json:"encoding" jsonschema:"enum=utf-8,enum=utf-16,enum=utf-16le,enum=utf-16be,enum=latin1,enum=hex,enum=base64" jsonschema_description:"How to show the bytes. Default utf-8."`
}

// TailArgs are the arguments of artifact_tail.
type TailArgs struct {
	N        *int64 `json:"n" jsonschema:"minimum=1" jsonschema_description:"How many lines. Default 10."`
	Encoding string `json:"encoding" jsonschema:"enum=utf-8,enum=utf-16,enum=utf-16le,enum=utf-16be,enum=latin1,enum=hex,enum=base64" jsonschema_description:"How to show the bytes. Default utf-8."`
}

// CatArgs are the arguments of artifact_cat.
type CatArgs struct {
	Start     *int64 `json:"start" jsonschema:"minimum=0" jsonschema_description:"First line, from 0. Default 0."`
	End       *int64 `json:"end" jsonschema:"minimum=0" jsonschema_description:"Line after the last. Default: all lines."`
	StartByte *int64 `json:"startByte" jsonschema:"minimum=0" jsonschema_description:"First byte, from 0, instead of start: for parts of very long lines and for binary data."`
	EndByte   *int64 `json:"endByte" jsonschema:"minimum=0" jsonschema_description:"Byte after the last, instead of end."`
	Encoding  string `json:"encoding" jsonschema:"enum=utf-8,enum=utf-16,enum=utf-16le,enum=utf-16be,enum=latin1,enum=hex,enum=base64" jsonschema_description:"How to show the bytes. Default utf-8."`
}

const defaultLines = 10

// Head returns the first lines as they are, line ends included.
func (a *Artifact) Head(ctx context.Context, args HeadArgs) (Result, error) {
	return a.run(ctx, func(v *view, out *output) error {
		n := valueOr(args.N, defaultLines)
		t, err := v.text(args.Encoding)
		if err != nil {
			return err
		}
		return t.lineRange(ctx, out, 0, n)
	})
}

// Cat returns a range of lines, or of bytes, as it is, line ends included.
func (a *Artifact) Cat(ctx context.Context, args CatArgs) (Result, error) {
	return a.run(ctx, func(v *view, out *output) error {
		t, err := v.text(args.Encoding)
		if err != nil {
			return err
		}
		byBytes := args.StartByte != nil || args.EndByte != nil
		switch {
		case byBytes && (args.Start != nil || args.End != nil):
			return &ArgumentError{Argument: "startByte", Reason: "a range is given by lines (start, end) or by bytes (startByte, endByte), not by both"}
		case byBytes:
			return t.byteRange(out, valueOr(args.StartByte, 0), valueOr(args.EndByte, v.size))
		}
		return t.lineRange(ctx, out, valueOr(args.Start, 0), valueOr(args.End, -1))
	})
}

// Tail returns the last lines as they are, line ends included.
func (a *Artifact) Tail(ctx context.Context, args TailArgs) (Result, error) {
	return a.run(ctx, func(v *view, out *output) error {
		t, err := v.text(args.Encoding)
		if err != nil {
			return err
		}
		return t.tail(ctx, out, valueOr(args.N, defaultLines))
	})
}

func valueOr[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// textView shows the content in one encoding.
type textView struct {
	*view
	decoder
}

func (v *view) text(encoding string) (textView, error) {
	start, err := v.readRange(0, 2)
	if err != nil {
		return textView{}, err
	}
	return textView{v, decoderFor(encoding, start)}, nil
}

// lineRange shows lines [from, to); to is negative for all.
func (t textView) lineRange(ctx context.Context, out *output, from, to int64) error {
	if to >= 0 && to < from {
		return &ArgumentError{Argument: "end", Reason: fmt.Sprintf("%d is before start, which is %d", to, from)}
	}
	start, ok, err := t.offset(ctx, from)
	if err != nil {
		return err
	}
	if !ok {
		if t.size == 0 {
			out.note("the artifact is empty")
			return nil
		}
		n, err := t.lines.Count(ctx)
		if err != nil {
			return err
		}
		if t.unit == 1 {
			out.note("line %d is past the end: the artifact has %d lines, the last is %d", from, n, n-1)
		} else {
			out.note("line %d is past the end", from)
		}
		return nil
	}
	// A result holds so many bytes at most, so there is no need to look for an end that is further on.
	most := start + t.room(out.left())
	b, err := t.readRange(start, most)
	if err != nil {
		return err
	}
	end, whole := t.cutLines(b, to-from)
	if to < 0 {
		end, whole = len(b), start+int64(len(b)) >= t.size
	}
	whole = whole || start+int64(len(b)) >= t.size
	took := t.show(out, b[:end])
	if took == end && whole {
		t.hint(out, start)
		return nil
	}
	t.cutAtLine(out, b[:took], from, start)
	return nil
}

// cutLines returns where the first n lines of b stop, and whether all of them are in it.
func (t textView) cutLines(b []byte, n int64) (end int, whole bool) {
	for ; n > 0; n-- {
		i := t.indexLineEnd(b[end:])
		if i < 0 {
			return len(b), false
		}
		end += i
	}
	return end, true
}

// indexLineEnd returns where the first line of b stops, its end included, or -1. b starts at a multiple of unit.
func (t textView) indexLineEnd(b []byte) int {
	for at := 0; ; {
		i := bytes.Index(b[at:], t.lineEnd)
		if i < 0 {
			return -1
		}
		if at += i; int64(at)%t.unit == 0 {
			return at + len(t.lineEnd)
		}
		at++
	}
}

// cutAtLine ends a result that is too long after its last whole line, and says how to go on. shown is the content
// that the text was made from, which starts with line first at offset start.
func (t textView) cutAtLine(out *output, shown []byte, first, start int64) {
	out.cut = true
	n, end := int64(0), 0
	for {
		i := t.indexLineEnd(shown[end:])
		if i < 0 {
			break
		}
		end += i
		n++
	}
	if n == 0 || !t.readable() {
		next := start + int64(len(shown))
		out.note("cut after %d bytes; for the rest use artifact_cat with startByte %d%s", len(shown), next, t.encodingHint())
		return
	}
	if end < len(shown) {
		out.text = out.text[:0]
		out.replaced = 0
		t.show(out, shown[:end])
	}
	out.note("cut after %d lines; for the rest use artifact_cat with start %d%s", n, first+n, t.encodingHint())
}

func (t textView) encodingHint() string {
	if t.name == encodingUTF8 {
		return ""
	}
	return " and encoding " + t.name
}

// byteRange shows bytes [from, to).
func (t textView) byteRange(out *output, from, to int64) error {
	if to < from {
		return &ArgumentError{Argument: "endByte", Reason: fmt.Sprintf("%d is before startByte, which is %d", to, from)}
	}
	to = min(to, t.size)
	if from >= to {
		if from >= t.size {
			out.note("byte %d is past the end: the artifact has %d bytes", from, t.size)
		}
		return nil
	}
	from -= from % t.unit
	b, err := t.readRange(from, min(to, from+t.room(out.left())))
	if err != nil {
		return err
	}
	took := t.show(out, b)
	if next := from + int64(took); next < to && int64(took) < to-from && (took < len(b) || next < t.size) {
		out.cut = true
		out.note("cut after %d bytes; for the rest use artifact_cat with startByte %d%s", took, next, t.encodingHint())
	}
	t.hint(out, from)
	return nil
}

// hint says what a text in UTF-16 looks like in UTF-8.
func (t textView) hint(out *output, start int64) {
	if start == 0 && t.name == encodingUTF8 && out.replaced > 0 {
		if b, err := t.readRange(0, 2); err == nil && (string(b) == "\xff\xfe" || string(b) == "\xfe\xff") {
			out.note("the text begins with the byte order mark of UTF-16: use encoding utf-16")
		}
	}
}

// offset returns where a line starts.
func (t textView) offset(ctx context.Context, line int64) (int64, bool, error) {
	if t.unit == 1 {
		return t.lines.Offset(ctx, line)
	}
	// There is no index for lines of two-byte units: they are counted from the start.
	const block = 256 << 10
	off := int64(0)
	for at := int64(0); line > 0; at += block {
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		b, err := t.readRange(at, at+block)
		if err != nil {
			return 0, false, err
		}
		for pos := 0; line > 0; line-- {
			i := t.indexLineEnd(b[pos:])
			if i < 0 {
				break
			}
			pos += i
			off = at + int64(pos)
		}
		if line > 0 && int64(len(b)) < block {
			return t.size, false, nil
		}
	}
	return off, off < t.size, nil
}
