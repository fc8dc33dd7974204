package search

import (
	"context"
	"errors"

	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// emit hands one item on. It returns false when no more are wanted.
type emit[T any] func(T) bool

// produce makes the frames of a search: the items that find emits, as far as limit lets them, and exactly one done frame,
// or an error. find returns the bound that cut it; after a false emit what it returns is not used.
func produce[T any](ctx context.Context, asked string, limit *int, yield func(frame.Frame[T], error) bool, find func(emit[T]) (frame.Bound, error)) {
	var count int
	var stopped, over bool
	bound, err := find(func(item T) bool {
		switch {
		case stopped || over || ctx.Err() != nil:
			return false
		case limit != nil && count == *limit:
			over = true
			return false
		}
		count++
		stopped = !yield(frame.Of(item), nil)
		return !stopped
	})
	if stopped {
		return
	}
	if ctx.Err() != nil {
		err = ended(ctx, asked)
	} else if over {
		bound, err = frame.Limit, nil
	}
	if err != nil {
		yield(frame.Frame[T]{}, outcome.Of(err, asked))
		return
	}
	yield(frame.End[T](bound), nil)
}

// ended words the end of a context.
func ended(ctx context.Context, asked string) error {
	cause := context.Cause(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return outcome.New(outcome.TimedOut, asked, cause)
	}
	return outcome.New(outcome.Aborted, asked, cause)
}
