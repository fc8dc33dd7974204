// Package match searches files line by line for a regular expression, at about the speed of the page cache when
// the expression holds a literal.
//
// Go's regexp is some thirty times slower than ripgrep's. A line is therefore given to it only when a literal
// that every match must contain was found in it; the literals come from the parsed expression, and blocks are
// searched for them by two goroutines, on amd64 with a few AVX2 instructions.
//
// # Guarantees
//
//   - The lines found are those on which the expression matches, each line taken as a text of its own without its
//     line end; a '\r' before the '\n' counts as part of the line end for '$' and as part of the line otherwise.
//   - Lines come in order, with number, offset and a bounded excerpt. Stopping early stops the reading.
//   - Memory is bounded, whatever the length of lines: about 2 MiB for each of two goroutines.
//   - Matching time is linear in the size of the input (RE2 syntax: no backreference, no lookaround).
//
// # Does not guarantee
//
//   - A match in a line longer than 1 MiB that is itself longer than 64 KiB: such lines are matched in overlapping
//     pieces, and \b may be wrong at the edge of a piece.
//   - With flag s, a match longer than 1 MiB: text is then searched in windows of 4 MiB that overlap by 1 MiB.
//
// # Example
//
//	p, err := match.Compile(`timeout \d+`, "i")
//	err = p.Scan(ctx, file, match.Span{End: size}, match.Limits{}, func(m match.Match) bool { … })
package match
