package wire

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatIsWrittenComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		b := rapid.Bool().Draw(t, "b")
		list := rapid.SliceOf(rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "list")
		var w Writer
		w.Uint(n)
		w.Strings(list)
		w.Bool(b)
		r := NewReader(w.Bytes())
		if got := r.Uint(); got != n {
			t.Fatalf("%d came back as %d", n, got)
		}
		if got := r.Strings(); !slices.Equal(got, list) {
			t.Fatalf("%q came back as %q", list, got)
		}
		if got := r.Bool(); got != b || r.Err() != nil {
			t.Fatalf("%v came back as %v, %v", b, got, r.Err())
		}
	})
}

func TestDamageIsNoticed(t *testing.T) {
	var w Writer
	w.Strings([]string{"a", "b\xff.key"})
	whole := w.Bytes()
	for cut := range len(whole) {
		r := NewReader(whole[:cut])
		r.Strings()
		if !errors.Is(r.Err(), ErrDamaged) {
			t.Errorf("the first %d bytes were taken for a whole", cut)
		}
	}
	for _, bad := range [][]byte{{0xff}, {0x80, 0x80}, {0xff, 0xff, 0xff, 0xff, 0x0f, 'a'}, append(slices.Clone(whole), 0)} {
		r := NewReader(bad)
		r.Strings()
		if !errors.Is(r.Err(), ErrDamaged) {
			t.Errorf("% x was taken", bad)
		}
	}
	if r := NewReader([]byte{2}); r.Bool() || r.Err() == nil {
		t.Error("2 was taken for a truth value")
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 1, 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(b)
		total := 0
		for _, s := range r.Strings() {
			total += len(s)
		}
		r.Uint()
		_ = r.String()
		if total > len(b) {
			t.Fatalf("%d bytes out of %d", total, len(b))
		}
	})
}
