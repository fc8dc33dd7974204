//go:build without_landlock

package layers

// Landlock is false in this test build.
const Landlock = false
