// Package differential compares the two boundaries: what the evaluator answers about a path, and what a program in the
// sandbox experiences there. It holds tests only.
//
// A case is a random tree with random settings. One sandbox is started for it, in which a copy of the test binary tries
// every probe (open, list, write, create, rename, remove, …), undoes what succeeded, and reports the errno. Outside, the
// evaluator is asked about the same paths, with links resolved by the test's own walk.
//
// It guarantees that no probe is left out because it disagrees: the only exceptions are those of the table in
// known_test.go, each of which has a test of its own that shows it happen.
//
// It does not cover owners and modes, which the evaluator does not know, nor races.
//
//	SANDBOXCTL_DIFFERENTIAL=1000000 go test -v ./tests/differential    # more decisions, with progress
//	SANDBOXCTL_DIFFERENTIAL_CASE=17:3 go test -v ./tests/differential  # one case again, as a failure names it
package differential
