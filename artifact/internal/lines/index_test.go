package lines

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// starts is the naive answer: the offset of every line.
func starts(data []byte) []int64 {
	var out []int64
	for off := 0; off < len(data); {
		out = append(out, int64(off))
		i := bytes.IndexByte(data[off:], '\n')
		if i < 0 {
			break
		}
		off += i + 1
	}
	return out
}

func TestCountByHand(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"", 0}, {"a", 1}, {"\n", 1}, {"a\n", 1}, {"a\nb", 2}, {"a\r\nb\r\n", 2}, {"\n\n", 2}, {"\x00\n\x00", 2},
		{"\r", 1}, {strings.Repeat("x", block) + "\n", 1}, {strings.Repeat("x", block-1) + "\ny", 2},
	} {
		got, err := New(strings.NewReader(c.text), int64(len(c.text))).Count(t.Context())
		if err != nil || got != c.want {
			t.Errorf("%.20q: %d lines, %v; want %d", c.text, got, err, c.want)
		}
	}
}

func TestOffsetsAroundBlockEdges(t *testing.T) {
	for _, length := range []int{block - 2, block - 1, block, block + 1, 3*block - 1, 3 * block} {
		data := []byte(strings.Repeat("x", length) + "\nsecond\n")
		x := New(bytes.NewReader(data), int64(len(data)))
		off, ok, err := x.Offset(t.Context(), 1)
		if err != nil || !ok || off != int64(length)+1 {
			t.Errorf("line 1 after %d bytes: offset %d, %v, %v", length, off, ok, err)
		}
		off, ok, err = x.Offset(t.Context(), 2)
		if err != nil || ok || off != int64(len(data)) {
			t.Errorf("line past the end after %d bytes: offset %d, %v, %v", length, off, ok, err)
		}
	}
}

func TestIndexEqualsNaiveSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var data []byte
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 3*block/2), 0, 6).Draw(t, "gaps") {
			data = append(data, bytes.Repeat([]byte{'\r'}, n)...)
			data = append(data, bytes.Repeat([]byte{'\n'}, 1+n%3)...)
		}
		data = append(data, rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "tail")...)
		want := starts(data)
		x := New(bytes.NewReader(data), int64(len(data)))
		if rapid.Bool().Draw(t, "count first") {
			if n, err := x.Count(context.Background()); err != nil || n != int64(len(want)) {
				t.Fatalf("count %d, %v; want %d", n, err, len(want))
			}
		}
		for range 8 {
			line := rapid.Int64Range(0, int64(len(want))+1).Draw(t, "line")
			off, ok, err := x.Offset(context.Background(), line)
			if err != nil {
				t.Fatal(err)
			}
			if wantOK := line < int64(len(want)); ok != wantOK || ok && off != want[line] || !ok && off != int64(len(data)) {
				t.Fatalf("line %d: offset %d, %v of %d lines", line, off, ok, len(want))
			}
			at := rapid.Int64Range(0, int64(len(data))).Draw(t, "at")
			n, err := x.LineAt(context.Background(), at)
			if err != nil || n != int64(bytes.Count(data[:at], []byte("\n"))) {
				t.Fatalf("line at %d: %d, %v", at, n, err)
			}
		}
	})
}

// counting reports how far a reader was read.
type counting struct {
	r *bytes.Reader
	n atomic.Int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.n.Add(int64(len(p)))
	return c.r.ReadAt(p, off)
}

func TestReadsNoFurtherThanAsked(t *testing.T) {
	data := bytes.Repeat([]byte("line\n"), 40<<20/5)
	r := &counting{r: bytes.NewReader(data)}
	x := New(r, int64(len(data)))
	if r.n.Load() != 0 {
		t.Fatal("New read the file")
	}
	if _, ok, err := x.Offset(t.Context(), 10); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if got := r.n.Load(); got > (batch+1)*block {
		t.Errorf("line 10 cost %d bytes of reading", got)
	}
	if _, err := x.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := r.n.Load()
	if _, ok, err := x.Offset(t.Context(), 7_000_000); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if got := r.n.Load() - before; got > block {
		t.Errorf("a look-up in a full index cost %d bytes of reading", got)
	}
}

func TestCancelAndShrink(t *testing.T) {
	data := bytes.Repeat([]byte("line\n"), 100_000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(bytes.NewReader(data), int64(len(data))).Count(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled count: %v", err)
	}
	// The size says more than there is, as when a file was truncated after it was measured.
	n, err := New(bytes.NewReader(data), int64(len(data))+3*block).Count(t.Context())
	if err != nil || n < 100_000 || n > 100_001 {
		t.Errorf("shrunk file: %d, %v", n, err)
	}
}

func TestConcurrentUse(t *testing.T) {
	data := bytes.Repeat([]byte("0123456\n"), 20<<20/8)
	x := New(bytes.NewReader(data), int64(len(data)))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			line := int64(i) * 150_000
			if off, ok, err := x.Offset(t.Context(), line); err != nil || !ok || off != line*8 {
				t.Errorf("line %d: %d, %v, %v", line, off, ok, err)
			}
		})
	}
	wg.Wait()
}
