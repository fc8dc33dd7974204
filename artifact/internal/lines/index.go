package lines

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sort"
	"sync"
)

const (
	// block is the distance between two entries of the index. A look-up reads at most one block.
	block = 256 << 10
	// batch is how many blocks are read between two looks at the context.
	batch = 32
	// workers read in parallel: one core cannot count as fast as the page cache delivers.
	workers = 2
)

// Index is a sparse line index over the first size bytes of a reader. It is safe for concurrent use.
type Index struct {
	r    io.ReaderAt
	size int64

	mu sync.Mutex
	// before[k] is the number of newlines in the first k blocks; len-1 blocks have been read.
	before []int64
	last   byte // the last byte of the file, once all is read
	done   bool
}

// New returns an index of the first size bytes of r, which must support parallel reads. It reads nothing.
func New(r io.ReaderAt, size int64) *Index {
	return &Index{r: r, size: size, before: []int64{0}, done: size == 0}
}

// Count returns the number of lines.
func (x *Index) Count(ctx context.Context) (int64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for !x.done {
		if err := x.extend(ctx); err != nil {
			return 0, err
		}
	}
	return x.count(), nil
}

func (x *Index) count() int64 {
	n := x.before[len(x.before)-1]
	if x.size > 0 && x.last != '\n' {
		n++
	}
	return n
}

// Offset returns where a line starts; ok is false when there are not so many lines, and off is then the size.
func (x *Index) Offset(ctx context.Context, line int64) (off int64, ok bool, err error) {
	if line <= 0 {
		return 0, x.size > 0 && line == 0, nil
	}
	k, skip, err := x.blockOf(ctx, line)
	if err != nil || k < 0 {
		return x.size, false, err
	}
	// Line n starts after newline n: the skip-th newline of block k, counted from 1.
	buf, err := x.read(k)
	if err != nil {
		return 0, false, err
	}
	at := 0
	for ; skip > 0; skip-- {
		at += bytes.IndexByte(buf[at:], '\n') + 1
	}
	off = int64(k)*block + int64(at)
	return off, off < x.size, nil
}

// blockOf returns the block that holds the newline before line, and its place among the newlines of that block.
// It returns -1 when the file has fewer newlines.
func (x *Index) blockOf(ctx context.Context, line int64) (k int, skip int64, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for !x.done && x.before[len(x.before)-1] < line {
		if err := x.extend(ctx); err != nil {
			return 0, 0, err
		}
	}
	if x.before[len(x.before)-1] < line {
		return -1, 0, nil
	}
	k = sort.Search(len(x.before), func(i int) bool { return x.before[i] >= line }) - 1
	return k, line - x.before[k], nil
}

// LineAt returns the number of the line that holds the byte at off: the number of newlines before it.
func (x *Index) LineAt(ctx context.Context, off int64) (int64, error) {
	off = max(0, min(off, x.size))
	k := int(off / block)
	x.mu.Lock()
	for !x.done && len(x.before) <= k {
		if err := x.extend(ctx); err != nil {
			x.mu.Unlock()
			return 0, err
		}
	}
	n := x.before[k]
	x.mu.Unlock()
	rest := off - int64(k)*block
	if rest == 0 {
		return n, nil
	}
	buf, err := x.read(k)
	if err != nil {
		return 0, err
	}
	return n + int64(bytes.Count(buf[:min(rest, int64(len(buf)))], newline)), nil
}

// newline is read only.
var newline = []byte{'\n'}

// extend reads one batch of blocks. The caller holds mu.
func (x *Index) extend(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	first := len(x.before) - 1
	total := int((x.size + block - 1) / block)
	n := min(batch, total-first)
	counts := make([]int64, n)
	errs := make([]error, workers)
	var last byte
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			buf := make([]byte, block)
			for i := w; i < n; i += workers {
				b, err := x.fill(buf, first+i)
				if err != nil {
					errs[w] = err
					return
				}
				counts[i] = int64(bytes.Count(b, newline))
				if first+i == total-1 && len(b) > 0 {
					last = b[len(b)-1]
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, c := range counts {
		x.before = append(x.before, x.before[len(x.before)-1]+c)
	}
	if first+n == total {
		x.last, x.done = last, true
	}
	return nil
}

func (x *Index) read(k int) ([]byte, error) {
	return x.fill(make([]byte, min(block, x.size-int64(k)*block)), k)
}

// fill reads block k. A file that ends early gives fewer bytes and no error: it shrank, which the caller of the
// index sees by itself.
func (x *Index) fill(buf []byte, k int) ([]byte, error) {
	buf = buf[:min(int64(len(buf)), x.size-int64(k)*block)]
	n, err := x.r.ReadAt(buf, int64(k)*block)
	if err == io.EOF {
		err = nil
	}
	return buf[:n], err
}
