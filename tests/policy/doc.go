// Package policy checks that each settings key does in the kernel what it says, that each kernel layer counts, and that
// nothing runs where a layer is missing.
//
// Every case runs twice: under its settings, and in a control without them (outside of any sandbox, or under other
// settings), where the outcome is another one. The tests run as root and as an ordinary user.
//
// It guarantees nothing about keys that need a network, about names that do not exist when a command starts, or about
// the evaluator; package differential compares the two.
package policy
