//go:build without_mounts

package layers

// Mounts is false in this test build.
const Mounts = false
