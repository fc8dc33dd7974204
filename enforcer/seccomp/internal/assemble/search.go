package assemble

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Range sends the numbers from First up to the next range's First to one place.
type Range struct {
	First uint32
	To    Label
}

// Search emits a binary search of the accumulator over ranges, which must be ordered, distinct, and start at 0.
// Neighbours with the same target are merged.
func (b *Builder) Search(ranges []Range) (Label, error) {
	if len(ranges) == 0 || ranges[0].First != 0 {
		return 0, fmt.Errorf("internal error: ranges do not start at 0")
	}
	if !slices.IsSortedFunc(ranges, func(a, b Range) int { return cmp.Compare(a.First, b.First) }) {
		return 0, fmt.Errorf("internal error: ranges are not in order")
	}
	merged := slices.CompactFunc(slices.Clone(ranges), func(a, b Range) bool { return a.To == b.To })
	return b.search(merged), nil
}

func (b *Builder) search(ranges []Range) Label {
	if len(ranges) == 1 {
		return ranges[0].To
	}
	half := len(ranges) / 2
	above := b.search(ranges[half:])
	below := b.search(ranges[:half])
	return b.If(bpf.JumpGreaterOrEqual, ranges[half].First, above, below)
}

// AuditArch gives the AUDIT_ARCH_* value of an architecture named as in GOARCH.
func AuditArch(arch string) (uint32, error) {
	switch arch {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64, nil
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64, nil
	}
	return 0, fmt.Errorf("no audit architecture is known for %q", arch)
}

// Entry emits what every filter starts with: the architecture is compared before the number is looked at, as the
// same number is another call elsewhere; then numbers with the x32 bit go to foreign, but for -1, which is no x32
// call but the number of a call that a tracer has cancelled. At native the accumulator holds the number.
func (b *Builder) Entry(arch string, native, foreign Label) (Label, error) {
	audit, err := AuditArch(arch)
	if err != nil {
		return 0, err
	}
	if arch == "amd64" {
		minusOne := b.If(bpf.JumpEqual, 0xffffffff, native, foreign)
		native = b.If(bpf.JumpGreaterOrEqual, X32Bit, minusOne, native)
	}
	b.Jump(native)
	number := b.Load(OffsetNumber)
	b.If(bpf.JumpEqual, audit, number, foreign)
	return b.Load(OffsetArch), nil
}
