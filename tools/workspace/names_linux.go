package workspace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// names holds the entries of the directories that a listing is in the middle of, one directory after another, like a
// stack. A million names cost their own bytes and 16 more each, and no allocation each.
type names struct {
	chunks [][]byte
	used   int // bytes used of the last chunk
	last   int // index of the last chunk; -1 when there is none yet
	refs   []nameRef
	buf    []byte // for getdents
}

// nameRef is one name: chunks[chunk][off:off+size].
type nameRef struct {
	key   uint64 // the eight bytes after what all names of the directory begin with
	chunk uint32
	off   uint16
	size  uint8 // NAME_MAX is 255
	kind  EntryType
}

const chunkBytes = 1 << 16

func newNames() *names { return &names{last: -1, buf: make([]byte, 1<<16)} }

// mark is a height of the stack.
type mark struct{ refs, last, used int }

func (n *names) mark() mark { return mark{len(n.refs), n.last, n.used} }

// release takes back what was read since m.
func (n *names) release(m mark) { n.refs, n.last, n.used = n.refs[:m.refs], m.last, m.used }

func (n *names) at(r nameRef) []byte { return n.chunks[r.chunk][r.off : int(r.off)+int(r.size)] }

func (n *names) push(name []byte, kind EntryType) {
	if n.last < 0 || n.used+len(name) > chunkBytes {
		n.last++
		n.used = 0
		if n.last == len(n.chunks) {
			n.chunks = append(n.chunks, make([]byte, chunkBytes))
		}
	}
	n.refs = append(n.refs, nameRef{chunk: uint32(n.last), off: uint16(n.used), size: uint8(len(name)), kind: kind})
	n.used += copy(n.chunks[n.last][n.used:], name)
}

// read pushes all entries of a directory, sorted by the bytes of their names.
func (n *names) read(dir int) error {
	start := len(n.refs)
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
		n.parse(dir, n.buf[:size])
	}
	n.sort(n.refs[start:])
	return nil
}

// parse takes apart a buffer of struct linux_dirent64 (getdents64(2)): d_ino and d_off of 8 bytes each, d_reclen of 2,
// d_type of 1, then the name up to a NUL.
func (n *names) parse(dir int, buf []byte) {
	const reclen, dtype, name = 16, 18, 19
	for len(buf) > name {
		size := int(binary.NativeEndian.Uint16(buf[reclen:]))
		if size <= name || size > len(buf) {
			return
		}
		entry := buf[name:size]
		if end := bytes.IndexByte(entry, 0); end >= 0 {
			entry = entry[:end]
		}
		if len(entry) > 0 && len(entry) < 256 && string(entry) != "." && string(entry) != ".." {
			if kind := kindOf(dir, entry, buf[dtype]); kind != 0 {
				n.push(entry, kind)
			}
		}
		buf = buf[size:]
	}
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
