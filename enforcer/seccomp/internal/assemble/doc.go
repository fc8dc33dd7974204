// Package assemble lays out classic BPF programs over struct seccomp_data.
//
// A conditional jump of classic BPF reaches 255 instructions forward and no further, and there is no way back. The
// [Builder] therefore emits a program from its last instruction to its first, so that every target is laid out
// before the jump to it, and puts a long jump in between where a target is too far.
//
// Guarantees: every jump lands on the label that was asked for, whatever the distance; a program longer than the
// kernel's limit (BPF_MAXINSNS) is an error.
//
// Does not guarantee: that a program is minimal, or that all its paths return; the kernel checks the latter.
//
// Key types: [Builder], [Label], [Comparison], [Range].
//
//	var b assemble.Builder
//	kill := b.Return(unix.SECCOMP_RET_KILL_PROCESS)
//	allow := b.Return(unix.SECCOMP_RET_ALLOW)
//	b.If(bpf.JumpEqual, unix.AUDIT_ARCH_X86_64, allow, kill)
//	b.Load(assemble.OffsetArch)
//	program, err := b.Program()
package assemble
