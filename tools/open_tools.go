package tools

import (
	"context"
	"path"

	"github.com/sandboxctl/sandboxctl/artifact"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

// pathArgs is what the opening tools take.
type pathArgs struct {
	Path string `json:"path"`
}

var pathParam = param{name: "path", kind: aString, required: true, nonEmpty: true,
	doc: "Path in the workspace; a leading / means the workspace root."}

func (s *Set) openTools() []definition {
	open := func(name, what string, kind artifact.Kind, query []string) definition {
		return define(name, true, []param{pathParam},
			func(has func(string) bool) string {
				return "Opens " + what + " for reading and gives back a handle {callId, kind, byteLength, mimeType}, never its text, whatever its size." +
					mention(has, " Query it by callId with ", query, ".")
			},
			func(ctx context.Context, a pathArgs) (any, error) { return s.open(ctx, a.Path, kind) })
	}
	return []definition{
		open("open_file", "a file", "", []string{"artifact_grep", "artifact_cat", "artifact_head", "artifact_tail"}),
		open("open_json_file", "a JSON, JSON5, JSONL or NDJSON file", artifact.KindJSON, []string{"artifact_json_keys", "artifact_json_get", "artifact_json_filter"}),
		open("open_markdown_file", "a Markdown file", artifact.KindMarkdown, []string{"artifact_md_headings", "artifact_md_sections", "artifact_md_code_blocks"}),
	}
}

// open takes constant time and memory: it reads the beginning of the file, for the MIME type, and no more.
func (s *Set) open(ctx context.Context, asked string, kind artifact.Kind) (any, error) {
	backend, err := s.options.PathTranslator.ToBackend(asked)
	if err != nil {
		return nil, err
	}
	file, err := s.options.FileSystem.Open(ctx, backend)
	if err != nil {
		return nil, named(err, asked)
	}
	defer file.Close()
	mime, err := s.mimeOf(file)
	if err != nil {
		return nil, outcome.New(outcome.IOFailure, asked, err)
	}
	name := path.Base(file.Path())
	if kind == artifact.KindJSON {
		kind = jsonKind(name)
	}
	descriptor, err := file.Detach()
	if err != nil {
		return nil, outcome.New(outcome.IOFailure, asked, err)
	}
	made, err := s.minter.File(descriptor, artifact.Meta{Name: name, Kind: kind, MIMEType: mime})
	if err != nil {
		descriptor.Close()
		return nil, outcome.New(outcome.IOFailure, asked, err)
	}
	return made.Handle(), nil
}

// jsonKind tells the line formats from whole documents by the name, as the artifact does; anything else that is asked for
// as JSON is a document.
func jsonKind(name string) artifact.Kind {
	switch path.Ext(name) {
	case ".jsonl", ".ndjson", ".json5", ".jsonc":
		return ""
	}
	return artifact.KindJSON
}

// mimeOf reads the beginning of a file.
func (s *Set) mimeOf(file workspace.File) (string, error) {
	head, err := readAtMost(file, MimeHeadBytes)
	if err != nil {
		return "", err
	}
	return s.options.MimeResolver(path.Base(file.Path()), head), nil
}

// mention lists the names that are registered, between before and after; nothing when none is.
func mention(has func(string) bool, before string, names []string, after string) string {
	text := ""
	for _, name := range names {
		if !has(name) {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += name
	}
	if text == "" {
		return ""
	}
	return before + text + after
}
