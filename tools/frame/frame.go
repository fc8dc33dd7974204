package frame

import (
	"errors"
	"iter"
)

// Bound says what cut a sequence short. The zero value is none.
type Bound string

// The bounds that a caller can name.
const (
	MaxDepth Bound = "maxDepth" // max_depth: something lies deeper
	Limit    Bound = "limit"    // limit: there are more results
)

// Done is the last frame. Complete and a Bound exclude each other.
type Done struct {
	Complete bool
	Bound    Bound
}

// Valid reports whether d is one of the three shapes a done frame has.
func (d Done) Valid() bool {
	if d.Complete {
		return d.Bound == ""
	}
	return d.Bound == MaxDepth || d.Bound == Limit
}

// Frame is an item, or the done frame when Done is set; Item is then the zero value.
type Frame[T any] struct {
	Item T
	Done *Done
}

// Of makes the frame of an item.
func Of[T any](item T) Frame[T] { return Frame[T]{Item: item} }

// End makes the done frame. bound is "" for a complete sequence.
func End[T any](bound Bound) Frame[T] {
	return Frame[T]{Done: &Done{Complete: bound == "", Bound: bound}}
}

// What a producer can do wrong.
var (
	ErrNoDone  = errors.New("the sequence broke off without a done frame")
	ErrBadDone = errors.New("the done frame is neither complete nor bounded by maxDepth or limit")
	ErrAfter   = errors.New("the sequence went on after its done frame")
)

// Each calls each for every item and returns the done frame. It returns the first error of the sequence, of each, or
// one of ErrNoDone, ErrBadDone, ErrAfter; the Done is then the zero value.
func Each[T any](frames iter.Seq2[Frame[T], error], each func(T) error) (Done, error) {
	var done *Done
	for f, err := range frames {
		switch {
		case err != nil:
			return Done{}, err
		case done != nil:
			return Done{}, ErrAfter
		case f.Done != nil && !f.Done.Valid():
			return Done{}, ErrBadDone
		case f.Done != nil:
			done = f.Done
			continue
		}
		if err := each(f.Item); err != nil {
			return Done{}, err
		}
	}
	if done == nil {
		return Done{}, ErrNoDone
	}
	return *done, nil
}
