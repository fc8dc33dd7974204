// Package outcome holds the closed set of ways in which a tool call can end other than plainly well, and the one
// narrator that words them for a model.
//
// Guarantees:
//   - Every [Outcome] has words, and the words say what to do next.
//   - [NotFound] and [Denied] read the same, byte for byte, apart from the name that was asked for; so does everything
//     else of the error that a model can see (code and label).
//   - The words are made of constants, numbers, and what the model or the operator wrote. The text of a cause (which
//     may hold a host path, a home directory or a user's name) is kept for [errors.Is] and never printed.
//   - Whatever was asked for is quoted: control characters cannot forge a line of their own.
//
// Does not guarantee: that the time a call takes, or the order of calls, hides the difference between a missing entry
// and a denied one.
//
// Key types: [Outcome], [Error], [Code], [Repeats].
//
//	err := outcome.New(outcome.NotFound, "src/missing.go", nil)
//	fmt.Println(err) // "src/missing.go" was not found. …
package outcome
