//go:build without_seccomp

package layers

// Seccomp is false in this test build.
const Seccomp = false
