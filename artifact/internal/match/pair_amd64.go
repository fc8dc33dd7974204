package match

import "golang.org/x/sys/cpu"

// pairScan looks for the first i < n with b[i]|m1 == c1 and b[i+delta]|m2 == c2. It returns i, or -1 and how many
// places it has looked at: all but the last few, or none where the processor lacks AVX2. len(b) is n+delta.
func pairScan(b []byte, n, delta int, c1, c2, m1, m2 byte) (found, done int) {
	if n < pairStep || !cpu.X86.HasAVX2 {
		return -1, 0
	}
	if i := pairAVX2(&b[0], n, delta, c1, c2, m1, m2); i >= 0 {
		return i, i
	}
	return -1, n &^ (pairStep - 1)
}

// pairStep is how many places one round of pairAVX2 looks at.
const pairStep = 64

// pairAVX2 looks at the first n &^ 63 places and returns the first that fits, or -1. It reads n+delta bytes at
// most from p.
//
//go:noescape
func pairAVX2(p *byte, n, delta int, c1, c2, m1, m2 byte) int
