package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// arguments are decoded JSON arguments by name, callId excluded.
type arguments map[string]json.RawMessage

// callIDSchema is read only.
var callIDSchema = map[string]any{"type": "string", "description": "The callId of an earlier result: which artifact to look at."}

// rule is what the tags of one field of an argument struct say.
type rule struct {
	name        string
	description string
	integer     bool
	required    bool
	minimum     *int64
	maximum     *int64
	enum        []string
	pattern     string
}

// rulesOf reads the tags of an argument struct.
func rulesOf(args any) []rule {
	t := reflect.TypeOf(args)
	var out []rule
	for i := range t.NumField() {
		f := t.Field(i)
		typ := f.Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		r := rule{name: f.Tag.Get("json"), description: f.Tag.Get("jsonschema_description"), integer: typ.Kind() == reflect.Int64}
		for _, part := range strings.Split(f.Tag.Get("jsonschema"), ",") {
			key, value, _ := strings.Cut(part, "=")
			switch key {
			case "required":
				r.required = true
			case "minimum", "maximum":
				n, err := strconv.ParseInt(value, 10, 64)
				if err != nil {
					panic(fmt.Sprintf("internal error: tag of %s.%s: %v", t, f.Name, err))
				}
				if key == "minimum" {
					r.minimum = &n
				} else {
					r.maximum = &n
				}
			case "enum":
				r.enum = append(r.enum, value)
			case "pattern":
				r.pattern = value
			}
		}
		out = append(out, r)
	}
	return out
}

// schemaOf returns the JSON Schema of an argument struct with callId.
func schemaOf(args any) json.RawMessage {
	properties := map[string]any{"callId": callIDSchema}
	required := []string{"callId"}
	for _, r := range rulesOf(args) {
		p := map[string]any{"type": "string", "description": r.description}
		if r.integer {
			p["type"] = "integer"
		}
		if r.minimum != nil {
			p["minimum"] = *r.minimum
		}
		if r.maximum != nil {
			p["maximum"] = *r.maximum
		}
		if r.enum != nil {
			p["enum"] = r.enum
		}
		if r.pattern != "" {
			p["pattern"] = r.pattern
		}
		if r.required {
			required = append(required, r.name)
		}
		properties[r.name] = p
	}
	b, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return b
}

// parseArguments checks the arguments of a query by name, presence and range, and takes out the call id. Names are
// exact, unlike those of encoding/json.
func parseArguments(q Query, raw json.RawMessage) (arguments, string, error) {
	args := arguments{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, "", &ArgumentError{Argument: "arguments", Reason: "not a JSON object"}
		}
	}
	rules := rulesOf(q.Args)
	names := []string{"callId"}
	for _, r := range rules {
		names = append(names, r.name)
	}
	for name, value := range args {
		if !slices.Contains(names, name) {
			return nil, "", &ArgumentError{Argument: name, Reason: fmt.Sprintf("unknown; %s takes %s", q.Name, strings.Join(names, ", "))}
		}
		if string(value) == "null" { // as if it were not there
			delete(args, name)
		}
	}
	var callID string
	if err := args.one(rule{name: "callId", required: true}, &callID); err != nil {
		return nil, "", err
	}
	delete(args, "callId")
	for _, r := range rules {
		if err := args.check(r); err != nil {
			return nil, "", err
		}
	}
	return args, callID, nil
}

func (a arguments) one(r rule, v any) error {
	raw, ok := a[r.name]
	if !ok {
		if r.required {
			return &ArgumentError{Argument: r.name, Reason: "required"}
		}
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		want := "a string"
		if r.integer {
			want = "an integer"
		}
		return &ArgumentError{Argument: r.name, Reason: fmt.Sprintf("%.80s is not %s", raw, want)}
	}
	return nil
}

func (a arguments) check(r rule) error {
	if r.integer {
		var n *int64
		if err := a.one(r, &n); err != nil || n == nil {
			return err
		}
		switch {
		case r.minimum != nil && *n < *r.minimum:
			return &ArgumentError{Argument: r.name, Reason: fmt.Sprintf("%d is less than %d", *n, *r.minimum)}
		case r.maximum != nil && *n > *r.maximum:
			return &ArgumentError{Argument: r.name, Reason: fmt.Sprintf("%d is more than %d", *n, *r.maximum)}
		}
		return nil
	}
	var s *string
	if err := a.one(r, &s); err != nil || s == nil {
		return err
	}
	if r.enum != nil && !slices.Contains(r.enum, *s) {
		return &ArgumentError{Argument: r.name, Reason: fmt.Sprintf("%.80q is none of %s", *s, strings.Join(r.enum, ", "))}
	}
	if r.pattern != "" && !regexp.MustCompile(r.pattern).MatchString(*s) {
		return &ArgumentError{Argument: r.name, Reason: fmt.Sprintf("%.80q does not match %s", *s, r.pattern)}
	}
	return nil
}

// decode fills an argument struct with arguments that were checked.
func (a arguments) decode(v any) error {
	target := reflect.ValueOf(v).Elem()
	for i, r := range rulesOf(target.Interface()) {
		if raw, ok := a[r.name]; ok {
			if err := json.Unmarshal(raw, target.Field(i).Addr().Interface()); err != nil {
				return &ArgumentError{Argument: r.name, Reason: "cannot be used"}
			}
		}
	}
	return nil
}
