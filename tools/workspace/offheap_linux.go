package workspace

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// offHeap is memory outside the Go heap: it grows without being copied (mremap(2) moves pages), and the collector does
// not take it for a reason to let the heap grow to twice its size. A listing of a million names in one directory holds
// 40 MB in it; on the heap that took 100. The zero value is empty; nothing may point into mem after grow or free.
type offHeap struct {
	mem []byte
}

const firstMapping = 64 << 10

// grow makes room for n bytes in all.
func (m *offHeap) grow(n int) error {
	if n <= len(m.mem) {
		return nil
	}
	size := max(firstMapping, len(m.mem))
	for size < n {
		size *= 2
	}
	var mem []byte
	var err error
	if m.mem == nil {
		mem, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	} else {
		mem, err = unix.Mremap(m.mem, size, unix.MREMAP_MAYMOVE)
	}
	if err != nil {
		return fmt.Errorf("map %d bytes for names: %w", size, err)
	}
	m.mem = mem
	return nil
}

func (m *offHeap) free() {
	if m.mem != nil {
		_ = unix.Munmap(m.mem) // fails only for what is no mapping of ours
		m.mem = nil
	}
}
