// Package escape tries to get out of the sandbox, and checks from outside that nothing happened.
//
// Every attempt runs twice: in the sandbox, where it must fail in the stated way, and outside of it, where it must work. An
// attempt that does not work outside shows nothing about the sandbox. The tests run as root and as an ordinary user.
//
// The table (waysOut) has the attempts that are a shell line with an answer; what needs a terminal, descriptors, a second
// process or a race has a test of its own. Where kernels differ, a row names each outcome.
//
// It guarantees nothing about attempts that are not in it, and nothing about the file tools or about hosts that settings
// allow: there is no way out to the network at all yet.
package escape
