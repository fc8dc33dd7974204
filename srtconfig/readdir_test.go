package srtconfig

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A directory that was listed may be a link by the time it is opened. The walk does not follow it.
func TestDirReaderFollowsNoLink(t *testing.T) {
	root := tempHost(t).Home
	plant(t, root, "real/sub/", "last => real", "middle => real")
	for _, fallback := range []bool{false, true} {
		r := newDirReader()
		r.noOpenat2 = fallback
		for name, refused := range map[string]bool{
			"real/sub":   false,
			"last":       true,
			"middle/sub": !fallback, // open(2) knows no flag for the components before the last
		} {
			err := r.read(root+"/"+name, func(string, uint8) {})
			if got := errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR); got != refused {
				t.Errorf("%s, without openat2 %t: %v, want it refused: %t", name, fallback, err, refused)
			}
		}
	}
}

// More names than one read of the kernel's gives, of every length, and each once.
func TestDirReaderReadsEveryName(t *testing.T) {
	root := tempHost(t).Home
	want := []string{"link", "p"}
	plant(t, root, "link => gone")
	for i := range 2000 {
		name := fmt.Sprintf("%0*d", 4+i%100, i)
		plant(t, root, name)
		want = append(want, name)
	}
	slices.Sort(want)
	var got []string
	if err := newDirReader().read(root, func(name string, kind uint8) {
		got = append(got, string([]byte(name)))
		if listed, asked := kind, entryKind(root+"/"+name); listed != unix.DT_UNKNOWN && listed != asked {
			t.Errorf("%s: listed as %d, stat says %d", name, listed, asked)
		}
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d names, want %d", len(got), len(want))
	}
}
