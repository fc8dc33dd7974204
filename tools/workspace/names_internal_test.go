package workspace

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func TestKindWithoutAType(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "f"), nil, 0o644), os.Mkdir(filepath.Join(dir, "d"), 0o755),
		os.Symlink("f", filepath.Join(dir, "l")), unix.Mkfifo(filepath.Join(dir, "p"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for name, want := range map[string]EntryType{"f": TypeFile, "d": TypeDirectory, "l": TypeLink, "p": TypeOther, "none": 0} {
		if got := kindOf(fd, []byte(name), unix.DT_UNKNOWN); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// A buffer that a file system got wrong is not read past its end.
func FuzzParseDirents(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x18\x00\x08name\x00"))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\x08name\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, buf []byte) {
		n := newNames()
		defer n.free()
		if err := n.parse(-1, buf); err != nil {
			t.Fatal(err)
		}
		n.sort(n.refs())
		for i, r := range n.refs() {
			if name := string(n.at(r)); name == "" || name == "." || name == ".." {
				t.Fatalf("name %d is %q", i, name)
			}
		}
	})
}

func TestParseDirents(t *testing.T) {
	n := newNames()
	defer n.free()
	if err := n.parse(-1, []byte("\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x18\x00\x08name\x00")); err != nil {
		t.Fatal(err)
	}
	if refs := n.refs(); len(refs) != 1 || string(n.at(refs[0])) != "name" || refs[0].kind != TypeFile {
		t.Errorf("%+v", refs)
	}
}

// A directory larger than the first mapping, and a second one on top of it that is taken back.
func TestNamesGrow(t *testing.T) {
	n := newNames()
	defer n.free()
	push := func(count int, prefix string) {
		t.Helper()
		for i := range count {
			if err := n.push([]byte(prefix+strconv.Itoa(i)), TypeFile); err != nil {
				t.Fatal(err)
			}
		}
	}
	push(50_000, "below-")
	m := n.mark()
	push(100_000, "above-")
	n.release(m)
	push(1, "again-")
	for i, want := range map[int]string{0: "below-0", 49_999: "below-49999", 50_000: "again-0"} {
		if got := string(n.at(n.refs()[i])); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	if len(n.refs()) != 50_001 {
		t.Errorf("%d names", len(n.refs()))
	}
}
