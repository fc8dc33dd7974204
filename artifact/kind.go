package artifact

import (
	"mime"
	"path"
	"strings"
)

// Kind is what an artifact is taken to be. It is found from the name and the MIME type, since opening a file does
// not read it; JSON queries look at the content as well, and Markdown queries take any text.
type Kind string

const (
	KindText     Kind = "text"
	KindJSON     Kind = "json"
	KindJSON5    Kind = "json5"
	KindJSONL    Kind = "jsonl"
	KindNDJSON   Kind = "ndjson"
	KindMarkdown Kind = "markdown"
)

func (k Kind) valid() bool {
	switch k {
	case KindText, KindJSON, KindJSON5, KindJSONL, KindNDJSON, KindMarkdown:
		return true
	}
	return false
}

// isJSON reports whether a kind is of the JSON family.
func (k Kind) isJSON() bool {
	switch k {
	case KindJSON, KindJSON5, KindJSONL, KindNDJSON:
		return true
	}
	return false
}

// extensions gives kind and MIME type for the endings of names; the two of an ending belong together.
var extensions = map[string]struct {
	kind Kind
	mime string
}{
	".json":        {KindJSON, "application/json"},
	".geojson":     {KindJSON, "application/geo+json"},
	".ipynb":       {KindJSON, "application/json"},
	".webmanifest": {KindJSON, "application/manifest+json"},
	".json5":       {KindJSON5, "application/json5"},
	".jsonc":       {KindJSON5, "application/json5"},
	".jsonl":       {KindJSONL, "application/jsonl"},
	".ndjson":      {KindNDJSON, "application/x-ndjson"},
	".md":          {KindMarkdown, "text/markdown"},
	".markdown":    {KindMarkdown, "text/markdown"},
	".mdown":       {KindMarkdown, "text/markdown"},
	".mkd":         {KindMarkdown, "text/markdown"},
	".txt":         {KindText, "text/plain"},
	".log":         {KindText, "text/plain"},
}

// kindOf returns the kind and the MIME type of a file by its name and, where the name says nothing, by the MIME
// type that is known. Only the ending of name is used.
func kindOf(name, mimeType string) (Kind, string) {
	if e, ok := extensions[strings.ToLower(path.Ext(name))]; ok {
		if mimeType == "" {
			mimeType = e.mime
		}
		return e.kind, mimeType
	}
	media, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		media = strings.ToLower(strings.TrimSpace(mimeType))
	}
	if mimeType == "" {
		mimeType = "application/octet-stream"
	}
	switch {
	case media == "application/jsonl", media == "application/json-lines", media == "application/jsonlines", media == "application/x-jsonlines":
		return KindJSONL, mimeType
	case media == "application/ndjson", media == "application/x-ndjson":
		return KindNDJSON, mimeType
	case media == "application/json5", media == "application/x-json5":
		return KindJSON5, mimeType
	case media == "application/json", media == "text/json", strings.HasSuffix(media, "+json"):
		return KindJSON, mimeType
	case media == "text/markdown", media == "text/x-markdown":
		return KindMarkdown, mimeType
	}
	return KindText, mimeType
}
