package srtconfig

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
)

var update = flag.Bool("update", false, "rewrite generated files and golden results")

const (
	schemaFile = "settings.schema.json"
	// Paths: not empty, "~" only before a slash. A "**" that shares its segment is beyond one readable expression.
	pathExpression = `^(~(/[\s\S]*)?|[^~][\s\S]*)$`
	hostExpression = `(localhost|\[[0-9A-Fa-f:.]+\]|([0-9A-Za-z_-]+\.)+[0-9A-Za-z_-]+|\*\.([0-9A-Za-z_-]+\.)+[0-9A-Za-z_-]+)`
	nameExpression = `^[A-Za-z_][A-Za-z0-9_]*`
	portExpression = `(:[1-9][0-9]{0,4})?`
)

// makeSchema reflects over the types. It lies here so that the program need not carry the reflector.
func makeSchema(t *testing.T) []byte {
	t.Helper()
	r := jsonschema.Reflector{
		DoNotReference: true,
		ExpandedStruct: true,
		Anonymous:      true,
		Mapper: func(typ reflect.Type) *jsonschema.Schema {
			switch typ {
			case reflect.TypeFor[PathEntry]():
				object := jsonschema.NewProperties()
				object.Set("path", &jsonschema.Schema{Type: "string", Pattern: pathExpression})
				object.Set("literal", &jsonschema.Schema{Type: "boolean", Description: "Pattern characters, $ and outer spaces mean themselves."})
				return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
					{Type: "string", Pattern: pathExpression},
					{Type: "object", Properties: object, Required: []string{"path"}, AdditionalProperties: jsonschema.FalseSchema},
				}}
			case reflect.TypeFor[TmpMode]():
				return &jsonschema.Schema{Type: "string", Enum: []any{"private", "host"}}
			}
			return nil
		},
	}
	s := r.Reflect(&Settings{})
	s.Title = "sandboxctl settings"
	s.Description = "The settings format of srt 0.0.78, with the key sandboxctl. Comments and trailing commas are accepted."
	for _, k := range Keys() {
		p := schemaAt(s, k.Path)
		if p == nil {
			t.Fatalf("the key table has %s, the types do not", k.Path)
		}
		p.Description = strings.TrimSpace(k.Meaning + " " + k.Effect())
	}
	for path, expression := range map[string]string{
		"network.allowedDomains":                `^` + hostExpression + portExpression + `$`,
		"network.deniedDomains":                 `^(\*|` + hostExpression + `)` + portExpression + `$`,
		"network.mitmProxy.domains":             `^` + hostExpression + `$`,
		"network.tlsTerminate.excludeDomains":   `^` + hostExpression + `$`,
		"sandboxctl.env.allow":                  nameExpression + `\*?$`,
		"network.allowMachLookup":               `^[^*]*\*?$`,
		"sandboxctl.commands.allow":             `^\S+$`,
		"network.deniedResolvedAddresses":       `^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$`,
		"network.tlsTerminate.extraCaCertPaths": `^.`,
	} {
		schemaAt(s, path).Items.Pattern = expression
	}
	for _, path := range []string{"bwrapPath", "socatPath", "javaAgentJarPath"} {
		schemaAt(s, path).Pattern = "^/"
	}
	schemaAt(s, "sandboxctl.env.set").PropertyNames = &jsonschema.Schema{Pattern: nameExpression + `$`}
	schemaAt(s, "ripgrep").Required = []string{"command"}
	one := uint64(1)
	schemaAt(s, "ripgrep.command").MinLength = &one
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func schemaAt(s *jsonschema.Schema, path string) *jsonschema.Schema {
	for name := range strings.SplitSeq(path, ".") {
		next, ok := s.Properties.Get(name)
		if !ok {
			return nil
		}
		s = next
	}
	return s
}

func TestSchemaIsThatOfTheTypes(t *testing.T) {
	want := makeSchema(t)
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(Schema(), want) {
		t.Errorf("%s is not what the types give; run go test ./srtconfig -run TestSchemaIsThatOfTheTypes -update", schemaFile)
	}
}

// TestKeyTableIsComplete goes the other way: no key of the types is without a description.
func TestKeyTableIsComplete(t *testing.T) {
	described := map[string]bool{}
	for _, k := range Keys() {
		if described[k.Path] {
			t.Errorf("%s is described twice", k.Path)
		}
		described[k.Path] = true
	}
	var visit func(prefix string, typ reflect.Type)
	visit = func(prefix string, typ reflect.Type) {
		for name, f := range fieldsOf(typ) {
			path := prefix + name
			if described[path] {
				continue
			}
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() != reflect.Struct {
				t.Errorf("%s has no description", path)
				continue
			}
			visit(path+".", inner)
		}
	}
	visit("", reflect.TypeFor[Settings]())
}
