package tools

import (
	"errors"
	"io"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// MimeHeadBytes is how much of a file a [MimeResolver] is given: what mimetype looks at by default.
const MimeHeadBytes = 3072

// textExtensions names text formats that content does not tell from plain text. No binary format is here: what a name
// claims and the content does not bear out is not believed.
var textExtensions = map[string]string{
	".c": "text/x-c", ".cc": "text/x-c++", ".cfg": "text/plain", ".conf": "text/plain", ".cpp": "text/x-c++", ".cs": "text/x-csharp",
	".css": "text/css", ".csv": "text/csv", ".diff": "text/x-diff", ".go": "text/x-go", ".h": "text/x-c", ".hpp": "text/x-c++",
	".htm": "text/html", ".html": "text/html", ".ini": "text/plain", ".java": "text/x-java", ".js": "text/javascript",
	".json": "application/json", ".json5": "application/json5", ".jsonc": "application/json5", ".jsonl": "application/jsonl",
	".jsx": "text/javascript", ".kt": "text/x-kotlin", ".log": "text/plain", ".lua": "text/x-lua", ".markdown": "text/markdown",
	".md": "text/markdown", ".mjs": "text/javascript", ".ndjson": "application/x-ndjson", ".patch": "text/x-diff", ".php": "text/x-php",
	".pl": "text/x-perl", ".proto": "text/plain", ".py": "text/x-python", ".rb": "text/x-ruby", ".rs": "text/x-rust", ".sh": "text/x-shellscript",
	".sql": "application/sql", ".svg": "image/svg+xml", ".swift": "text/x-swift", ".toml": "application/toml", ".ts": "text/x-typescript",
	".tsv": "text/tab-separated-values", ".tsx": "text/x-typescript", ".txt": "text/plain", ".xml": "application/xml",
	".yaml": "application/yaml", ".yml": "application/yaml",
}

// ResolveMime finds the MIME type by content, and for text by the extension of the name. It gives the bare type, without
// a charset.
func ResolveMime(name string, head []byte) string {
	detected := mimetype.Detect(head[:min(len(head), MimeHeadBytes)])
	bare, _, _ := strings.Cut(detected.String(), ";")
	if isText(detected) {
		if byName, known := textExtensions[strings.ToLower(path.Ext(name))]; known {
			return byName
		}
	}
	return bare
}

func isText(m *mimetype.MIME) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return false
}

// mediaKind sorts MIME types by what can be done with them.
func mediaKind(mime string, head []byte) string {
	kind, _, _ := strings.Cut(mime, "/")
	switch kind {
	case "image", "audio", "video":
		return kind
	}
	if isText(mimetype.Detect(head[:min(len(head), MimeHeadBytes)])) {
		return "text"
	}
	return "binary"
}

// readAtMost reads the first bytes of a file, fewer where it ends.
func readAtMost(file io.ReaderAt, n int) ([]byte, error) {
	head := make([]byte, n)
	got, err := file.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:got], err
}
