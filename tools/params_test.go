package tools_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// The schema that is advertised takes what the tools take, and nothing else.
func TestSchemaIsTheCheck(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"f": "x"})
	compiled := map[string]*jsonschema.Schema{}
	for _, tool := range b.set.Tools() {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.InputSchema))
		must(t, err)
		c := jsonschema.NewCompiler()
		must(t, c.AddResource("https://example.test/"+tool.Name, doc))
		compiled[tool.Name], err = c.Compile("https://example.test/" + tool.Name)
		must(t, err)
	}
	value := rapid.SampledFrom([]string{`"f"`, `""`, `"media-1"`, `"utf-8"`, `"base64"`, `"x y"`, `1`, `0`, `-3`, `2.0`, `2.5`, `1e2`, `true`, `false`, `null`, `[]`, `{}`,
		`{"find":"a","replace":"b"}`, `{"find":"a"}`, `{"find":"","replace":"b"}`, `{"find":"a","replace":"b","all":true,"encoding":"utf-8"}`, `{"find":"a","replace":"b","all":1}`, `{"find":"a","replace":"b","x":1}`})
	key := rapid.SampledFrom([]string{"path", "max_depth", "media_id", "patch", "content", "encoding", "name", "mime_type", "parents", "overwrite", "Path", "limit"})
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.SampledFrom(toolNames).Draw(t, "tool")
		fields := map[string]json.RawMessage{}
		// Arguments that are needed are drawn more often than chance would.
		for _, name := range map[string][]string{"open_file": {"path"}, "list_directory": {"path"}, "apply_patch": {"media_id", "patch"}, "save_media": {"media_id", "path"}, "create_media": {"content"}}[tool] {
			if rapid.Bool().Draw(t, "with "+name) {
				fields[name] = json.RawMessage(value.Draw(t, name))
			}
		}
		for _, name := range rapid.SliceOfN(key, 0, 3).Draw(t, "keys") {
			fields[name] = json.RawMessage(value.Draw(t, name))
		}
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		bySchema := compiled[tool].Validate(instance) == nil
		found, _ := b.set.Tool(tool)
		_, err = found.Handler(b.t.Context(), text)
		byTool := label(err) != "invalid-arguments"
		if !byTool && (strings.Contains(err.Error(), "given as base64 is not") || strings.Contains(err.Error(), "The content is not")) {
			return // what a schema cannot say
		}
		if bySchema != byTool {
			t.Fatalf("%s %s: the schema says %v, the tool %v (%v)", tool, text, bySchema, byTool, err)
		}
		if byTool {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("nothing was accepted: the property says nothing")
	}
}
