package frame_test

import (
	"errors"
	"iter"
	"reflect"
	"testing"

	"github.com/sandboxctl/sandboxctl/tools/frame"
)

type step struct {
	frame frame.Frame[string]
	err   error
}

func sequence(steps ...step) iter.Seq2[frame.Frame[string], error] {
	return func(yield func(frame.Frame[string], error) bool) {
		for _, s := range steps {
			if !yield(s.frame, s.err) {
				return
			}
		}
	}
}

func TestEach(t *testing.T) {
	broke := errors.New("broke")
	item := func(s string) step { return step{frame: frame.Of(s)} }
	end := func(b frame.Bound) step { return step{frame: frame.End[string](b)} }
	odd := func(d frame.Done) step { return step{frame: frame.Frame[string]{Done: &d}} }
	for name, c := range map[string]struct {
		steps []step
		items []string
		done  frame.Done
		err   error
	}{
		"complete":            {steps: []step{item("a"), item("b"), end("")}, items: []string{"a", "b"}, done: frame.Done{Complete: true}},
		"empty":               {steps: []step{end("")}, done: frame.Done{Complete: true}},
		"by depth":            {steps: []step{item("a"), end(frame.MaxDepth)}, items: []string{"a"}, done: frame.Done{Bound: frame.MaxDepth}},
		"by limit":            {steps: []step{end(frame.Limit)}, done: frame.Done{Bound: frame.Limit}},
		"no done":             {steps: []step{item("a")}, items: []string{"a"}, err: frame.ErrNoDone},
		"nothing":             {err: frame.ErrNoDone},
		"item after done":     {steps: []step{end(""), item("a")}, err: frame.ErrAfter},
		"two dones":           {steps: []step{end(""), end("")}, err: frame.ErrAfter},
		"broken":              {steps: []step{item("a"), {err: broke}, end("")}, items: []string{"a"}, err: broke},
		"broken after done":   {steps: []step{end(""), {err: broke}}, err: broke},
		"done of no shape":    {steps: []step{odd(frame.Done{})}, err: frame.ErrBadDone},
		"complete and bound":  {steps: []step{odd(frame.Done{Complete: true, Bound: frame.Limit})}, err: frame.ErrBadDone},
		"bound by other name": {steps: []step{odd(frame.Done{Bound: "time"})}, err: frame.ErrBadDone},
	} {
		var items []string
		done, err := frame.Each(sequence(c.steps...), func(s string) error { items = append(items, s); return nil })
		if !errors.Is(err, c.err) || done != c.done || !reflect.DeepEqual(items, c.items) {
			t.Errorf("%s: got %v, %+v, %v", name, items, done, err)
		}
	}
}

func TestEachStopsTheProducer(t *testing.T) {
	stop := errors.New("stop")
	made := 0
	endless := func(yield func(frame.Frame[string], error) bool) {
		for yield(frame.Of("x"), nil) {
			made++
		}
	}
	_, err := frame.Each(endless, func(string) error {
		if made == 3 {
			return stop
		}
		return nil
	})
	if err != stop || made != 3 {
		t.Errorf("made %d, %v", made, err)
	}
}
