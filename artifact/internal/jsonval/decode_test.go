package jsonval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/titanous/json5"
	"pgregory.net/rapid"
)

// plainOf is a value as encoding/json gives it with UseNumber.
func plainOf(v any) any {
	switch v := v.(type) {
	case *Array:
		out := make([]any, len(v.Elems))
		for i, e := range v.Elems {
			out[i] = plainOf(e)
		}
		return out
	case *Object:
		out := make(map[string]any, len(v.Keys))
		for i, k := range v.Keys {
			out[k] = plainOf(v.Vals[i])
		}
		return out
	}
	return v
}

func TestJSON5ByHand(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{a:1,'b':2,"c":3,}`, `{"a":1,"b":2,"c":3}`},
		{`[1,2,]`, `[1,2]`},
		{"// x\n{/* y */ a: 0x1F, b: +5, c: .5, d: 5., e: -Infinity, f: NaN, g: -.5e3}", `{"a":31,"b":5,"c":0.5,"d":5,"e":-Infinity,"f":NaN,"g":-0.5e3}`},
		{`'it\'s "q"'`, `"it's \"q\""`},
		{"'a\\\nb\\\r\nc\\\u2028d'", `"abcd"`},
		{`{\u0061b:1}`, `{"ab":1}`},
		{`{ünï:1,$x:2,_y3:3,a\u200db:4}`, "{\"ünï\":1,\"$x\":2,\"_y3\":3,\"a\u200db\":4}"},
		{`"\x41\v\0\q"`, `"A\u000b\u0000q"`},
		{`0x123456789abcdef0123456789`, `90144042682896311822508713865`},
		{`-0x10`, `-16`},
		{`"\ud83d\ude00\ud800x"`, "\"😀\ufffdx\""},
		{`{Infinity:1,null:2,true:3,while:4,NaN:5}`, `{"Infinity":1,"null":2,"true":3,"while":4,"NaN":5}`},
		{"\ufeff\u00a0[1]\u2028//x", `[1]`},
		{`+NaN`, `NaN`},
		{`-0`, `-0`}, {`1E5`, `1E5`}, {`1.e5`, `1e5`},
		{"\"a\tb\"", `"a\tb"`},
		{`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{`123456789012345678901234567890.10`, `123456789012345678901234567890.10`},
	} {
		v, err := Decode(c.text, JSON5)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := Format(v, ""); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestErrorsTellThePlace(t *testing.T) {
	for _, c := range []struct {
		text         string
		dialect      Dialect
		line, column int
		says         string
	}{
		{"", Strict, 0, 0, "ends where a value"},
		{"{\n  \"a\": 1\n  \"b\": 2\n}", Strict, 2, 2, `',' or '}'`},
		{"{\n  a: 1\n}", Strict, 1, 2, "double quotes"},
		{"[1,]", Strict, 0, 3, "a value"},
		{"[01]", Strict, 0, 1, "leading zero"},
		{"{} x", Strict, 0, 3, "end of the text"},
		{"\"a\nb\"", Strict, 0, 2, "control character"},
		{`"abc`, Strict, 0, 0, "no end"},
		{`["\q"]`, Strict, 0, 3, "escape"},
		{`["\u12"]`, Strict, 0, 3, "four hexadecimal"},
		{"[nul]", Strict, 0, 1, "value"},
		{"[\xff]", Strict, 0, 1, "0xff"},
		{"/* x", JSON5, 0, 0, "no end"},
		{"{a-b:1}", JSON5, 0, 2, "':'"},
		{"{1a:1}", JSON5, 0, 1, "a name"},
		{"[,]", JSON5, 0, 1, "a value"},
		{"{,}", JSON5, 0, 1, "a name"},
		{"[.]", JSON5, 0, 2, "a digit"},
		{"[0x]", JSON5, 0, 3, "hexadecimal"},
		{"[1a]", JSON5, 0, 1, "after it"},
		{`"\01"`, JSON5, 0, 2, `\0`},
		{`"\1"`, JSON5, 0, 2, "escape"},
		{strings.Repeat("[", MaxDepth+1), JSON5, 0, MaxDepth, "nested deeper"},
		{strings.Repeat("[", 1<<20), Strict, 0, MaxDepth, "nested deeper"},
	} {
		_, err := Decode(c.text, c.dialect)
		var se *SyntaxError
		if !errors.As(err, &se) || se.Line != c.line || se.Column != c.column || !strings.Contains(se.Msg, c.says) {
			t.Errorf("%.30q: %v; want line %d, column %d, %q", c.text, err, c.line, c.column, c.says)
		}
	}
	if _, err := Decode(strings.Repeat("[", MaxDepth)+strings.Repeat("]", MaxDepth), Strict); err != nil {
		t.Errorf("nesting of MaxDepth: %v", err)
	}
}

func TestOrderIsKept(t *testing.T) {
	text := `{"z":{"y":1,"x":[{"b":1,"a":2}]},"m":null,"a":true}`
	v, err := Decode(text, Strict)
	if err != nil || Format(v, "") != text {
		t.Errorf("%s, %v", Format(v, ""), err)
	}
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `,"k%d":%d`, i%40, i)
	}
	v, err = Decode("{"+b.String()[1:]+"}", Strict)
	o := v.(*Object)
	if err != nil || len(o.Keys) != 40 || o.Keys[39] != "k39" {
		t.Fatalf("%d keys, %v", len(o.Keys), err)
	}
	if got, _ := o.Get("k19"); got != json.Number("99") {
		t.Errorf("the last of repeated members: %v", got)
	}
}

// oracle holds the strict decoder to encoding/json.
func oracle(t interface{ Fatalf(string, ...any) }, text string) {
	v, err := Decode(text, Strict)
	if valid := json.Valid([]byte(text)); valid != (err == nil) {
		t.Fatalf("%q: encoding/json says %v, we say %v", text, valid, err)
	}
	if err != nil {
		return
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var want any
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if got := plainOf(v); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: %#v, want %#v", text, got, want)
	}
	// What is JSON is the same JSON5.
	v5, err := Decode(text, JSON5)
	if err != nil || !reflect.DeepEqual(plainOf(v5), want) {
		t.Fatalf("%q as JSON5: %#v, %v", text, v5, err)
	}
	// Format writes JSON that means the same.
	for _, indent := range []string{"", "  "} {
		out := Format(v, indent)
		again, err := Decode(out, Strict)
		if err != nil || !reflect.DeepEqual(plainOf(again), want) {
			t.Fatalf("%q formatted: %q, %v", text, out, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5e-3,"x\u00e9\ud83d\ude00\ud800"],"b":{"":null}}`, "\"\xff\"", `[1,]`, "{a:'b'}//", `-`, `"\`, "[\"\\u00", `{"a":1,"a":2}`, "\ufeff1", "1 2", `.5`, `0x1F`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		oracle(t, text)
		ours, ourErr := Decode(text, JSON5)
		theirs, theirErr := titanous(text)
		if ourErr == nil && theirErr == nil {
			if want := normal(theirs); !same(plainOf(ours), want) {
				t.Fatalf("%q as JSON5: %#v, the library says %#v", text, plainOf(ours), want)
			}
		}
	})
}

// titanous decodes with another JSON5 library. Where both accept a text they have to agree.
func titanous(text string) (v any, err error) {
	if strings.Count(text, "[")+strings.Count(text, "{") > 1000 {
		return nil, errors.New("it has no bound on nesting")
	}
	d := json5.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	rest := new(bytes.Buffer)
	rest.ReadFrom(d.Buffered())
	if strings.TrimSpace(rest.String()) != "" {
		return nil, errors.New("more text after the value")
	}
	return v, nil
}

func normal(v any) any {
	switch v := v.(type) {
	case json5.Number:
		n, err := Decode(string(v), JSON5)
		if err != nil {
			return err
		}
		return n
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
	}
	return v
}

// same is reflect.DeepEqual with a NaN that equals itself.
func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if _, ok := b[k]; !ok || !same(a[k], b[k]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// drawValue draws a value as encoding/json would give it.
func drawValue(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return json.Number(fmt.Sprint(rapid.IntRange(-20, 20).Draw(t, "number")))
	case 3:
		return rapid.SampledFrom([]string{"", "a", "b", "c\"\n", "é\u2028", "x"}).Draw(t, "string")
	case 4:
		out := make([]any, rapid.IntRange(0, 4).Draw(t, "length"))
		for i := range out {
			out[i] = drawValue(t, depth-1)
		}
		return out
	default:
		out := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			out[rapid.SampledFrom([]string{"a", "b", "c", "x y", "it's"}).Draw(t, "key")] = drawValue(t, depth-1)
		}
		return out
	}
}

func TestStrictEqualsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal(drawValue(t, 4))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		oracle(t, text)
		if len(text) > 0 { // a broken text too
			i := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			oracle(t, text[:i]+rapid.SampledFrom([]string{"", ",", "]", "\"", "\\", "0", "\x01", "\xff", "e"}).Draw(t, "junk")+text[i+1:])
		}
	})
}
