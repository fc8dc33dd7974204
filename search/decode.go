package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// DecodeContent reads the arguments of search_files: pattern, path, limit, max_depth, ignore_case, literal, glob, iglob,
// hidden, no_ignore and follow. Names are compared exactly; an unknown one, one given twice, a null and a value of another
// type are refused. A number may be written 5 or 5.0; one with a fraction, or one that is no number of JSON as NaN, is
// refused. supportsFollow is what the Search declares. The error is an *outcome.Error.
func DecodeContent(raw []byte, supportsFollow bool) (ContentQuery, error) {
	var q ContentQuery
	fields := q.Scope.fields()
	fields["pattern"] = text(&q.Pattern)
	fields["glob"] = text(&q.Glob)
	fields["ignore_case"] = flag(&q.IgnoreCase)
	fields["literal"] = flag(&q.Literal)
	if err := decode(contentTool, raw, fields, "pattern"); err != nil {
		return ContentQuery{}, err
	}
	return q, q.Validate(supportsFollow)
}

// DecodePaths reads the arguments of find_files: glob, path, limit, max_depth, iglob, hidden, no_ignore and follow; see
// [DecodeContent]. ignore_case and literal are unknown here, as they would do nothing.
func DecodePaths(raw []byte, supportsFollow bool) (PathQuery, error) {
	var q PathQuery
	fields := q.Scope.fields()
	fields["glob"] = text(&q.Glob)
	if err := decode(pathTool, raw, fields, "glob"); err != nil {
		return PathQuery{}, err
	}
	return q, q.Validate(supportsFollow)
}

// field reads one value; the words of its error follow the name of the argument.
type field func(json.RawMessage) error

func (s *Scope) fields() map[string]field {
	return map[string]field{
		"path":      text(&s.Path),
		"iglob":     text(&s.IGlob),
		"limit":     integer(&s.Limit),
		"max_depth": integer(&s.MaxDepth),
		"hidden":    flag(&s.Hidden),
		"no_ignore": flag(&s.NoIgnore),
		"follow":    flag(&s.Follow),
	}
}

func text(to *string) field {
	return func(raw json.RawMessage) error {
		if raw[0] != '"' {
			return errors.New("must be a string")
		}
		return json.Unmarshal(raw, to)
	}
}

func flag(to *bool) field {
	return func(raw json.RawMessage) error {
		if raw[0] != 't' && raw[0] != 'f' {
			return errors.New("must be true or false")
		}
		return json.Unmarshal(raw, to)
	}
}

func integer(to **int) field {
	errNot := errors.New("must be an integer of at least 1")
	return func(raw json.RawMessage) error {
		var f float64
		if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') || json.Unmarshal(raw, &f) != nil {
			return errNot
		}
		// Beyond 2^53 a float64 does not tell one integer from the next; no search has that many results.
		if f != math.Trunc(f) || f < 1 || f > 1<<53 {
			return errNot
		}
		*to = new(int(f))
		return nil
	}
}

// decode walks the tokens itself: encoding/json takes Pattern for pattern, and the last of two.
func decode(tool string, raw []byte, fields map[string]field, required string) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	malformed := func(err error) error {
		e := outcome.New(outcome.InvalidArguments, tool, err)
		e.Detail = "The arguments are not one JSON object."
		return e
	}
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return malformed(err)
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return malformed(err)
		}
		name := key.(string) // the decoder gives nothing else for a key
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return malformed(err)
		}
		read, known := fields[name]
		switch {
		case !known:
			return invalid(tool, outcome.Quoted("There is no argument ", name, "."))
		case seen[name]:
			return invalid(tool, outcome.Quoted("The argument ", name, " is given twice."))
		}
		seen[name] = true
		if err := read(value); err != nil {
			return invalid(tool, outcome.Plain(name+" "+err.Error()+"."))
		}
	}
	if _, err := d.Token(); err != nil {
		return malformed(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return malformed(err)
	}
	if !seen[required] {
		return invalid(tool, outcome.Plain(required+" is missing."))
	}
	return nil
}
