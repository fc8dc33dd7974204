package srtconfig

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("settings.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("settings.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate checks a file as an editor would. ok is false for what is no JSON even without its comments.
func validate(s *jsonschema.Schema, text []byte) (valid, ok bool) {
	plain, err := hujson.Standardize(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return false, false
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		return false, false
	}
	return s.Validate(doc) == nil, true
}

func corpus(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in testdata/%s: %v", dir, err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = text
	}
	return out
}

func TestGoodCorpus(t *testing.T) {
	schema := compiledSchema(t)
	for name, text := range corpus(t, "good") {
		s, err := Parse(text, name)
		if err != nil {
			t.Errorf("Parse: %v", err)
			continue
		}
		if valid, _ := validate(schema, text); !valid {
			t.Errorf("%s: the schema refuses what Parse takes", name)
		}
		// What is written out again is read as the same, but for empty lists, which say nothing.
		once := rewritten(t, name, s)
		again, err := Parse(once, name)
		if err != nil {
			t.Errorf("%s: written out: %v", name, err)
			continue
		}
		if twice := rewritten(t, name, again); !bytes.Equal(bytes.ReplaceAll(once, []byte(`,"network":{}`), nil), twice) {
			t.Errorf("%s changes when it is written and read:\n%s\n%s", name, once, twice)
		}
	}
}

func rewritten(t *testing.T, name string, s *Settings) []byte {
	t.Helper()
	out, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// badFiles states what is said of each file: where, in which words, and whether the schema can see it.
var badFiles = map[string]struct {
	pointer, text string
	inSchema      bool
}{
	"empty.json":                   {"", "empty.json: the file is empty", false},
	"only-comment.json":            {"", "only-comment.json:3:1: not JSON", false},
	"truncated.json":               {"", "the file ends in the middle", false},
	"utf-16.json":                  {"", "UTF-16", false},
	"not-utf-8.json":               {"", "not JSON", false},
	"misspelt-list.json":           {"/filesystem/denyWrites", `did you mean "denyWrite"`, true},
	"misspelt-section.json":        {"/fileSystem", `did you mean "filesystem"`, true},
	"list-at-top.json":             {"/allowWrite", `list-at-top.json:2:3: /allowWrite: unknown key "allowWrite" here; "allowWrite" stands under "filesystem"`, true},
	"list-in-other-section.json":   {"/filesystem/allowedDomains", `stands under "network"`, true},
	"string-for-list.json":         {"/filesystem/denyRead", `want a list, found a string; write ["x"]`, true},
	"number-for-path.json":         {"/filesystem/denyRead/0", "found a number", true},
	"null-for-path.json":           {"/filesystem/denyRead/0", "null has no meaning", true},
	"null-section.json":            {"/filesystem", "null has no meaning", true},
	"list-for-settings.json":       {"", "want an object, found a list", true},
	"string-for-boolean.json":      {"/filesystem/disabled", "want true or false", true},
	"depth-too-large.json":         {"/mandatoryDenySearchDepth", "from 1 to 10, found 11", true},
	"depth-no-integer.json":        {"/mandatoryDenySearchDepth", "whole number, found 2.5", true},
	"duplicate-section.json":       {"/filesystem", "duplicate-section.json:3:3: /filesystem: the key \"filesystem\" stands here a second time; the first is in line 2", false},
	"unknown-key-in-entry.json":    {"/filesystem/denyRead/0/glob", `unknown key "glob"`, true},
	"entry-without-path.json":      {"/filesystem/denyRead/0", `"path" is missing`, true},
	"other-home.json":              {"/filesystem/denyRead/0", `"./~nobody/x"`, true},
	"variable.json":                {"/filesystem/denyRead/0", "not expanded", false},
	"empty-path.json":              {"/filesystem/denyRead/0", "empty path", true},
	"star-allowed.json":            {"/network/allowedDomains/0", "allowAllDomains", true},
	"url-allowed.json":             {"/network/allowedDomains/0", `write "a.test"`, true},
	"bare-ipv6.json":               {"/network/deniedDomains/0", `"[::1]"`, true},
	"wrong-range.json":             {"/network/deniedResolvedAddresses/0", "no address or range", false},
	"name-for-range.json":          {"/network/deniedResolvedAddresses/0", "no address or range", true},
	"port-too-large.json":          {"/network/httpProxyPort", "from 1 to 65535", true},
	"mitm-without-socket.json":     {"/network/mitmProxy", `"socketPath" is missing`, true},
	"function.json":                {"/network/filterRequest", "a settings file cannot hold one", true},
	"unknown-tmp.json":             {"/sandboxctl/tmp", `"private" or "host"`, true},
	"env-star.json":                {"/sandboxctl/env/allow/0", "no variable name", true},
	"env-name.json":                {"/sandboxctl/env/set/A=B", "no variable name", true},
	"limit-zero.json":              {"/sandboxctl/limits/memoryBytes", "found 0", true},
	"limit-negative.json":          {"/sandboxctl/limits/cpus", "above 0", true},
	"ripgrep-without-command.json": {"/ripgrep", `"command" is missing`, true},
	"credential-mode.json":         {"/credentials/files/0/mode", `"deny" "mask"`, true},
	"relative-helper.json":         {"/bwrapPath", "absolute path", true},
	"stars-in-segment.json":        {"/filesystem/denyRead/0", `"dir/**/*.pem"`, false},
}

func TestBadCorpus(t *testing.T) {
	schema := compiledSchema(t)
	files := corpus(t, "bad")
	for name := range badFiles {
		if files[name] == nil {
			t.Errorf("%s is not there", name)
		}
	}
	for name, text := range files {
		want, ok := badFiles[name]
		if !ok {
			t.Errorf("%s has no expectation", name)
			continue
		}
		s, err := Parse(text, name)
		if s != nil {
			t.Errorf("%s: settings came back with the error", name)
		}
		wantError(t, err, want.pointer, want.text)
		if n := len(SettingsErrors(err)); n != 1 {
			t.Errorf("%s: %d errors for one mistake: %v", name, n, err)
		}
		if valid, ok := validate(schema, text); ok && valid == want.inSchema {
			t.Errorf("%s: the schema takes it: %t, want %t", name, valid, !want.inSchema)
		}
	}
}
