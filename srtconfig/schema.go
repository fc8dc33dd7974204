package srtconfig

import (
	_ "embed"
	"slices"
)

//go:embed settings.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of a settings file. It is made from the types of this package by
// their tests. It cannot say all that Parse checks; what Parse takes, it takes.
func Schema() []byte { return slices.Clone(schema) }
