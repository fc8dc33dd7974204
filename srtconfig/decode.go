package srtconfig

import (
	"bytes"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// decoder fills Go values from a syntax tree and remembers where each of them was written. It goes on after an error,
// so that a user sees all of them at once.
type decoder struct {
	file       string
	text       []byte
	lineStarts []int
	places     map[string]Source
	errs       []*SettingsError
	dropped    int // errors beyond maxErrors
}

// maxErrors is what a user can read; a file of nothing but mistakes would take the square of its length otherwise.
const maxErrors = 100

func newDecoder(file string, text []byte) *decoder {
	d := &decoder{file: file, text: text, lineStarts: []int{0}, places: map[string]Source{}}
	for i, c := range text {
		if c == '\n' {
			d.lineStarts = append(d.lineStarts, i+1)
		}
	}
	return d
}

func (d *decoder) sourceAt(offset int, pointer, text string) Source {
	line := sort.SearchInts(d.lineStarts, offset+1)
	return Source{File: d.file, Pointer: pointer, Line: line, Column: offset - d.lineStarts[line-1] + 1, Text: text}
}

func (d *decoder) fail(v hujson.Value, pointer, format string, args ...any) {
	d.report(d.sourceAt(v.StartOffset, pointer, ""), format, args...)
}

func (d *decoder) report(s Source, format string, args ...any) {
	if len(d.errs) == maxErrors {
		d.dropped++
		return
	}
	d.errs = append(d.errs, errorAt(s, format, args...))
}

// failAt reports an error about a value that was decoded before.
func (d *decoder) failAt(pointer, format string, args ...any) {
	s, ok := d.places[pointer]
	if !ok {
		s = Source{File: d.file, Pointer: pointer}
	}
	d.report(s, format, args...)
}

func escapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

func kindName(v hujson.Value) string {
	switch v.Value.Kind() {
	case 'n':
		return "null"
	case 'f', 't':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "something else"
}

func (d *decoder) value(v hujson.Value, pointer string, into reflect.Value) {
	if v.Value.Kind() == 'n' {
		d.fail(v, pointer, "null has no meaning here; leave the key out")
		return
	}
	if pointer != "" {
		d.places[pointer] = d.sourceAt(v.StartOffset, pointer, d.written(v))
	}
	switch target := into.Addr().Interface().(type) {
	case *PathEntry:
		d.pathEntry(v, pointer, target)
		return
	case *TmpMode:
		var word string
		if d.scalar(v, pointer, '"', "a string") {
			word = d.str(v, pointer)
			if err := target.UnmarshalText([]byte(word)); err != nil {
				d.fail(v, pointer, "%w", err)
			}
		}
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.value(v, pointer, into.Elem())
	case reflect.Struct:
		d.object(v, pointer, into)
	case reflect.Slice:
		d.list(v, pointer, into)
	case reflect.Map:
		d.table(v, pointer, into)
	case reflect.String:
		if d.scalar(v, pointer, '"', "a string") {
			into.SetString(d.str(v, pointer))
		}
	case reflect.Bool:
		if k := v.Value.Kind(); k != 't' && k != 'f' {
			d.fail(v, pointer, "want true or false, found %s", kindName(v))
			return
		}
		into.SetBool(v.Value.Kind() == 't')
	case reflect.Int, reflect.Int64:
		d.integer(v, pointer, into)
	case reflect.Float64:
		if d.scalar(v, pointer, '0', "a number") {
			f, err := strconv.ParseFloat(string(v.Value.(hujson.Literal)), 64)
			if err != nil {
				d.fail(v, pointer, "%s is no number that fits", d.written(v))
				return
			}
			into.SetFloat(f)
		}
	default:
		panic("internal error: a settings field of kind " + into.Kind().String())
	}
}

func (d *decoder) scalar(v hujson.Value, pointer string, kind hujson.Kind, want string) bool {
	if v.Value.Kind() != kind {
		d.fail(v, pointer, "want %s, found %s", want, kindName(v))
		return false
	}
	return true
}

func (d *decoder) integer(v hujson.Value, pointer string, into reflect.Value) {
	if !d.scalar(v, pointer, '0', "a whole number") {
		return
	}
	raw := string(v.Value.(hujson.Literal))
	n, err := strconv.ParseInt(raw, 10, into.Type().Bits())
	if err != nil {
		d.fail(v, pointer, "want a whole number, found %s", raw)
		return
	}
	into.SetInt(n)
}

// written is the value as the file has it, unquoted when it is a string, for messages.
func (d *decoder) written(v hujson.Value) string {
	if lit, ok := v.Value.(hujson.Literal); ok {
		return lit.String()
	}
	if obj, ok := v.Value.(*hujson.Object); ok {
		for _, m := range obj.Members {
			if lit, ok := m.Value.Value.(hujson.Literal); ok && m.Name.Value.(hujson.Literal).String() == "path" && lit.Kind() == '"' {
				return lit.String()
			}
		}
	}
	const most = 60
	raw := d.text[v.StartOffset:min(v.EndOffset, len(d.text))]
	if len(raw) > most {
		raw = append(bytes.Clone(raw[:most]), "..."...)
	}
	return string(raw)
}

// str decodes a string. A lone surrogate would become U+FFFD, so that a path would name another file than the one meant.
func (d *decoder) str(v hujson.Value, pointer string) string {
	lit := v.Value.(hujson.Literal)
	s := lit.String()
	if strings.ContainsRune(s, utf8.RuneError) && !bytes.Contains(lit, []byte(string(utf8.RuneError))) &&
		!bytes.Contains(bytes.ToLower(lit), []byte(`\ufffd`)) {
		d.fail(v, pointer, "the string holds half of a surrogate pair")
	}
	return s
}

func (d *decoder) list(v hujson.Value, pointer string, into reflect.Value) {
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		d.fail(v, pointer, "want a list, found %s; write [%s]", kindName(v), strings.TrimSpace(string(d.text[v.StartOffset:min(v.EndOffset, v.StartOffset+40)])))
		return
	}
	out := reflect.MakeSlice(into.Type(), len(arr.Elements), len(arr.Elements))
	for i, e := range arr.Elements {
		d.value(e, pointer+"/"+strconv.Itoa(i), out.Index(i))
	}
	into.Set(out)
}

func (d *decoder) table(v hujson.Value, pointer string, into reflect.Value) {
	members := d.members(v, pointer)
	into.Set(reflect.MakeMapWithSize(into.Type(), len(members)))
	for _, m := range members {
		elem := reflect.New(into.Type().Elem()).Elem()
		d.value(m.value, m.pointer, elem)
		into.SetMapIndex(reflect.ValueOf(m.name), elem)
	}
}

func (d *decoder) object(v hujson.Value, pointer string, into reflect.Value) {
	known := fieldsOf(into.Type())
	for _, m := range d.members(v, pointer) {
		f, ok := known[m.name]
		if !ok {
			d.fail(m.key, m.pointer, "%w", unknownKey(m.name, pointer, known))
			continue
		}
		d.value(m.value, m.pointer, into.FieldByIndex(f.Index))
	}
	for name, f := range known {
		// A key without omitempty is one that srt requires inside its section.
		if _, there := d.places[pointer+"/"+name]; !there && !strings.Contains(f.Tag.Get("json"), ",omit") {
			if _, isObject := v.Value.(*hujson.Object); isObject {
				d.fail(v, pointer, "the key %q is missing", name)
			}
		}
	}
}

type member struct {
	name, pointer string
	key, value    hujson.Value
}

// members returns the members of an object, without the repeated ones, which it reports: which of two values counts
// is a matter of the parser, and a reader sees only one of them.
func (d *decoder) members(v hujson.Value, pointer string) []member {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		d.fail(v, pointer, "want an object, found %s", kindName(v))
		return nil
	}
	firsts := make(map[string]int, len(obj.Members))
	var out []member
	for _, m := range obj.Members {
		name := d.str(m.Name, pointer)
		at := pointer + "/" + escapePointer(name)
		if first, again := firsts[name]; again {
			d.fail(m.Name, at, "the key %q stands here a second time; the first is in line %d", name, d.sourceAt(first, "", "").Line)
			continue
		}
		firsts[name] = m.Name.StartOffset
		out = append(out, member{name: name, pointer: at, key: m.Name, value: m.Value})
	}
	return out
}

func (d *decoder) pathEntry(v hujson.Value, pointer string, into *PathEntry) {
	switch v.Value.Kind() {
	case '"':
		into.Path = d.str(v, pointer)
	case '{':
		type plain PathEntry // without this, the entry would decode itself
		var p plain
		d.object(v, pointer, reflect.ValueOf(&p).Elem())
		*into = PathEntry(p)
	default:
		d.fail(v, pointer, `want a path or {"path": "...", "literal": true}, found %s`, kindName(v))
	}
}

// fieldsOf maps the keys of an object to the fields of its struct, embedded ones included.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	out := make(map[string]reflect.StructField, t.NumField())
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" {
			out[name] = f
		}
	}
	return out
}

// MarshalText gives "private" or "host".
func (m TmpMode) MarshalText() ([]byte, error) {
	switch m {
	case TmpPrivate:
		return []byte("private"), nil
	case TmpHost:
		return []byte("host"), nil
	}
	return nil, fmt.Errorf("internal error: tmp mode %d", m)
}

// UnmarshalText accepts "private" and "host".
func (m *TmpMode) UnmarshalText(text []byte) error {
	switch string(text) {
	case "private":
		*m = TmpPrivate
	case "host":
		*m = TmpHost
	default:
		return fmt.Errorf(`tmp is "private" or "host", not %q`, text)
	}
	return nil
}
