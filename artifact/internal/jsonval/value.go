package jsonval

import (
	"encoding/json"
)

// Object is a JSON object. It must not be changed after decoding.
type Object struct {
	Keys []string // in document order; the place of a repeated key is its first, its value the last
	Vals []any    // as long as Keys
}

// Get returns the value of a member.
func (o *Object) Get(key string) (any, bool) {
	for i, k := range o.Keys {
		if k == key {
			return o.Vals[i], true
		}
	}
	return nil, false
}

// Array is a JSON array. It must not be changed after decoding.
type Array struct {
	Elems []any
}

// Type returns the JSON name of a value's type: null, boolean, string, number, array or object.
func Type(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number, float64:
		return "number"
	case *Array:
		return "array"
	default:
		return "object"
	}
}
