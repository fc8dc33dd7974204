package assemble

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func run(t interface{ Fatal(...any) }, b *Builder, nr, audit uint32, args [6]uint64) uint32 {
	program, err := b.Program()
	if err != nil {
		t.Fatal(err)
	}
	var code []bpf.Instruction
	for _, in := range program {
		code = append(code, bpf.RawInstruction{Op: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K}.Disassemble())
	}
	vm, err := bpf.NewVM(code)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[0:], nr)
	binary.BigEndian.PutUint32(data[4:], audit)
	for i, arg := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(arg))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(arg>>32))
	}
	n, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}

// holds is the comparison in Go.
func (c Comparison) holds(arg uint64) bool {
	switch c.Op {
	case NotEqual:
		return arg != c.Value
	case Less:
		return arg < c.Value
	case LessOrEqual:
		return arg <= c.Value
	case Equal:
		return arg == c.Value
	case GreaterOrEqual:
		return arg >= c.Value
	case Greater:
		return arg > c.Value
	case MaskedEqual:
		return arg&c.Mask == c.Value
	}
	panic("no operator")
}

// word draws a 32-bit word near the ends, so that equal and neighbouring words are frequent.
func word() *rapid.Generator[uint64] {
	return rapid.SampledFrom([]uint64{0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff})
}

func long() *rapid.Generator[uint64] {
	return rapid.Custom(func(t *rapid.T) uint64 { return word().Draw(t, "high")<<32 | word().Draw(t, "low") })
}

func TestCompareIsUnsigned64Bit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := Comparison{
			Arg: rapid.IntRange(0, 5).Draw(r, "arg"), Op: Operator(rapid.IntRange(1, 7).Draw(r, "op")),
			Mask: long().Draw(r, "mask"), Value: long().Draw(r, "value"),
		}
		var args [6]uint64
		for i := range args {
			args[i] = long().Draw(r, "args")
		}
		var b Builder
		yes, no := b.Return(1), b.Return(2)
		// Distance puts the targets out of a conditional jump's reach at times.
		for range rapid.SampledFrom([]int{0, 1, 250, 252, 253, 254, 255, 256, 300}).Draw(r, "between") {
			b.Return(3)
		}
		at, err := b.Compare(c, yes, no)
		if err != nil {
			r.Fatal(err)
		}
		b.Jump(at)
		want := uint32(2)
		if c.holds(args[c.Arg]) {
			want = 1
		}
		if got := run(r, &b, 0, 0, args); got != want {
			r.Fatalf("%+v on %#x: %d, want %d", c, args[c.Arg], got, want)
		}
	})
}

func TestSearchFindsTheRange(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		firsts := append([]uint32{0}, rapid.SliceOfNDistinct(rapid.Uint32Range(1, 2000), 0, 600, rapid.ID[uint32]).Draw(r, "firsts")...)
		slices.Sort(firsts)
		var b Builder
		var ranges []Range
		for i, first := range firsts {
			// Few targets, so that neighbours merge, and many, so that they are far apart.
			value := uint32(i % rapid.SampledFrom([]int{2, 600}).Draw(r, "targets"))
			ranges = append(ranges, Range{first, b.Return(value)})
		}
		values := map[uint32]uint32{}
		for i, in := range b.reversed {
			values[ranges[i].First] = in.(bpf.RetConstant).Val
		}
		at, err := b.Search(ranges)
		if err != nil {
			r.Fatal(err)
		}
		b.Jump(at)
		b.Load(OffsetNumber)
		for _, nr := range append(slices.Clone(firsts), 1, 2001, 0xffffffff, rapid.Uint32().Draw(r, "nr")) {
			i, found := slices.BinarySearch(firsts, nr)
			if !found {
				i--
			}
			if got, want := run(r, &b, nr, 0, [6]uint64{}), values[firsts[i]]; got != want {
				r.Fatalf("number %d: %d, want %d", nr, got, want)
			}
		}
	})
}

func TestSearchRefusesRangesOutOfOrder(t *testing.T) {
	for _, ranges := range [][]Range{nil, {{First: 1}}, {{First: 0}, {First: 5}, {First: 3}}} {
		var b Builder
		if _, err := b.Search(ranges); err == nil || !strings.Contains(err.Error(), "internal error") {
			t.Errorf("%v: %v", ranges, err)
		}
	}
}

func TestEntry(t *testing.T) {
	const native, foreign = 1, 2
	for _, c := range []struct {
		arch      string
		audit, nr uint32
		want      uint32
	}{
		{"amd64", unix.AUDIT_ARCH_X86_64, 0, native},
		{"amd64", unix.AUDIT_ARCH_X86_64, 0x3fffffff, native},
		{"amd64", unix.AUDIT_ARCH_X86_64, 0x40000000, foreign},
		{"amd64", unix.AUDIT_ARCH_X86_64, 0xfffffffe, foreign},
		{"amd64", unix.AUDIT_ARCH_X86_64, 0xffffffff, native},
		{"amd64", unix.AUDIT_ARCH_I386, 0, foreign},
		{"arm64", unix.AUDIT_ARCH_AARCH64, 0x40000000, native},
		{"arm64", unix.AUDIT_ARCH_X86_64, 0, foreign},
	} {
		var b Builder
		yes, no := b.Return(native), b.Return(foreign)
		if _, err := b.Entry(c.arch, yes, no); err != nil {
			t.Fatal(err)
		}
		if got := run(t, &b, c.nr, c.audit, [6]uint64{}); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	var b Builder
	if _, err := b.Entry("riscv64", b.Return(1), b.Return(2)); err == nil {
		t.Error("an entry for an architecture that is not known")
	}
}

func TestRefusesWhatTheKernelWould(t *testing.T) {
	var b Builder
	for range maxInstructions + 1 {
		b.Return(0)
	}
	if _, err := b.Program(); err == nil || !strings.Contains(err.Error(), "4097 instructions") {
		t.Errorf("a program over the limit: %v", err)
	}
	var c Builder
	c.Return(0)
	for _, comparison := range []Comparison{{Arg: 6, Op: Equal}, {Arg: -1, Op: Equal}, {Arg: 0}} {
		if _, err := c.Compare(comparison, c.Here(), c.Here()); err == nil {
			t.Errorf("%+v was taken", comparison)
		}
	}
}
