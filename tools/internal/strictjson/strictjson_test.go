package strictjson_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sandboxctl/sandboxctl/tools/internal/strictjson"
)

func TestCheck(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1,"b":[{"a":1},{"a":2}],"c":{"a":null}}`: "",
		` "x" `:                       "",
		`1e400`:                       "",
		`"\ud83d\ude00 \\ud800 \n"`:   "",
		`"\\\ud83d\ude00"`:            "",
		`{"a":1,"a":1}`:               `the key "a" stands there twice`,
		`{"a":1,"\u0061":1}`:          `the key "a" stands there twice`,
		`[{"x":{"a":1,"b":2,"a":3}}]`: `the key "a" stands there twice`,
		`{"a":1,"A":1}`:               "", // two keys, and Object takes the one it is given
		`"\ud800"`:                    "an escape names one half",
		`"\udc00\ud800"`:              "an escape names one half",
		`"\ud800\\udc00"`:             "an escape names one half",
		`"\ud83d\ude00\ude00"`:        "an escape names one half",
		"\"\xff\"":                    "it is not UTF-8",
		"\"\xed\xa0\x80\"":            "it is not UTF-8",
		``:                            "the JSON ends too early",
		`{"a":`:                       "the JSON ends too early",
		`{"a"`:                        "the JSON ends too early",
		`{} {}`:                       "there is more after",
		`{},`:                         "there is more after",
		`{a:1}`:                       "it is not valid JSON",
		`{"a":1,}`:                    "it is not valid JSON",
		`[1 2]`:                       "it is not valid JSON",
		`{"a":1]`:                     "it is not valid JSON",
		`{"a":01}`:                    "it is not valid JSON",
		`// x`:                        "it is not valid JSON",
		"\ufeff{}":                    "it is not valid JSON",
		`NaN`:                         "it is not valid JSON",
		"\"a\nb\"":                    "it is not valid JSON",
		strings.Repeat("[", 20000):    "it is nested too deeply",
		strings.Repeat("[", 900) + strings.Repeat("]", 900): "",
	} {
		err := strictjson.Check([]byte(raw))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%.60q: got %v, want %q", raw, err, want)
		}
	}
}

func TestObject(t *testing.T) {
	got, err := strictjson.Object([]byte(` {"path": "a", "max_depth": 1.0}`), "path", "max_depth")
	want := map[string]json.RawMessage{"path": json.RawMessage(`"a"`), "max_depth": json.RawMessage(`1.0`)}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s, %v", got, err)
	}
	for raw, what := range map[string]string{
		`{"Path":"a"}`:  `the key "Path" is unknown; known are path`,
		`{"x\u0000":1}`: `the key "x\x00" is unknown`,
		`[]`:            "it is not an object",
		`null`:          "it is not an object",
		`"path"`:        "it is not an object",
	} {
		if got, err := strictjson.Object([]byte(raw), "path"); err == nil || !strings.HasPrefix(err.Error(), what) {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
	if _, err := strictjson.Object([]byte(`{"none":1}`)); err == nil || !strings.Contains(err.Error(), "none is known") {
		t.Errorf("%v", err)
	}
	if _, err := strictjson.Object([]byte(`{}`)); err != nil {
		t.Errorf("control: %v", err)
	}
}

func TestPosition(t *testing.T) {
	raw := []byte("{\n  \"a\": 1,\n  \"a\": 2\n}")
	err := strictjson.Check(raw).(*strictjson.Error)
	if line, column := strictjson.Position(raw, err.Offset); line != 3 || column != 6 {
		t.Errorf("%d:%d", line, column)
	}
	if line, column := strictjson.Position(raw, 999); line != 4 || column != 2 {
		t.Errorf("%d:%d", line, column)
	}
}

// What passes means the same when it is read and written again.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"\ud83d\ude00"]}`, `{"a":1,"a":2}`, `"\ud800"`, `[`, "\xff", `{"a":{"b":null}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if strictjson.Check(raw) != nil {
			return
		}
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("%q passes", raw)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			if strings.Contains(err.Error(), "number") {
				return // beyond float64
			}
			t.Fatal(err)
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := strictjson.Check(again); err != nil {
			t.Fatalf("%q becomes %q: %v", raw, again, err)
		}
	})
}
