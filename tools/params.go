package tools

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sandboxctl/sandboxctl/tools/internal/strictjson"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// paramKind is a set of JSON types.
type paramKind uint8

const (
	aString paramKind = 1 << iota
	anInteger
	aBoolean
	anObject
)

func (k paramKind) String() string {
	var names []string
	for i, name := range []string{"string", "integer", "boolean", "object"} {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// param is one argument of a tool. The schema that is advertised and the check that is made come from the same table.
type param struct {
	name     string
	kind     paramKind
	required bool
	doc      string
	min      int64    // of an integer
	nonEmpty bool     // a string must not be ""
	enum     []string // the strings that are taken; nil means all
	fields   []param  // of an object
}

// schemaOf gives the JSON Schema (2020-12) of an object with these members and no other.
func schemaOf(params []param) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range params {
		properties[p.name] = p.schema()
		if p.required {
			required = append(required, p.name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func (p param) schema() map[string]any {
	var kinds []any
	for k := aString; k <= anObject; k <<= 1 {
		if p.kind&k == 0 {
			continue
		}
		s := map[string]any{"type": k.String()}
		switch k {
		case aString:
			if p.nonEmpty {
				s["minLength"] = 1
			}
			if p.enum != nil {
				s["enum"] = p.enum
			}
		case anInteger:
			s["minimum"] = p.min
		case anObject:
			s = schemaOf(p.fields)
		}
		kinds = append(kinds, s)
	}
	s := map[string]any{}
	if len(kinds) == 1 {
		s = kinds[0].(map[string]any)
	} else {
		s["anyOf"] = kinds
	}
	if p.doc != "" {
		s["description"] = p.doc
	}
	return s
}

// decode checks arguments and fills in to, a pointer to a struct whose JSON names are those of params. The error is an
// *outcome.Error of the outcome InvalidArguments, made of constants and of the model's own words.
func decode(tool string, raw json.RawMessage, params []param, to any) error {
	plain, err := object(raw, params)
	if err != nil {
		e := outcome.New(outcome.InvalidArguments, tool, err)
		e.Detail = outcome.Plain("What is wrong: " + err.Error() + ".")
		return e
	}
	if err := json.Unmarshal(plain, to); err != nil {
		return outcome.New(outcome.InvalidArguments, tool, err)
	}
	return nil
}

// object checks one object and gives it back with its integers written as such (1.0 as 1).
func object(raw json.RawMessage, params []param) (json.RawMessage, error) {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
	}
	fields, err := strictjson.Object(raw, names...)
	if err != nil {
		return nil, err
	}
	for _, p := range params {
		value, given := fields[p.name]
		if !given {
			if p.required {
				return nil, errors.New(p.name + " is missing")
			}
			continue
		}
		if fields[p.name], err = p.check(value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields)
}

func (p param) check(value json.RawMessage) (json.RawMessage, error) {
	kind := kindOfJSON(value)
	if kind&p.kind == 0 {
		return nil, errors.New(p.name + " must be of the type " + p.kind.String())
	}
	switch kind {
	case aString:
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, errors.New(p.name + " is not a string")
		}
		if p.nonEmpty && s == "" {
			return nil, errors.New(p.name + " must not be empty")
		}
		if p.enum != nil && !slices.Contains(p.enum, s) {
			return nil, errors.New(p.name + " must be one of " + strings.Join(p.enum, ", "))
		}
	case anInteger:
		n, ok := integer(string(value))
		if !ok || n < p.min {
			return nil, errors.New(p.name + " must be a whole number of at least " + strconv.FormatInt(p.min, 10))
		}
		return json.RawMessage(strconv.FormatInt(n, 10)), nil
	case anObject:
		inner, err := object(value, p.fields)
		if err != nil {
			return nil, errors.New("in " + p.name + ": " + err.Error())
		}
		return inner, nil
	}
	return value, nil
}

// kindOfJSON tells the type of a JSON value by its first byte; 0 for null and arrays.
func kindOfJSON(value json.RawMessage) paramKind {
	switch c := value[0]; {
	case c == '"':
		return aString
	case c == '{':
		return anObject
	case c == 't', c == 'f':
		return aBoolean
	case c == '-', '0' <= c && c <= '9':
		return anInteger
	}
	return 0
}

// integer reads a JSON number that is whole, as 3, 3.0 or 3e2. Beyond 2^53 a float does not tell whole numbers apart.
func integer(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}
