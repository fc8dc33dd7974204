package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/sandboxctl/sandboxctl/tools/gate"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Tool is one tool of a [Set]. It is safe for concurrent use.
type Tool struct {
	Name        string
	Description string          // for a model; names only tools that are registered
	InputSchema json.RawMessage // JSON Schema 2020-12 of an object
	ReadOnly    bool            // it changes nothing, neither on disk nor in the session
	call        func(ctx context.Context, args json.RawMessage) (Result, error)
}

// Handler runs the tool on the arguments as they came, which may be empty for none.
//
// In this order: the handle is checked, the arguments are held against the schema, the gate is asked about those exact
// bytes and waited for, the handle is checked again, and only then is a path translated or anything opened. Every error is
// an *outcome.Error, fit for a model. Cancelling ctx ends a wait for the gate at once and other work soon; what is already
// saved stays saved.
func (t Tool) Handler(ctx context.Context, args json.RawMessage) (Result, error) {
	return t.call(ctx, args)
}

// Result is what a tool gives back: a value that marshals to a JSON object.
type Result struct {
	Data any
}

// MarshalJSON writes the data.
func (r Result) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.Data); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// definition is a tool before it has a gate.
type definition struct {
	name     string
	params   []param
	readOnly bool
	// describe words the tool, given which names are registered.
	describe func(has func(string) bool) string
	// prepare checks the arguments and gives back what runs on them.
	prepare func(raw json.RawMessage) (func(ctx context.Context) (any, error), error)
}

// define makes a definition from a function on typed arguments. A's JSON names are those of params.
func define[A any](name string, readOnly bool, params []param, describe func(has func(string) bool) string, run func(context.Context, A) (any, error)) definition {
	return definition{name: name, params: params, readOnly: readOnly, describe: describe,
		prepare: func(raw json.RawMessage) (func(context.Context) (any, error), error) {
			var args A
			if err := decode(name, raw, params, &args); err != nil {
				return nil, err
			}
			return func(ctx context.Context) (any, error) { return run(ctx, args) }, nil
		}}
}

// tool puts the handle, the gate and the narrator before and after a definition.
func (s *Set) tool(d definition) (Tool, error) {
	schema, err := json.Marshal(schemaOf(d.params))
	if err != nil {
		return Tool{}, err
	}
	return Tool{Name: d.name, Description: d.describe(s.registered), InputSchema: schema, ReadOnly: d.readOnly,
		call: func(ctx context.Context, args json.RawMessage) (Result, error) {
			if len(bytes.TrimSpace(args)) == 0 {
				args = json.RawMessage("{}")
			}
			call := gate.NewCall(d.name, args)
			data, err := s.run(ctx, d, call)
			if err != nil {
				return Result{}, s.repeats.Observe(d.name, call.Args(), s.word(ctx, d.name, err))
			}
			_ = s.repeats.Observe(d.name, nil, nil)
			return Result{Data: data}, nil
		}}, nil
}

func (s *Set) run(ctx context.Context, d definition, call gate.Call) (any, error) {
	if err := s.options.Handle.Check(s.epoch); err != nil {
		return nil, err
	}
	// Decoded from the call's own copy, which is also what the gate is shown.
	run, err := d.prepare(call.Args())
	if err != nil {
		return nil, err
	}
	if err := gate.Ask(ctx, s.options.Gate, call); err != nil {
		return nil, err
	}
	if err := s.options.Handle.Check(s.epoch); err != nil {
		return nil, err
	}
	return run(ctx)
}

// word makes sure that an error is one of ours. Whatever the work made of it, an ended context is what ended it.
func (s *Set) word(ctx context.Context, tool string, err error) error {
	e := outcome.Of(err, tool)
	if e.Outcome == outcome.IOFailure && s.options.Handle.Check(s.epoch) != nil {
		return outcome.New(outcome.SessionClosed, e.Name, err)
	}
	switch {
	case e.Outcome != outcome.IOFailure && e.Outcome != outcome.Aborted:
		return e
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return outcome.New(outcome.TimedOut, e.Name, err)
	case ctx.Err() != nil:
		return outcome.New(outcome.Aborted, e.Name, err)
	}
	return e
}

// named gives an error of a file system the name that the model asked for.
func named(err error, asked string) error {
	if err == nil {
		return nil
	}
	e := *outcome.Of(err, asked)
	if e.Outcome != outcome.InvalidArguments { // which is about the tool
		e.Name = asked
	}
	return &e
}
