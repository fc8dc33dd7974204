// Package testkit is the ground that tests of the whole program stand on: the built binary, a world of directories to run it
// in, runs inside and outside of the sandbox, and skips that cannot hide a failure.
//
// It guarantees that a test which needs a kernel feature fails, and is not skipped, where SANDBOXCTL_TEST_REQUIRE names
// the feature. It is no part of the program.
package testkit
