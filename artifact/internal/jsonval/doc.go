// Package jsonval holds JSON values as they were written: members in their order, numbers exactly.
//
// It has a decoder of its own because no library that was tried keeps what a reader of settings files needs. Of
// the two JSON5 decoders for Go that are published in a module, titanous/json5 v1.0.0 refuses names outside ASCII
// and \x escapes, loses the order of members and has no bound on nesting (a megabyte of '[' ends the process);
// alchemy/json5 v0.2.0 turns "\ud83d\ude00" into two replacement characters and refuses {Infinity:1}. What is JSON
// is still what encoding/json says it is: a fuzz test holds the strict decoder to its verdict and its values.
//
// # Guarantees
//
//   - Strict decoding accepts exactly what encoding/json accepts, down to replacing invalid UTF-8 and lone
//     surrogates with U+FFFD, and refuses nesting deeper than [MaxDepth] as it does.
//   - JSON5 decoding accepts JSON5 1.0.0 (spec.json5.org).
//   - Errors tell the place: offset, line and column from 0.
//   - A path is evaluated lazily, in document order, and no further than the caller wants.
//
// # Does not guarantee
//
//   - Exact comparison in filters: theory/jsonpath compares numbers as float64.
//
// # Key types
//
// A value is nil, bool, string, [encoding/json.Number], float64 (only JSON5's infinities and NaN), *[Array] or
// *[Object].
//
// # Example
//
//	v, err := jsonval.Decode(text, jsonval.Strict)
//	path, err := jsonval.ParsePath("$.users[?@.age > 18].name")
//	err = path.Select(ctx, v, func(at *jsonval.Place, v any) bool { … })
package jsonval
