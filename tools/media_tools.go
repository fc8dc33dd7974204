package tools

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"path"

	"github.com/gabriel-vasile/mimetype"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

// onlyInMemory opens the descriptions and follows the results of everything that makes a medium: who stages, patches and
// stops has changed nothing.
const onlyInMemory = "Nothing is on disk"

var mediaIDParam = param{name: "media_id", kind: aString, required: true, nonEmpty: true, doc: "The id of a medium."}

var encodingParam = param{name: "encoding", kind: aString, enum: []string{"utf-8", "base64"},
	doc: "How the text is written here: utf-8 (as it stands, the default) or base64 (for bytes that are not UTF-8)."}

// saveHint names the step that is still to come.
func saveHint(has func(string) bool) string {
	return mention(has, " until ", []string{"save_media"}, " is called")
}

func (s *Set) mediaTools() []definition {
	return []definition{
		define("stage_file", false, []param{pathParam}, func(has func(string) bool) string {
			return onlyInMemory + saveHint(has) + ": takes a copy of a file into memory, to be changed there. Gives back a medium {id, mimeType, kind, trustTier, byteLength}." +
				mention(has, " Change it with ", []string{"apply_patch"}, "; each change gives a new id.") +
				mention(has, " To read a file, use ", []string{"open_file"}, " instead.")
		}, s.stage),
		define("create_media", false, []param{
			{name: "content", kind: aString, required: true, doc: "The whole content, kept byte for byte."},
			encodingParam,
			{name: "name", kind: aString, doc: "The name it will have; its extension helps to find the MIME type."},
			{name: "mime_type", kind: aString, nonEmpty: true, doc: "The MIME type, when the content and the name do not tell. It is refused when the content is something else."},
		}, func(has func(string) bool) string {
			return onlyInMemory + saveHint(has) + ": makes a medium of new content. Gives back a medium {id, mimeType, kind, trustTier, byteLength}."
		}, s.create),
		define("apply_patch", false, []param{mediaIDParam, {name: "patch", kind: aString | anObject, required: true, nonEmpty: true,
			doc: "Either {find, replace, all?}: find is literal and must occur exactly once unless all is true. Or a text: a unified diff of one file, or *** Begin Patch … *** End Patch with one *** Update File.",
			fields: []param{
				{name: "find", kind: aString, required: true, nonEmpty: true, doc: "What to look for, literally."},
				{name: "replace", kind: aString, required: true, doc: "What to put there, literally: $ and \\ mean themselves."},
				{name: "all", kind: aBoolean, doc: "Replace every occurrence."},
				encodingParam,
			}}}, func(has func(string) bool) string {
			return onlyInMemory + saveHint(has) + ": changes a medium and gives back a new one; the old one stays as it was. Lines keep their ends (CRLF included), and a patch that does not fit exactly, or fits in several places, changes nothing."
		}, s.patch),
		define("list_media", true, nil, func(has func(string) bool) string {
			return "Lists the media of this session with their ids, and which of them are saved."
		}, s.listMedia),
	}
}

// stage reads a whole file into memory, in one state: a file that is written to meanwhile is read again.
func (s *Set) stage(ctx context.Context, a pathArgs) (any, error) {
	backend, err := s.options.PathTranslator.ToBackend(a.Path)
	if err != nil {
		return nil, err
	}
	file, err := s.options.FileSystem.Open(ctx, backend)
	if err != nil {
		return nil, named(err, a.Path)
	}
	defer file.Close()
	content, stamp, err := s.readWhole(ctx, file)
	if err != nil {
		return nil, named(err, a.Path)
	}
	m := s.newMedium(path.Base(file.Path()), content)
	m.bases = map[string]workspace.Base{file.Path(): {Stamp: stamp, Sum: sha256.Sum256(content)}}
	return s.keep(m, a.Path)
}

var errBusyFile = errors.New("the file is being written to")

func (s *Set) readWhole(ctx context.Context, file workspace.File) ([]byte, workspace.Stamp, error) {
	const tries = 3
	for range tries {
		if err := ctx.Err(); err != nil {
			return nil, workspace.Stamp{}, outcome.New(outcome.Aborted, "", err)
		}
		before, err := file.Stamp()
		if err != nil {
			return nil, before, err
		}
		if !s.media.room(before.Size) {
			return nil, before, outcome.New(outcome.TooLarge, "", nil)
		}
		content := make([]byte, before.Size)
		n, err := file.ReadAt(content, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, before, err
		}
		after, err := file.Stamp()
		if err != nil {
			return nil, before, err
		}
		if after == before && int64(n) == before.Size {
			return content, before, nil
		}
	}
	return nil, workspace.Stamp{}, errBusyFile
}

// newMedium makes a medium without an id.
func (s *Set) newMedium(name string, content []byte) *Medium {
	head := content[:min(len(content), MimeHeadBytes)]
	mime := s.options.MimeResolver(name, head)
	return &Medium{name: name, mime: mime, kind: mediaKind(mime, head), tier: s.options.TrustTier, content: content,
		handle: s.options.Handle, epoch: s.epoch}
}

// keep gives a medium its id and tells of it.
func (s *Set) keep(m *Medium, asked string) (any, error) {
	if !s.media.add(m) {
		return nil, outcome.New(outcome.TooLarge, asked, nil)
	}
	v := m.view()
	v.Notes = []string{onlyInMemory + saveHint(s.registered) + "."}
	return v, nil
}

type createArgs struct {
	Content  string `json:"content"`
	Encoding string `json:"encoding"`
	Name     string `json:"name"`
	MIMEType string `json:"mime_type"`
}

func (s *Set) create(_ context.Context, a createArgs) (any, error) {
	content, err := decodeText("create_media", a.Content, a.Encoding)
	if err != nil {
		return nil, err
	}
	m := s.newMedium(path.Base("/"+a.Name), content)
	if a.Name == "" {
		m.name = ""
	}
	if a.MIMEType != "" {
		// A claim is taken among the text formats, which content does not tell apart; nothing else is taken on trust.
		detected := mimetype.Detect(content[:min(len(content), MimeHeadBytes)])
		if !detected.Is(a.MIMEType) && a.MIMEType != m.mime && !(isText(detected) && claimsText(a.MIMEType)) {
			e := outcome.New(outcome.InvalidArguments, "create_media", nil)
			e.Detail = outcome.Quoted("The content is not ", a.MIMEType, outcome.Quoted(" but ", detected.String(), "."))
			return nil, e
		}
		m.mime = a.MIMEType
	}
	return s.keep(m, "create_media")
}

// claimsText reports whether a MIME type is one of text: what ResolveMime can give for text, or any text/ type.
func claimsText(mime string) bool {
	if len(mime) > 5 && mime[:5] == "text/" {
		return true
	}
	for _, known := range textExtensions {
		if known == mime {
			return true
		}
	}
	return false
}

// decodeText gives the bytes that a text argument stands for.
func decodeText(tool, text, encoding string) ([]byte, error) {
	if encoding != "base64" {
		return []byte(text), nil
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		e := outcome.New(outcome.InvalidArguments, tool, err)
		e.Detail = "What is given as base64 is not: it takes the standard alphabet, with padding."
		return nil, e
	}
	return b, nil
}

type patchArgs struct {
	MediaID string          `json:"media_id"`
	Patch   json.RawMessage `json:"patch"`
}

// PatchResult is the result of apply_patch.
type PatchResult struct {
	MediumView
	Changes int `json:"changes"` // replacements, or hunks
}

func (s *Set) patch(_ context.Context, a patchArgs) (any, error) {
	old, ok := s.media.get(a.MediaID)
	if !ok {
		return nil, outcome.New(outcome.UnknownMedia, a.MediaID, nil)
	}
	p, err := parsePatch(a.Patch)
	if err != nil {
		return nil, named(err, a.MediaID)
	}
	content, changes, err := p.apply(old.content, s.options.MaxMediaBytes)
	if err != nil {
		return nil, named(err, a.MediaID)
	}
	m := s.newMedium(old.name, content)
	m.bases, m.from = old.bases, old.id
	kept, err := s.keep(m, a.MediaID)
	if err != nil {
		return nil, err
	}
	return PatchResult{MediumView: kept.(MediumView), Changes: changes}, nil
}

// MediaList is the result of list_media.
type MediaList struct {
	Media []MediumView `json:"media"`
}

func (s *Set) listMedia(context.Context, struct{}) (any, error) {
	return MediaList{Media: s.media.views()}, nil
}

// Medium finds a medium by its id.
func (s *Set) Medium(id string) (*Medium, bool) {
	if s.options.Handle.Check(s.epoch) != nil {
		return nil, false
	}
	return s.media.get(id)
}
