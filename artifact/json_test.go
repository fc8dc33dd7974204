package artifact

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const people = `{"z": 1, "people": [
  {"name": "Ann", "age": 30, "id": 12345678901234567890},
  {"name": "Bob", "age": 17, "id": 2},
  {"name": "Cyd", "age": 45, "id": 3.10}
], "a": {"deep": [[1], [2, 3]]}}`

const peopleLines = `{"name":"Ann","age":30}

{"name":"Bob","age":17,"extra":true}
["not","an object"]
{"name":"Cyd","age":45}`

func TestJSONQueriesByHand(t *testing.T) {
	s := newStore(t, Options{})
	doc := fileArtifact(t, s, "p.json", people)
	array := fileArtifact(t, s, "a.json", `[{"n":"Ann","age":30},{"n":"Bob","age":17},{"n":"Cyd","age":45}]`)
	lines := fileArtifact(t, s, "p.jsonl", peopleLines)
	for _, c := range []struct {
		a                 *Artifact
		query, args, want string
		note              string
	}{
		{doc, "type", `{}`, `{"format":"json","type":"object"}`, ""},
		{doc, "type", `{"path":"$.people"}`, `{"format":"json","type":"array"}`, ""},
		{doc, "keys", `{}`, "\"z\"\n\"people\"\n\"a\"\n", ""},
		{doc, "keys", `{"path":"$.people[0]"}`, "\"name\"\n\"age\"\n\"id\"\n", ""},
		{doc, "length", `{}`, "3", ""},
		{doc, "length", `{"path":"$.people"}`, "3", ""},
		{doc, "length", `{"path":"$.people[0].name"}`, "3", ""},
		{doc, "get", `{"path":"$.people[0].id"}`, "12345678901234567890", ""},
		{doc, "get", `{"path":"$.people[2].id"}`, "3.10", ""},
		{doc, "get", `{"path":"$.a"}`, "{\n  \"deep\": [\n    [\n      1\n    ],\n    [\n      2,\n      3\n    ]\n  ]\n}", ""},
		{doc, "get", `{"path":"$.people[*].name"}`, "$['people'][0]['name']\t\"Ann\"\n$['people'][1]['name']\t\"Bob\"\n$['people'][2]['name']\t\"Cyd\"\n", ""},
		{doc, "get", `{"path":"$.people[?@.age>18].name","maxResults":1}`, "$['people'][0]['name']\t\"Ann\"\n", "with start 1"},
		{doc, "get", `{"path":"$.people[*].name","start":2}`, "$['people'][2]['name']\t\"Cyd\"\n", ""},
		{doc, "get", `{"path":"$.nothing"}`, "", "nothing matches"},
		{doc, "get", `{"path":"$..nothing"}`, "", "nothing matches"},
		{doc, "slice", `{"path":"$.people","start":1,"end":2}`, "1\t{\"name\":\"Bob\",\"age\":17,\"id\":2}\n", ""},
		{doc, "slice", `{"path":"$.a.deep"}`, "0\t[1]\n1\t[2,3]\n", ""},
		{doc, "filter", `{"path":"$.people"}`, "0\t" + strings.NewReplacer("\n", "", " ", "").Replace(people) + "\n", ""},
		{array, "type", `{}`, `{"format":"json","type":"array"}`, ""},
		{array, "length", `{}`, "3", ""},
		{array, "slice", `{"start":2}`, "2\t{\"n\":\"Cyd\",\"age\":45}\n", ""},
		{array, "slice", `{"start":3}`, "", "there are 3"},
		{array, "slice", `{"start":1,"end":1}`, "", ""},
		{array, "filter", `{"path":"$[?@.age>18]"}`, "0\t{\"n\":\"Ann\",\"age\":30}\n2\t{\"n\":\"Cyd\",\"age\":45}\n", ""},
		{array, "filter", `{"path":"$[?@.age>99]"}`, "", "nothing matches"},
		{array, "pluck", `{"path":"$.n"}`, "0\t\"Ann\"\n1\t\"Bob\"\n2\t\"Cyd\"\n", ""},
		{array, "pluck", `{"path":"$[*].n"}`, "", "use artifact_json_get"},
		{lines, "type", `{}`, `{"format":"jsonl","type":"records"}`, ""},
		{lines, "keys", `{}`, "\"name\"\n\"age\"\n\"extra\"\n", ""},
		{lines, "length", `{}`, "4", ""},
		{lines, "get", `{"path":"$.name"}`, "0\t$['name']\t\"Ann\"\n1\t$['name']\t\"Bob\"\n3\t$['name']\t\"Cyd\"\n", ""},
		{lines, "get", `{"path":"$.name","start":1,"maxResults":1}`, "1\t$['name']\t\"Bob\"\n", "with start 2"},
		{lines, "filter", `{"path":"$[?@.age>18]"}`, "0\t{\"name\":\"Ann\",\"age\":30}\n3\t{\"name\":\"Cyd\",\"age\":45}\n", ""},
		{lines, "filter", `{"path":"$.extra"}`, "1\t{\"name\":\"Bob\",\"age\":17,\"extra\":true}\n", ""},
		{lines, "pluck", `{"path":"$.age"}`, "0\t30\n1\t17\n3\t45\n", ""},
		{lines, "slice", `{"start":2,"end":4}`, "2\t[\"not\",\"an object\"]\n3\t{\"name\":\"Cyd\",\"age\":45}\n", ""},
		{lines, "slice", `{"start":9}`, "", "there are 4"},
	} {
		r := mustAsk(t, c.a, "artifact_json_"+c.query, c.args)
		if r.Text != c.want || c.note != "" && !noted(r, c.note) || c.note == "" && len(r.Notes) > 0 {
			t.Errorf("%s %s:\n got %q %q\nwant %q %q", c.query, c.args, r.Text, r.Notes, c.want, c.note)
		}
	}
	for _, c := range []struct {
		a           *Artifact
		query, args string
		says        string
	}{
		{doc, "keys", `{"path":"$.people"}`, "an array of 3 elements"},
		{doc, "keys", `{"path":"$..x"}`, "a path to one value"},
		{doc, "length", `{"path":"$.none"}`, "selects nothing"},
		{doc, "get", `{"path":"people"}`, "starts with '$'"},
		{doc, "get", `{"path":"$["}`, "RFC 9535"},
		{doc, "slice", `{"path":"$.a"}`, "only an array"},
		{doc, "slice", `{"start":2,"end":1}`, "before start"},
		{lines, "type", `{"path":"$.a"}`, "artifact_json_get"},
		{lines, "length", `{"path":"$.a"}`, "artifact_json_get"},
	} {
		_, err := ask(t, c.a, "artifact_json_"+c.query, c.args)
		var ae *ArgumentError
		if !errors.As(err, &ae) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v; want %q", c.query, c.args, err, c.says)
		}
	}
}

func TestJSONFormatsAreToldApart(t *testing.T) {
	s := newStore(t, Options{})
	for _, c := range []struct{ name, content, format, note string }{
		{"a.json", `{"a":1}`, "json", ""},
		{"a.json", "\ufeff[1]", "json", ""},
		{"a.json5", `{"a":1}`, "json5", ""},
		{"a.json5", `{a:1,}`, "json5", ""},
		{"tsconfig.json", "{\n // comment\n \"a\": 1,\n}", "json5", "line 1, column 1"},
		{"a.jsonl", "{}\n{}\n", "jsonl", ""},
		{"a.ndjson", "{}\n", "ndjson", ""},
		{"a.json", "{\"a\":1}\n{\"a\":2}\n", "jsonl", "one JSON value a line"},
		{"stdout.txt", "{\"a\":1}\n{\"a\":2}\n", "jsonl", ""},
		{"stdout.txt", "\n[1,\n2]\n", "json", ""},
		{"utf16.json", "\xff\xfe[\x001\x00]\x00", "json", ""},
	} {
		r := mustAsk(t, fileArtifact(t, s, c.name, c.content), "artifact_json_type", "")
		if !strings.Contains(r.Text, `"format":"`+c.format+`"`) || c.note != "" && !noted(r, c.note) || c.note == "" && len(r.Notes) > 0 {
			t.Errorf("%s %q: %s %q", c.name, c.content, r.Text, r.Notes)
		}
	}
}

func TestInvalidJSONStaysText(t *testing.T) {
	s := newStore(t, Options{})
	a := fileArtifact(t, s, "a.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n")
	_, err := ask(t, a, "artifact_json_get", `{"path":"$.a"}`)
	var fe *FormatError
	if !errors.As(err, &fe) || !strings.Contains(err.Error(), "line 2, column 2") || !strings.Contains(err.Error(), "artifact_cat") {
		t.Errorf("%v", err)
	}
	if r := mustAsk(t, a, "artifact_grep", `{"pattern":"\"b\""}`); r.Text != "2:  \"b\": 2\n" {
		t.Errorf("grep: %q", r.Text)
	}
	five := fileArtifact(t, s, "a.json5", "{a:1 b:2}")
	if _, err := ask(t, five, "artifact_json_keys", `{}`); !errors.As(err, &fe) || fe.Format != "JSON5" || !strings.Contains(err.Error(), "column 5") {
		t.Errorf("%v", err)
	}
	lines := fileArtifact(t, s, "a.jsonl", "{\"a\":1}\nboom\n{\"a\":2}\n{\"a\":\n")
	r := mustAsk(t, lines, "artifact_json_pluck", `{"path":"$.a"}`)
	if r.Text != "0\t1\n2\t2\n" || !noted(r, "2 records are not JSON") || !noted(r, "line 1, column 0") {
		t.Errorf("%+v", r)
	}
	if r := mustAsk(t, lines, "artifact_json_slice", `{"start":1,"end":3}`); r.Text != "1\t(not JSON)\n2\t{\"a\":2}\n" {
		t.Errorf("%+v", r)
	}
	none := fileArtifact(t, s, "b.jsonl", "no\njson\n")
	if _, err := ask(t, none, "artifact_json_keys", `{}`); !errors.As(err, &fe) || !strings.Contains(err.Error(), "line 0, column 0") {
		t.Errorf("%v", err)
	}
	deep := fileArtifact(t, s, "d.json", strings.Repeat("[", 1<<20))
	if _, err := ask(t, deep, "artifact_json_type", `{}`); !errors.As(err, &fe) || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("%v", err)
	}
}

func TestLargeJSON(t *testing.T) {
	s := newStore(t, Options{MaxJSONBytes: 1 << 20})
	var lines strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&lines, "{\"id\":%d,\"text\":\"some words\"}\n", i)
	}
	var large *TooLargeError
	doc := fileArtifact(t, s, "a.json", "["+strings.Repeat("1,", 1<<20)+"1]")
	if _, err := ask(t, doc, "artifact_json_length", `{}`); !errors.As(err, &large) || !strings.Contains(err.Error(), "artifact_grep") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"a.jsonl", "a.json"} {
		a := fileArtifact(t, s, name, lines.String())
		if r := mustAsk(t, a, "artifact_json_length", `{}`); r.Text != "60000" {
			t.Errorf("%s: %+v", name, r)
		}
		if r := mustAsk(t, a, "artifact_json_get", `{"path":"$[?@==59999]"}`); r.Text != "59999\t$['id']\t59999\n" {
			t.Errorf("%s: %+v", name, r)
		}
		if r := mustAsk(t, a, "artifact_json_slice", `{"start":59999}`); r.Text != "59999\t{\"id\":59999,\"text\":\"some words\"}\n" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	long := fileArtifact(t, s, "b.jsonl", "{}\n\""+strings.Repeat("x", 2<<20)+"\"\n")
	if _, err := ask(t, long, "artifact_json_length", `{}`); !errors.As(err, &large) || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("%v", err)
	}
}

func TestJSONPagesGiveEverything(t *testing.T) {
	s := newStore(t, Options{MaxResultBytes: MinResultBytes})
	var content, want strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&content, "{\"name\":\"user %d\"}\n", i)
		fmt.Fprintf(&want, "%d\t\"user %d\"\n", i, i)
	}
	a := fileArtifact(t, s, "a.jsonl", content.String())
	array := fileArtifact(t, s, "a.json", "["+strings.Join(strings.Split(strings.TrimSpace(content.String()), "\n"), ",")+"]")
	next := regexp.MustCompile(`with start (\d+)`)
	for _, c := range []struct {
		a           *Artifact
		query, args string
		strip       *regexp.Regexp
	}{
		{a, "artifact_json_pluck", `"path":"$.name",`, nil},
		{array, "artifact_json_pluck", `"path":"$.name",`, nil},
		{a, "artifact_json_get", `"path":"$.name",`, regexp.MustCompile(`\$\['name'\]\t`)},
		{a, "artifact_json_filter", `"path":"$.name",`, regexp.MustCompile(`\{"name":|\}`)},
		{a, "artifact_json_slice", ``, regexp.MustCompile(`\{"name":|\}`)},
		{array, "artifact_json_slice", ``, regexp.MustCompile(`\{"name":|\}`)},
	} {
		var got strings.Builder
		for start, pages := "0", 0; ; pages++ {
			r := mustAsk(t, c.a, c.query, `{`+c.args+`"start":`+start+`}`)
			if len(r.String()) > MinResultBytes || pages > 200 {
				t.Fatalf("%s: no end, or a result of %d bytes", c.query, len(r.String()))
			}
			got.WriteString(r.Text)
			m := next.FindStringSubmatch(strings.Join(r.Notes, "\n"))
			if m == nil {
				break
			}
			start = m[1]
		}
		text := got.String()
		if c.strip != nil {
			text = c.strip.ReplaceAllString(text, "")
		}
		if text != want.String() {
			t.Errorf("%s: %d bytes, want %d", c.query, len(text), want.Len())
		}
	}
}

func TestSlicePagesCountBadRecords(t *testing.T) {
	s := newStore(t, Options{MaxResultBytes: MinResultBytes})
	var content, want strings.Builder
	for i := range 1000 {
		if i%3 == 0 {
			content.WriteString("no JSON\n\n")
			fmt.Fprintf(&want, "%d\t(not JSON)\n", i)
			continue
		}
		fmt.Fprintf(&content, "[%d]\n", i)
		fmt.Fprintf(&want, "%d\t[%d]\n", i, i)
	}
	a := fileArtifact(t, s, "a.jsonl", content.String())
	next := regexp.MustCompile(`with start (\d+)`)
	var got strings.Builder
	for start, pages := "0", 0; pages < 100; pages++ {
		r := mustAsk(t, a, "artifact_json_slice", `{"start":`+start+`}`)
		got.WriteString(r.Text)
		m := next.FindStringSubmatch(strings.Join(r.Notes, "\n"))
		if m == nil {
			break
		}
		start = m[1]
	}
	if got.String() != want.String() {
		t.Errorf("%d bytes, want %d", got.Len(), want.Len())
	}
}

func TestLargeValuesAreCut(t *testing.T) {
	s := newStore(t, Options{MaxResultBytes: MinResultBytes})
	a := fileArtifact(t, s, "a.json", `{"s":"`+strings.Repeat("€", 5000)+`","l":[`+strings.Repeat(`"x",`, 5000)+`1],"o":{`+strings.Repeat(`"k":1,`, 10)+`"z":{}}}`)
	for _, c := range []struct{ query, args, says string }{
		{"artifact_json_get", `{"path":"$.s"}`, "a string of 15000 bytes"},
		{"artifact_json_get", `{"path":"$.l"}`, "an array of 5001 elements"},
		{"artifact_json_get", `{"path":"$"}`, "an object of 3 members"},
		{"artifact_json_get", `{"path":"$[*]"}`, "a string of 15000 bytes"},
		{"artifact_json_slice", `{}`, "an object of 3 members"},
	} {
		r := mustAsk(t, a, c.query, c.args)
		if !r.Truncated || !noted(r, c.says) || len(r.String()) > MinResultBytes || !utf8.ValidString(r.Text) || len(r.Text) < 1000 {
			t.Errorf("%s %s: %d bytes %q", c.query, c.args, len(r.Text), r.Notes)
		}
	}
	if r := mustAsk(t, a, "artifact_json_get", `{"path":"$.*","start":1,"maxResults":1}`); !strings.HasPrefix(r.Text, "$['l']\t[\"x\"") {
		t.Errorf("the match after one that was cut: %.40q", r.Text)
	}
}

func FuzzJSONPathArgument(f *testing.F) {
	s := newStore(f, Options{MaxResultBytes: MinResultBytes})
	doc := fileArtifact(f, s, "p.json", people)
	lines := fileArtifact(f, s, "p.jsonl", peopleLines)
	f.Add("$.people[?@.age>18].name", int64(0), int64(1))
	f.Add("$..*", int64(3), int64(1<<40))
	f.Add("$['a']..[?@[0]]", int64(-1), int64(0))
	f.Fuzz(func(t *testing.T, path string, start, n int64) {
		for _, a := range []*Artifact{doc, lines} {
			for _, q := range []string{"get", "filter", "pluck"} {
				r, err := ask(t, a, "artifact_json_"+q, fmt.Sprintf(`{"path":%s,"start":%d,"maxResults":%d}`, quoteJSON(path), start, n))
				if err != nil {
					var ae *ArgumentError
					if !errors.As(err, &ae) {
						t.Fatalf("%s %q: %v", q, path, err)
					}
					continue
				}
				if len(r.String()) > MinResultBytes || !utf8.ValidString(r.String()) {
					t.Fatalf("%s %q: a result of %d bytes", q, path, len(r.String()))
				}
			}
			for _, q := range []string{"keys", "length", "type", "slice"} {
				if _, err := ask(t, a, "artifact_json_"+q, fmt.Sprintf(`{"path":%s}`, quoteJSON(path))); err != nil {
					var ae *ArgumentError
					if !errors.As(err, &ae) {
						t.Fatalf("%s %q: %v", q, path, err)
					}
				}
			}
		}
	})
}
