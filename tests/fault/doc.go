// Package fault kills the processes of a launch at any moment and runs many at once: no process, mount or file may stay.
// It guarantees nothing about confinement while they run; tests/escape does.
package fault
