//go:build !without_seccomp

package layers

// Seccomp is true but in the test build that leaves this layer out.
const Seccomp = true
