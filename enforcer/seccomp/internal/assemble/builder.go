package assemble

import (
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data of linux/seccomp.h. An argument is eight bytes, of which a little-endian machine
// keeps the low word first; amd64 and arm64 are such.
const (
	OffsetNumber = 0
	OffsetArch   = 4
	offsetArgs   = 16
)

// OffsetArgLow and OffsetArgHigh give the place of the two words of argument i (0–5).
func OffsetArgLow(i int) uint32  { return offsetArgs + 8*uint32(i) }
func OffsetArgHigh(i int) uint32 { return OffsetArgLow(i) + 4 }

// X32Bit is set in the number of a call of the x32 ABI, which has amd64's audit architecture (asm/unistd.h).
const X32Bit = 0x40000000

// maxInstructions is BPF_MAXINSNS of linux/bpf_common.h.
const maxInstructions = 4096

// maxSkip is how far a conditional jump reaches: jt and jf of struct sock_filter have eight bits.
const maxSkip = 255

// Label marks an instruction by its distance from the end of the program. End is just past the last one: where
// what is appended to the program goes on.
type Label int

// End is the label of whatever follows the program.
const End Label = 0

// Builder collects a program from its end. The zero value is an empty program. Not for concurrent use.
type Builder struct {
	reversed []bpf.Instruction
}

// Here is the label of the instruction emitted last, which is the one that runs first.
func (b *Builder) Here() Label { return Label(len(b.reversed)) }

func (b *Builder) emit(in bpf.Instruction) Label {
	b.reversed = append(b.reversed, in)
	return b.Here()
}

// distance is the skip that an instruction emitted next needs to reach to.
func (b *Builder) distance(to Label) int { return len(b.reversed) - int(to) }

// Return emits the end of a path with a value of SECCOMP_RET_*.
func (b *Builder) Return(value uint32) Label { return b.emit(bpf.RetConstant{Val: value}) }

// Load emits a load of the 32-bit word at offset into the accumulator.
func (b *Builder) Load(offset uint32) Label { return b.emit(bpf.LoadAbsolute{Off: offset, Size: 4}) }

// And emits a mask of the accumulator.
func (b *Builder) And(mask uint32) Label {
	return b.emit(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask})
}

// Jump emits an unconditional jump, or nothing when to comes next anyway.
func (b *Builder) Jump(to Label) Label {
	if b.distance(to) == 0 {
		return to
	}
	return b.emit(bpf.Jump{Skip: uint32(b.distance(to))})
}

// If emits a comparison of the accumulator with value that goes on at yes or at no.
func (b *Builder) If(test bpf.JumpTest, value uint32, yes, no Label) Label {
	// A long jump for one target moves the other one instruction further away, so the margin is one.
	if b.distance(no) >= maxSkip {
		no = b.emit(bpf.Jump{Skip: uint32(b.distance(no))})
	}
	if b.distance(yes) >= maxSkip {
		yes = b.emit(bpf.Jump{Skip: uint32(b.distance(yes))})
	}
	return b.emit(bpf.JumpIf{
		Cond: test, Val: value,
		SkipTrue: uint8(b.distance(yes)), SkipFalse: uint8(b.distance(no)),
	})
}

// Program gives the instructions in running order.
func (b *Builder) Program() ([]unix.SockFilter, error) {
	if len(b.reversed) > maxInstructions {
		return nil, fmt.Errorf("program has %d instructions, the kernel takes %d", len(b.reversed), maxInstructions)
	}
	forward := slices.Clone(b.reversed)
	slices.Reverse(forward)
	raw, err := bpf.Assemble(forward)
	if err != nil {
		return nil, fmt.Errorf("assemble: %w", err)
	}
	program := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		program[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	return program, nil
}
