package artifact

import (
	"context"
	"encoding/json"
)

// Query is one entry of the table of queries: what a tool layer needs to offer it.
type Query struct {
	// Name is that of the tool, as artifact_grep.
	Name string
	// Description says what it does, to a model.
	Description string
	// Family is "text", "json" or "markdown": which artifacts it is meant for. Any artifact can be asked.
	Family string
	// InputSchema is the JSON Schema of the arguments, callId included.
	InputSchema json.RawMessage
	// Args is a zero value of the struct that the arguments are decoded to, for those who reflect on it. Its tags
	// are those of encoding/json and github.com/invopop/jsonschema.
	Args any

	run func(ctx context.Context, a *Artifact, args arguments) (Result, error)
}

// entry makes a table entry of a method.
func entry[A any](family, name string, run func(*Artifact, context.Context, A) (Result, error), description string) Query {
	var zero A
	return Query{
		Name:        name,
		Description: description,
		Family:      family,
		InputSchema: schemaOf(zero),
		Args:        zero,
		run: func(ctx context.Context, a *Artifact, args arguments) (Result, error) {
			var v A
			if err := args.decode(&v); err != nil {
				return Result{}, err
			}
			return run(a, ctx, v)
		},
	}
}

// Queries returns the table of all queries, in a fixed order.
func Queries() []Query {
	return []Query{
		entry("text", "artifact_head", (*Artifact).Head, "Return the first n lines of an artifact, as they are."),
		entry("text", "artifact_tail", (*Artifact).Tail, "Return the last n lines of an artifact, as they are."),
		entry("text", "artifact_grep", (*Artifact).Grep, "Return the lines of an artifact that match a regular expression, each as NUMBER:LINE with line numbers from 0."),
		entry("text", "artifact_cat", (*Artifact).Cat, "Return lines of an artifact, from start to before end, as they are; or bytes, from startByte to before endByte."),
		entry("text", "artifact_byte_length", (*Artifact).ByteLength, "Return the number of bytes of an artifact."),
		entry("text", "artifact_line_count", (*Artifact).LineCount, "Return the number of lines of an artifact."),
		entry("text", "artifact_estimate_tokens", (*Artifact).EstimateTokens, "Estimate roughly how many tokens an artifact is."),
		entry("json", "artifact_json_type", (*Artifact).JSONType, "Return the format of a JSON artifact (json, json5, jsonl, ndjson) and the type of its root, or of the value at path."),
		entry("json", "artifact_json_keys", (*Artifact).JSONKeys, "Return the keys of the root object of a JSON artifact, or of the object at path; of JSON Lines those of all records."),
		entry("json", "artifact_json_length", (*Artifact).JSONLength, "Return the number of elements or members of the root of a JSON artifact, or of the value at path; of JSON Lines the number of records."),
		entry("json", "artifact_json_get", (*Artifact).JSONGet, "Return what a JSONPath selects in a JSON artifact. Several matches are lines PATH<TAB>JSON; in JSON Lines $ is each record, and lines are RECORD<TAB>PATH<TAB>JSON."),
		entry("json", "artifact_json_filter", (*Artifact).JSONFilter, "Return the records of a JSON artifact that a JSONPath filter keeps, each as RECORD<TAB>JSON. Records are the lines of JSON Lines or the elements of a root array, from 0."),
		entry("json", "artifact_json_slice", (*Artifact).JSONSlice, "Return records of a JSON artifact from start to before end, each as RECORD<TAB>JSON. Records are the lines of JSON Lines, the elements of a root array, or those of the array at path."),
		entry("json", "artifact_json_pluck", (*Artifact).JSONPluck, "Return what a JSONPath selects in each record of a JSON artifact, each as RECORD<TAB>JSON. $ is the record: a line of JSON Lines or an element of a root array."),
		entry("markdown", "artifact_md_frontmatter", (*Artifact).MDFrontMatter, "Return the YAML front matter of a Markdown artifact as JSON."),
		entry("markdown", "artifact_md_headings", (*Artifact).MDHeadings, "Return the headings of a Markdown artifact with the lines of their sections, one JSON object a line."),
		entry("markdown", "artifact_md_code_blocks", (*Artifact).MDCodeBlocks, "Return where the code blocks of a Markdown artifact are, one JSON object a line. artifact_cat with bodyStartLine and bodyEndLine shows the code."),
		entry("markdown", "artifact_md_sections", (*Artifact).MDSections, "Return where the sections of a Markdown artifact are, one JSON object a line. artifact_cat with bodyStartLine and bodyEndLine shows a body."),
		entry("markdown", "artifact_md_links", (*Artifact).MDLinks, "Return the links of a Markdown artifact, one JSON object a line."),
		entry("markdown", "artifact_md_images", (*Artifact).MDImages, "Return the images of a Markdown artifact, one JSON object a line."),
		entry("markdown", "artifact_md_text", (*Artifact).MDText, "Return the text of a Markdown artifact without markup."),
		entry("markdown", "artifact_md_ast", (*Artifact).MDAST, "Return the syntax tree of a Markdown artifact as an indented outline."),
	}
}

// Run runs the query on the artifact that the arguments name. The arguments are a JSON object; one that the query
// does not take is an error. Errors: *ArgumentError, *UnknownArtifactError, ErrNotInitialized, those of the query.
func (q Query) Run(ctx context.Context, s *Store, args json.RawMessage) (Result, error) {
	parsed, callID, err := parseArguments(q, args)
	if err != nil {
		return Result{}, err
	}
	a, err := s.Lookup(callID)
	if err != nil {
		return Result{}, err
	}
	return q.run(ctx, a, parsed)
}
