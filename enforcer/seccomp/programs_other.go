//go:build !amd64 && !arm64

package seccomp

import "embed"

var embedded embed.FS

const haveEmbedded = false
