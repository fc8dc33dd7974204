package seccomp

import "embed"

//go:embed programs/arm64/*.bpf
var embedded embed.FS

const haveEmbedded = true
