// Package field holds tests only: what users of such tools reported, one report a test, named by what happened.
//
// Each test holds the behaviour that is right, in every spelling and order in which the report could come back, with a
// control that shows that the act would work without the rule. The tests run as root and as an ordinary user.
//
// It guarantees nothing about the network, the file tools, or protected names that do not exist yet (docs/two-boundaries.md).
package field
