//go:build !without_landlock

package layers

// Landlock is true but in the test build that leaves this layer out.
const Landlock = true
