package seccomp

import "embed"

//go:embed programs/amd64/*.bpf
var embedded embed.FS

const haveEmbedded = true
