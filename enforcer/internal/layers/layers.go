// Package layers lets a test build leave one kernel layer out, to show that some test notices. An ordinary build has
// them all: the constants are changed by the build tags without_mounts, without_landlock and without_seccomp only, which
// no target but the one of that test sets.
package layers
