package workspace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// names holds the entries of the directories that a listing is in the middle of, one directory after another, like a
// stack. A name costs its own bytes and 16 more. It is freed by free, not by the collector.
type names struct {
	text  offHeap
	used  int // bytes of text
	table offHeap
	count int    // references in table
	buf   []byte // for getdents
}

// nameRef is one name: text.mem[off:off+size]. It holds no pointer, as it stands outside the heap.
type nameRef struct {
	key  uint64 // the eight bytes after what all names of the directory begin with
	off  uint32
	size uint8 // NAME_MAX is 255
	kind EntryType
}

const nameRefBytes = int(unsafe.Sizeof(nameRef{}))

func newNames() *names { return &names{buf: make([]byte, 1<<16)} }

func (n *names) free() {
	n.text.free()
	n.table.free()
}

// mark is a height of the stack.
type mark struct{ count, used int }

func (n *names) mark() mark { return mark{n.count, n.used} }

// release takes back what was read since m.
func (n *names) release(m mark) { n.count, n.used = m.count, m.used }

// refs views the references as such. The mapping is aligned to a page, which is more than nameRef needs.
func (n *names) refs() []nameRef {
	if n.count == 0 {
		return nil
	}
	return unsafe.Slice((*nameRef)(unsafe.Pointer(&n.table.mem[0])), n.count)
}

func (n *names) at(r nameRef) []byte { return n.text.mem[r.off : int(r.off)+int(r.size)] }

func (n *names) push(name []byte, kind EntryType) error {
	if n.used+len(name) > math.MaxUint32 {
		return unix.ENOMEM
	}
	if err := n.text.grow(n.used + len(name)); err != nil {
		return err
	}
	if err := n.table.grow((n.count + 1) * nameRefBytes); err != nil {
		return err
	}
	n.count++
	n.refs()[n.count-1] = nameRef{off: uint32(n.used), size: uint8(len(name)), kind: kind}
	n.used += copy(n.text.mem[n.used:], name)
	return nil
}

// read pushes all entries of a directory, sorted by the bytes of their names.
func (n *names) read(dir int) error {
	start := n.count
	for {
		size, err := unix.Getdents(dir, n.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if size == 0 {
			break
		}
		if err := n.parse(dir, n.buf[:size]); err != nil {
			return err
		}
	}
	n.sort(n.refs()[start:])
	return nil
}

// parse takes apart a buffer of struct linux_dirent64 (getdents64(2)): d_ino and d_off of 8 bytes each, d_reclen of 2,
// d_type of 1, then the name up to a NUL.
func (n *names) parse(dir int, buf []byte) error {
	const reclen, dtype, name = 16, 18, 19
	for len(buf) > name {
		size := int(binary.NativeEndian.Uint16(buf[reclen:]))
		if size <= name || size > len(buf) {
			return nil
		}
		entry := buf[name:size]
		if end := bytes.IndexByte(entry, 0); end >= 0 {
			entry = entry[:end]
		}
		if len(entry) > 0 && len(entry) < 256 && string(entry) != "." && string(entry) != ".." {
			if kind := kindOf(dir, entry, buf[dtype]); kind != 0 {
				if err := n.push(entry, kind); err != nil {
					return err
				}
			}
		}
		buf = buf[size:]
	}
	return nil
}

// kindOf gives the type of an entry; 0 when it vanished before it could be asked for. Not every file system fills in
// d_type.
func kindOf(dir int, name []byte, dtype byte) EntryType {
	switch dtype {
	case unix.DT_REG:
		return TypeFile
	case unix.DT_DIR:
		return TypeDirectory
	case unix.DT_LNK:
		return TypeLink
	case unix.DT_UNKNOWN:
	default:
		return TypeOther
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, string(name), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if err == unix.ENOENT {
			return 0
		}
		return TypeOther
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return TypeFile
	case unix.S_IFDIR:
		return TypeDirectory
	case unix.S_IFLNK:
		return TypeLink
	}
	return TypeOther
}

// sort orders names by their bytes. Names of one directory often begin alike, so the key is taken after that; names hold
// no NUL, so a short one padded with zeros still stands before the longer ones that begin with it.
func (n *names) sort(refs []nameRef) {
	if len(refs) < 2 {
		return
	}
	first := n.at(refs[0])
	common := len(first)
	for _, r := range refs[1:] {
		name := n.at(r)
		common = min(common, len(name))
		for i := range common {
			if name[i] != first[i] {
				common = i
				break
			}
		}
	}
	for i := range refs {
		var key [8]byte
		copy(key[:], n.at(refs[i])[common:])
		refs[i].key = binary.BigEndian.Uint64(key[:])
	}
	slices.SortFunc(refs, func(a, b nameRef) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return bytes.Compare(n.at(a), n.at(b))
	})
}
