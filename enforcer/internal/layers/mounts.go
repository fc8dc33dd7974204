//go:build !without_mounts

package layers

// Mounts is true but in the test build that leaves this layer out.
const Mounts = true
