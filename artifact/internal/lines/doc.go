// Package lines finds where lines start in a file of any size, with memory that grows by eight bytes for each
// 256 KiB of the part that was looked at.
//
// # Guarantees
//
//   - Nothing is read until a question needs it, and no further than it needs.
//   - A line ends after a '\n' byte or at the end of the file; nothing else is a line end, so '\r' and NUL are
//     ordinary bytes. An empty file has no lines. A last line without '\n' counts.
//   - Lines count from 0.
//
// # Does not guarantee
//
//   - A right answer for a file that changes meanwhile: the caller notices that and makes a new [Index].
//
// # Example
//
//	x := lines.New(file, size)
//	off, ok, err := x.Offset(ctx, 1_000_000)
package lines
