//go:build !amd64

package match

// pairScan has no vector version here: the caller looks at every place itself.
func pairScan(b []byte, n, delta int, c1, c2, m1, m2 byte) (found, done int) { return -1, 0 }
