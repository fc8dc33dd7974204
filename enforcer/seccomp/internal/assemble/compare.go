package assemble

import (
	"fmt"

	"golang.org/x/net/bpf"
)

// Operator is a comparison of a 64-bit argument, unsigned, as libseccomp's scmp_compare has them.
type Operator int

// The zero value is no operator and is refused.
const (
	NoOperator Operator = iota
	NotEqual
	Less
	LessOrEqual
	Equal
	GreaterOrEqual
	Greater
	MaskedEqual // argument & Mask == Value
)

// Comparison is a test of one argument of a call.
type Comparison struct {
	Arg   int // 0–5
	Op    Operator
	Mask  uint64 // MaskedEqual only
	Value uint64
}

// Compare emits the comparison, which goes on at yes or at no. The accumulator is lost.
func (b *Builder) Compare(c Comparison, yes, no Label) (Label, error) {
	if c.Arg < 0 || c.Arg > 5 {
		return 0, fmt.Errorf("internal error: a system call has no argument %d", c.Arg)
	}
	switch c.Op {
	case NotEqual:
		return b.equal(c.Arg, ^uint64(0), c.Value, no, yes), nil
	case Equal:
		return b.equal(c.Arg, ^uint64(0), c.Value, yes, no), nil
	case MaskedEqual:
		return b.equal(c.Arg, c.Mask, c.Value, yes, no), nil
	case Greater:
		return b.above(c.Arg, bpf.JumpGreaterThan, c.Value, yes, no), nil
	case LessOrEqual:
		return b.above(c.Arg, bpf.JumpGreaterThan, c.Value, no, yes), nil
	case GreaterOrEqual:
		return b.above(c.Arg, bpf.JumpGreaterOrEqual, c.Value, yes, no), nil
	case Less:
		return b.above(c.Arg, bpf.JumpGreaterOrEqual, c.Value, no, yes), nil
	}
	return 0, fmt.Errorf("internal error: unknown operator %d", c.Op)
}

// equal tests argument & mask == value, the two words one after the other, low word last.
func (b *Builder) equal(arg int, mask, value uint64, yes, no Label) Label {
	at := b.equalWord(OffsetArgLow(arg), uint32(mask), uint32(value), yes, no)
	return b.equalWord(OffsetArgHigh(arg), uint32(mask>>32), uint32(value>>32), at, no)
}

func (b *Builder) equalWord(offset, mask, value uint32, yes, no Label) Label {
	if value&^mask != 0 {
		return b.Jump(no)
	}
	if mask == 0 {
		return b.Jump(yes)
	}
	b.If(bpf.JumpEqual, value, yes, no)
	if mask != 0xffffffff {
		b.And(mask)
	}
	return b.Load(offset)
}

// above tests argument > value or argument >= value, by the test given for the low word.
func (b *Builder) above(arg int, low bpf.JumpTest, value uint64, yes, no Label) Label {
	high := uint32(value >> 32)
	b.If(low, uint32(value), yes, no)
	at := b.Load(OffsetArgLow(arg))
	at = b.If(bpf.JumpEqual, high, at, no)
	b.If(bpf.JumpGreaterThan, high, yes, at)
	return b.Load(OffsetArgHigh(arg))
}
