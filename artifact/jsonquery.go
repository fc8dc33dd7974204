package artifact

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/sandboxctl/sandboxctl/artifact/internal/jsonval"
)

// JSONTypeArgs are the arguments of artifact_json_type.
type JSONTypeArgs struct {
	Path string `json:"path" jsonschema_description:"JSONPath (RFC 9535) of the value. Default $, the whole document."`
}

// JSONKeysArgs are the arguments of artifact_json_keys.
type JSONKeysArgs struct {
	Path string `json:"path" jsonschema_description:"JSONPath (RFC 9535) of the object. Default $, the whole document."`
}

// JSONLengthArgs are the arguments of artifact_json_length.
type JSONLengthArgs struct {
	Path string `json:"path" jsonschema_description:"JSONPath (RFC 9535) of the value. Default $, the whole document."`
}

// JSONGetArgs are the arguments of artifact_json_get.
type JSONGetArgs struct {
	Path       string `json:"path" jsonschema:"required" jsonschema_description:"JSONPath (RFC 9535), as $.user.name, $..id or $.items[?@.price < 10]."`
	Start      *int64 `json:"start" jsonschema:"minimum=0" jsonschema_description:"First match to show, from 0. Default 0."`
	MaxResults *int64 `json:"maxResults" jsonschema:"minimum=1" jsonschema_description:"The most matches to show. Default: as many as fit."`
}

// JSONFilterArgs are the arguments of artifact_json_filter.
type JSONFilterArgs struct {
	Path       string `json:"path" jsonschema:"required" jsonschema_description:"$[?expr], where @ is a record, as $[?@.age > 18]; or a JSONPath that has to select something in the record, which is $."`
	Start      *int64 `json:"start" jsonschema:"minimum=0" jsonschema_description:"First match to show, from 0. Default 0."`
	MaxResults *int64 `json:"maxResults" jsonschema:"minimum=1" jsonschema_description:"The most records to show. Default: as many as fit."`
}

// JSONPluckArgs are the arguments of artifact_json_pluck.
type JSONPluckArgs struct {
	Path       string `json:"path" jsonschema:"required" jsonschema_description:"JSONPath (RFC 9535) in each record, which is $, as $.name."`
	Start      *int64 `json:"start" jsonschema:"minimum=0" jsonschema_description:"First match to show, from 0. Default 0."`
	MaxResults *int64 `json:"maxResults" jsonschema:"minimum=1" jsonschema_description:"The most matches to show. Default: as many as fit."`
}

// JSONSliceArgs are the arguments of artifact_json_slice.
type JSONSliceArgs struct {
	Start *int64 `json:"start" jsonschema:"minimum=0" jsonschema_description:"First record, from 0. Default 0."`
	End   *int64 `json:"end" jsonschema:"minimum=0" jsonschema_description:"Record after the last. Default: all."`
	Path  string `json:"path" jsonschema_description:"JSONPath (RFC 9535) of the array. Default $. Not for jsonl and ndjson."`
}

// onDoc is the frame of the JSON queries.
func (a *Artifact) onDoc(ctx context.Context, path string, query func(*view, *output, *jsonDoc, *jsonval.Path) error) (Result, error) {
	if path == "" {
		path = "$"
	}
	p, err := jsonval.ParsePath(path)
	if err != nil {
		return Result{}, &ArgumentError{Argument: "path", Reason: err.Error()}
	}
	return a.run(ctx, func(v *view, out *output) error {
		d, err := v.jsonDoc(ctx)
		if err != nil {
			return err
		}
		if d.note != "" {
			out.note("%s", d.note)
		}
		err = query(v, out, d, p)
		if errors.Is(err, jsonval.ErrTooManyNodes) {
			return &ArgumentError{Argument: "path", Reason: err.Error()}
		}
		return err
	})
}

// the returns the one value that a path selects in a document.
func (d *jsonDoc) the(ctx context.Context, p *jsonval.Path, path string) (any, error) {
	if d.lines {
		return nil, &ArgumentError{Argument: "path", Reason: fmt.Sprintf("a %s artifact has no single value to look in; use artifact_json_get", d.format)}
	}
	if !p.Singular() {
		return nil, &ArgumentError{Argument: "path", Reason: "it can select several values; a path to one value is needed, without wildcards, slices, filters and '..'"}
	}
	var found any
	ok := false
	err := p.Select(ctx, d.root, func(_ *jsonval.Place, v any) bool {
		found, ok = v, true
		return false
	})
	if err == nil && !ok {
		err = &ArgumentError{Argument: "path", Reason: fmt.Sprintf("%.200s selects nothing", path)}
	}
	return found, err
}

// JSONType returns {"format": …, "type": …}: the dialect, and the type of the root or of the value at a path.
// JSON Lines have the type "records".
func (a *Artifact) JSONType(ctx context.Context, args JSONTypeArgs) (Result, error) {
	return a.onDoc(ctx, args.Path, func(_ *view, out *output, d *jsonDoc, p *jsonval.Path) error {
		name := "records"
		if !d.lines || args.Path != "" {
			v, err := d.the(ctx, p, args.Path)
			if err != nil {
				return err
			}
			name = jsonval.Type(v)
		}
		out.str(fmt.Sprintf(`{"format":%q,"type":%q}`, d.format, name))
		return nil
	})
}

// JSONKeys returns the names of an object's members in document order, one JSON string a line; of JSON Lines those
// of all records, each once.
func (a *Artifact) JSONKeys(ctx context.Context, args JSONKeysArgs) (Result, error) {
	return a.onDoc(ctx, args.Path, func(v *view, out *output, d *jsonDoc, p *jsonval.Path) error {
		keys := keyList{out: out}
		if d.lines && args.Path == "" {
			return keys.ofRecords(ctx, v, d)
		}
		val, err := d.the(ctx, p, args.Path)
		if err != nil {
			return err
		}
		o, ok := val.(*jsonval.Object)
		if !ok {
			return &ArgumentError{Argument: "path", Reason: "only an object has keys; here is " + describe(val)}
		}
		for _, k := range o.Keys {
			if !keys.add(k) {
				out.note("cut after %d of %d keys", keys.n, len(o.Keys))
				break
			}
		}
		return nil
	})
}

// keyList writes keys until they no longer fit.
type keyList struct {
	out *output
	n   int
}

func (l *keyList) add(key string) bool {
	if !l.out.whole(jsonval.Quote(key) + "\n") {
		l.out.cut = true
		return false
	}
	l.n++
	return true
}

func (l *keyList) ofRecords(ctx context.Context, v *view, d *jsonDoc) error {
	seen := make(map[string]bool) // bounded by the result, which holds every key in it
	var bad badRecords
	err := v.eachRecord(ctx, func(r record) bool {
		val, ok := bad.decode(r)
		o, isObject := val.(*jsonval.Object)
		if !ok || !isObject {
			return true
		}
		for _, k := range o.Keys {
			if seen[k] {
				continue
			}
			if !l.add(k) {
				l.out.note("cut after %d keys; records after %d were not looked at", l.n, r.index)
				return false
			}
			seen[k] = true
		}
		return true
	})
	if err != nil {
		return err
	}
	return bad.report(l.out, d.format)
}

// JSONLength returns the number of elements, members or characters; of JSON Lines the number of records.
func (a *Artifact) JSONLength(ctx context.Context, args JSONLengthArgs) (Result, error) {
	return a.onDoc(ctx, args.Path, func(v *view, out *output, d *jsonDoc, p *jsonval.Path) error {
		if d.lines && args.Path == "" {
			n := int64(0)
			if err := v.eachRecord(ctx, func(record) bool { n++; return true }); err != nil {
				return err
			}
			out.str(strconv.FormatInt(n, 10))
			return nil
		}
		val, err := d.the(ctx, p, args.Path)
		if err != nil {
			return err
		}
		out.str(strconv.Itoa(length(val)))
		return nil
	})
}

func length(v any) int {
	switch v := v.(type) {
	case *jsonval.Array:
		return len(v.Elems)
	case *jsonval.Object:
		return len(v.Keys)
	case string:
		return len([]rune(v))
	}
	return 1
}

// describe says in a few words what a value is.
func describe(v any) string {
	switch v := v.(type) {
	case *jsonval.Array:
		return fmt.Sprintf("an array of %d elements", len(v.Elems))
	case *jsonval.Object:
		return fmt.Sprintf("an object of %d members", len(v.Keys))
	case string:
		return fmt.Sprintf("a string of %d bytes", len(v))
	case nil:
		return "null"
	}
	return "a " + jsonval.Type(v)
}
