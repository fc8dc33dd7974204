package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

func TestTableIsComplete(t *testing.T) {
	var names []string
	for _, q := range Queries() {
		names = append(names, q.Name)
		if q.Description == "" || q.Family == "" || q.Args == nil {
			t.Errorf("%+v", q)
		}
	}
	want := strings.Fields(`artifact_head artifact_tail artifact_grep artifact_cat artifact_byte_length artifact_line_count
		artifact_estimate_tokens artifact_json_type artifact_json_keys artifact_json_length artifact_json_get
		artifact_json_filter artifact_json_slice artifact_json_pluck artifact_md_frontmatter artifact_md_headings
		artifact_md_code_blocks artifact_md_sections artifact_md_links artifact_md_images artifact_md_text artifact_md_ast`)
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

// TestSchemaAndDecoderAgree gives the same arguments to the schema that is advertised and to the query.
func TestSchemaAndDecoderAgree(t *testing.T) {
	s := newStore(t, Options{})
	a := fileArtifact(t, s, "a.json", "{\"a\":[1]}\n")
	id := quoteJSON(a.Handle().CallID)
	values := []string{`0`, `1`, `-1`, `7`, `1.5`, `"1"`, `"utf-8"`, `"claude"`, `"i"`, `"g"`, `"$"`, `""`, `true`, `[]`, `{}`, `99999999999999999999`}
	compiled, accepted, refused := 0, 0, 0
	for _, q := range Queries() {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(q.InputSchema))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(q.Name, doc); err != nil {
			t.Fatal(err)
		}
		schema, err := c.Compile(q.Name)
		if err != nil {
			t.Fatalf("%s: %v", q.Name, err)
		}
		compiled++
		inputs := []string{`{}`, `[]`, `"x"`, `{"callId":` + id + `}`, `{"callId":7}`, `{"callid":` + id + `}`, `{"callId":` + id + `,"unknown":1}`, `{"callId":` + id + `,"ignore_case":true}`}
		for _, r := range rulesOf(q.Args) {
			for _, v := range values {
				rest := ""
				for _, other := range rulesOf(q.Args) {
					if other.required && other.name != r.name {
						rest += `,"` + other.name + `":"$"`
					}
				}
				inputs = append(inputs, `{"callId":`+id+`,"`+r.name+`":`+v+rest+`}`, `{"callId":`+id+`,"`+strings.ToUpper(r.name)+`":`+v+rest+`}`)
			}
		}
		for _, input := range inputs {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(input))
			if err != nil {
				t.Fatal(err)
			}
			schemaErr := schema.Validate(v)
			_, err = q.Run(t.Context(), s, json.RawMessage(input))
			var ae *ArgumentError
			isArgument := errors.As(err, &ae)
			switch {
			case schemaErr != nil && !isArgument:
				// Integers beyond 64 bits are none to us and are to the schema; nothing else may differ.
				t.Errorf("%s %s: the schema refuses it (%v), the query does not: %v", q.Name, input, schemaErr, err)
			case schemaErr == nil && isArgument && !strings.Contains(input, "99999999999999999999") && ae.Argument != "path" && ae.Argument != "pattern" && ae.Argument != "end":
				t.Errorf("%s %s: the schema accepts it, the query does not: %v", q.Name, input, err)
			}
			if isArgument {
				refused++
			} else {
				accepted++
			}
		}
	}
	if compiled != 22 || accepted < 50 || refused < 50 {
		t.Errorf("%d schemas, %d accepted, %d refused", compiled, accepted, refused)
	}
}

func TestArgumentMessages(t *testing.T) {
	s := newStore(t, Options{})
	a := fileArtifact(t, s, "f", "x")
	for args, says := range map[string]string{
		`{"n":0}`:                      "less than 1",
		`{"n":"ten"}`:                  "not an integer",
		`{"lines":3}`:                  "artifact_head takes callId, n, encoding",
		`{"encoding":"ebcdic"}`:        "none of utf-8",
		`{"N":3}`:                      "unknown",
		`{"n":3,"encoding":["utf-8"]}`: "not a string",
	} {
		_, err := ask(t, a, "artifact_head", args)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if r := mustAsk(t, a, "artifact_head", `{"n":null}`); r.Text != "x" {
		t.Errorf("null stands for absent: %+v", r)
	}
	for _, raw := range []string{``, `null`, `[]`, `{`} {
		_, err := Queries()[0].Run(t.Context(), s, json.RawMessage(raw))
		var ae *ArgumentError
		if !errors.As(err, &ae) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
