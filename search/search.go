package search

import (
	"context"
	"iter"

	"github.com/sandboxctl/sandboxctl/tools/frame"
)

// Search looks through the files of one workspace. Implementations must be safe for concurrent use.
//
// A sequence does nothing until it is ranged over, and each range is a search of its own. It is made of item frames and
// exactly one done frame, in the shapes that [frame.Done] allows: complete, or bounded by maxDepth or by limit. A
// sequence that ends without a done frame, or with an error, was not finished. Errors are *outcome.Error. When the
// consumer stops early, or ctx ends, whatever the search started is gone before the range statement ends; after the end
// of ctx no further frame comes, only the error.
//
// Without a limit every result is delivered, and without a depth every level is searched: an implementation that cannot do
// that refuses the call. The order of files is not defined; the lines of one file come together and in order.
type Search interface {
	// SearchContent gives the lines that a pattern matches.
	SearchContent(ctx context.Context, q ContentQuery) iter.Seq2[frame.Frame[Match], error]
	// FindPaths gives the files whose path a glob matches, as paths relative to the workspace root, slash-separated.
	FindPaths(ctx context.Context, q PathQuery) iter.Seq2[frame.Frame[string], error]
	// SupportsFollow says that links below the searched directory can be followed and that what they lead to has been
	// shown to stay within the policy. Where it is false, Follow is refused.
	SupportsFollow() bool
}

// Match is one line that a pattern matches, in one or more places.
type Match struct {
	Path string // relative to the workspace root, slash-separated; any bytes but NUL
	Line int64  // from 1, as editors and ripgrep count
	// Text is the line without its line feed, byte for byte. Of a line longer than MaxText it is the beginning or, when the
	// first match lies beyond that, the beginning of the match.
	Text []byte
	// TextStart is where in the line Text begins, in bytes.
	TextStart int64
	// Cut says that Text is not the whole line.
	Cut   bool
	Spans []Span // of the matches within the line; the first MaxSpans
}

// Span is a part of a line, in bytes from its beginning; End is exclusive.
type Span struct{ Start, End int64 }

// Bounds of one Match.
const (
	MaxText  = 64 << 10 // bytes
	MaxSpans = 64
)

// Report says what a search left out although it was asked for. It is complete when the done frame comes.
type Report struct {
	// Withheld counts the entries that may not be read, each file and each directory as one. An entry that was only looked
	// at because a glob named it is not counted: a closed entry must read like a missing one.
	Withheld int64
	// Failed counts the entries that the operating system could not read for another reason.
	Failed int64
}
