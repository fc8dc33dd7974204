package tools

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/sandboxctl/sandboxctl/artifact"
	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

type listArgs struct {
	Path     string `json:"path"`
	MaxDepth int    `json:"max_depth"`
}

// Listing is the result of list_directory.
type Listing struct {
	artifact.Handle
	Entries    int64       `json:"entries"`
	Complete   bool        `json:"complete"`
	Bound      frame.Bound `json:"bound,omitempty"`      // what cut the listing, when it is not complete
	Unreadable int64       `json:"unreadable,omitempty"` // directories that the operating system would not let us read
	Notes      []string    `json:"notes,omitempty"`
}

func (s *Set) listTools() []definition {
	return []definition{define("list_directory", true, []param{
		pathParam,
		{name: "max_depth", kind: anInteger, min: 1, doc: "How many levels are listed: 1 is the directory itself. Left out: all."},
	}, func(has func(string) bool) string {
		return "Lists everything below a directory, hidden and ignored entries included, links shown and not followed. " +
			"Gives back a handle to the listing, one JSON object a line: {\"kind\":\"item\",\"path\":…,\"type\":\"file|directory|link|other\"} for each entry, " +
			"then {\"kind\":\"done\",\"complete\":…}." +
			mention(has, " Read it by callId with ", []string{"artifact_grep", "artifact_cat", "artifact_head"}, ".") +
			mention(has, " To look for names, ", []string{"find_files"}, " is shorter.")
	}, s.list)}
}

func (s *Set) list(ctx context.Context, a listArgs) (any, error) {
	backend, err := s.options.PathTranslator.ToBackend(a.Path)
	if err != nil {
		return nil, err
	}
	spool, err := s.minter.Spool(artifact.Meta{Name: "listing.jsonl", Kind: artifact.KindJSONL, MIMEType: "application/jsonl"})
	if err != nil {
		return nil, outcome.New(outcome.IOFailure, a.Path, err)
	}
	kept := false
	defer func() {
		if !kept {
			_ = spool.Abort() // nobody has its id, and the error that led here is told
		}
	}()
	var l Listing
	out := frameWriter{out: bufio.NewWriterSize(spool, 64<<10)}
	done, err := frame.Each(s.options.FileSystem.List(ctx, workspace.ListRequest{Path: backend, MaxDepth: a.MaxDepth}), func(e workspace.Entry) error {
		l.Entries++
		if e.Unreadable {
			l.Unreadable++
		}
		return out.item(s.options.PathTranslator.ToModel(e.Path), e)
	})
	if err == nil && done.Bound == frame.Limit {
		err = errOverLimit
	}
	if err == nil {
		err = out.done(done)
	}
	if err != nil {
		return nil, s.listingError(err, a.Path)
	}
	made, err := spool.Finish()
	if err != nil {
		return nil, outcome.New(outcome.IOFailure, a.Path, err)
	}
	kept = true
	if spool.Stats().Truncated != "" {
		// The end would be there and the middle not: a listing that is not whole is none.
		e := outcome.New(outcome.TooLarge, a.Path, nil)
		e.Detail = "The listing does not fit the space for results; list a smaller part, or set max_depth."
		return nil, e
	}
	l.Handle, l.Complete, l.Bound = made.Handle(), done.Complete, done.Bound
	if done.Bound == frame.MaxDepth {
		l.Notes = append(l.Notes, outcome.Words(outcome.ScopeLimited, a.Path, ""))
	}
	if l.Unreadable > 0 {
		l.Notes = append(l.Notes, string(outcome.Number("The content of ", l.Unreadable, " directories is missing: the system does not let them be read. Their entries are marked unreadable.")))
	}
	return l, nil
}

// errOverLimit: a listing has no limit, so a backend that cuts one short is broken, and its result is not to be trusted.
var errOverLimit = errors.New("the backend cut a listing by a limit that nobody set")

// listingError names the backend where the fault is its own.
func (s *Set) listingError(err error, asked string) error {
	for _, fault := range []error{errOverLimit, frame.ErrNoDone, frame.ErrBadDone, frame.ErrAfter} {
		if errors.Is(err, fault) {
			e := outcome.New(outcome.IOFailure, asked, err)
			e.Detail = outcome.Quoted("The backend ", s.options.FileSystem.Name(), " broke its contract: ") + outcome.Plain(fault.Error()) + "."
			return e
		}
	}
	return named(err, asked)
}

// frameWriter writes frames as JSON, one a line.
type frameWriter struct {
	out interface {
		io.Writer
		Flush() error
	}
	line []byte
}

func (w *frameWriter) item(path string, e workspace.Entry) error {
	w.line = append(w.line[:0], `{"kind":"item","path":`...)
	w.line = appendJSONString(w.line, path)
	if !utf8.ValidString(path) {
		w.line = append(w.line, `,"pathBase64":"`...)
		w.line = base64.StdEncoding.AppendEncode(w.line, []byte(path))
		w.line = append(w.line, '"')
	}
	w.line = append(w.line, `,"type":"`...)
	w.line = append(w.line, e.Type.String()...)
	w.line = append(w.line, '"')
	if e.Unreadable {
		w.line = append(w.line, `,"unreadable":true`...)
	}
	w.line = append(w.line, "}\n"...)
	_, err := w.out.Write(w.line)
	return err
}

func (w *frameWriter) done(d frame.Done) error {
	line := `{"kind":"done","complete":true}`
	if !d.Complete {
		line = `{"kind":"done","complete":false,"bound":"` + string(d.Bound) + `"}`
	}
	if _, err := io.WriteString(w.out, line+"\n"); err != nil {
		return err
	}
	return w.out.Flush()
}

// appendJSONString writes a JSON string; nearly all names need no escape.
func appendJSONString(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				quoted = []byte(`""`) // a string always marshals
			}
			return append(to, quoted...)
		}
	}
	to = append(to, '"')
	to = append(to, s...)
	return append(to, '"')
}
