package tools

import (
	"context"
	"path"
	"strings"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

type saveArgs struct {
	MediaID   string `json:"media_id"`
	Path      string `json:"path"`
	Parents   bool   `json:"parents"`
	Overwrite bool   `json:"overwrite"`
}

// SaveResult is the result of save_media.
type SaveResult struct {
	ID       string   `json:"id"`
	Path     string   `json:"path"`
	Bytes    int64    `json:"bytes"`
	Replaced bool     `json:"replaced"` // there was a file of that name
	Notes    []string `json:"notes,omitempty"`
}

func (s *Set) saveTools() []definition {
	return []definition{define("save_media", false, []param{
		mediaIDParam,
		{name: "path", kind: aString, required: true, nonEmpty: true, doc: "Where to, in the workspace; a leading / means the workspace root."},
		{name: "parents", kind: aBoolean, doc: "Make missing directories on the way."},
		{name: "overwrite", kind: aBoolean, doc: "Write even though the file was changed since it was staged."},
	}, func(has func(string) bool) string {
		return "The step that makes a change real: writes a medium to disk" + s.whereTo() + ", at once or not at all, and says how many bytes went where. " +
			"A file keeps its mode and owner. No symbolic link is followed, and a file that was changed since it was staged is not overwritten unless overwrite is true."
	}, s.save)}
}

// whereTo names the write root in the model's own terms.
func (s *Set) whereTo() string {
	if s.under == "." {
		return ""
	}
	return " below " + outcome.Quote(s.options.PathTranslator.ToModel(s.under))
}

func (s *Set) save(ctx context.Context, a saveArgs) (any, error) {
	m, ok := s.media.get(a.MediaID)
	if !ok {
		return nil, outcome.New(outcome.UnknownMedia, a.MediaID, nil)
	}
	backend, err := s.options.PathTranslator.ToBackend(a.Path)
	if err != nil {
		return nil, err
	}
	request := workspace.SaveRequest{Path: backend, Under: s.under, Content: m.content, Parents: a.Parents, Overwrite: a.Overwrite}
	if base, known := m.bases[strings.TrimSuffix(backend, "/")]; known {
		request.Base = &base
	}
	saved, err := s.options.FileSystem.Save(ctx, request)
	if err != nil {
		return nil, named(err, a.Path)
	}
	s.media.markSaved(m, path.Base(saved.Path), saved.Path, saved.Stamp)
	r := SaveResult{ID: m.id, Path: s.options.PathTranslator.ToModel(saved.Path), Bytes: saved.Bytes, Replaced: !saved.Created}
	if saved.InPlace {
		r.Notes = append(r.Notes, "The settings open this file and not its directory, so it was overwritten in place and not replaced at once.")
	}
	return r, nil
}
