package workspace

import (
	"path"
	"strings"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// PathTranslator turns the paths a model writes into backend paths and back. It touches no file.
//
// A backend path is relative to the workspace root, slash-separated and clean; "." is the root itself. A final slash is
// kept when the model asked for a directory by one. Implementations must be safe for concurrent use.
type PathTranslator interface {
	// ToBackend gives the backend path, or an *outcome.Error of the outcome PathRejected.
	ToBackend(asked string) (string, error)
	// ToModel gives a spelling that ToBackend turns into the same backend path again.
	ToModel(backend string) string
}

// RootedPaths is the usual translator: the model's world is the workspace root, and a leading slash means that root.
//
// Nothing is decoded (%2e is three characters) and nothing trimmed (a final space is part of the name). A ".." is taken
// back lexically, before any link is looked at, so that whether a closed directory exists cannot be learned by walking
// into it and out again. The zero value is ready.
type RootedPaths struct{}

// ToBackend implements [PathTranslator].
func (RootedPaths) ToBackend(asked string) (string, error) {
	if r := rejected(asked); r != 0 {
		return "", outcome.Reject(asked, r)
	}
	depth := 0
	for part := range strings.SplitSeq(asked, "/") {
		switch part {
		case "", ".":
		case "..":
			// Counted on the way and not only at the end: "../ws/x" names the root from outside, and so tells its name.
			if depth--; depth < 0 {
				return "", outcome.Reject(asked, outcome.ReasonEscapes)
			}
		default:
			depth++
		}
	}
	clean := strings.TrimPrefix(path.Clean("/"+asked), "/")
	if clean == "" {
		return ".", nil
	}
	if strings.HasSuffix(asked, "/") || strings.HasSuffix(asked, "/.") {
		clean += "/"
	}
	return clean, nil
}

// ToModel implements [PathTranslator].
func (RootedPaths) ToModel(backend string) string {
	if backend == "" {
		return "."
	}
	if rejected(backend) != 0 {
		return "./" + backend
	}
	return backend
}

// rejected looks for spellings that mean something on other systems or to a shell. A model that writes one has another
// idea of where it is, and a file of that literal name would be a surprise.
func rejected(asked string) outcome.Reason {
	switch {
	case strings.ContainsRune(asked, 0):
		return outcome.ReasonNUL
	case strings.HasPrefix(asked, "~"):
		return outcome.ReasonTilde
	}
	// Both slashes count, as they do where these forms come from.
	slashes := strings.ReplaceAll(asked[:min(len(asked), 4)], `\`, "/")
	switch {
	case len(asked) >= 2 && asked[1] == ':' && isLetter(asked[0]):
		return outcome.ReasonDriveLetter
	case strings.HasPrefix(slashes, "//?/"), strings.HasPrefix(slashes, "//./"), strings.HasPrefix(slashes, "/??/"):
		return outcome.ReasonDevice
	case strings.HasPrefix(slashes, "//"):
		return outcome.ReasonUNC
	}
	return 0
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// checkBackend refuses what no translator gives: the kernel would refuse it too, but a policy must not be asked about it.
func checkBackend(p string) error {
	bare := strings.TrimSuffix(p, "/")
	if bare == "" || path.Clean("/"+bare) != "/"+bare && bare != "." || strings.ContainsRune(p, 0) {
		return outcome.Reject(p, outcome.ReasonEscapes)
	}
	return nil
}
