// Package escape tries to get out of the sandbox, and checks from outside that nothing happened.
//
// Every attempt runs twice: in the sandbox, where it must fail in the stated way, and outside of it, where it must work. An
// attempt that does not work outside shows nothing about the sandbox. The tests run as root and as an ordinary user.
//
// It guarantees nothing about attempts that are not in it, and nothing about the network or the file tools.
package escape
