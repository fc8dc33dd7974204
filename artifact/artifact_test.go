package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain fails a package that leaves descriptors of its own open.
func TestMain(m *testing.M) {
	before := openFiles()
	code := m.Run()
	if after := openFiles(); code == 0 && len(after) > len(before) {
		fmt.Fprintf(os.Stderr, "descriptors left open: %v, before %v\n", after, before)
		code = 1
	}
	os.Exit(code)
}

// openFiles lists what the descriptors of this process refer to, but for the runtime's own.
func openFiles() []string {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		name, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || strings.HasPrefix(name, "anon_inode:") || strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/") {
			continue
		}
		out = append(out, name)
	}
	return out
}

func newStore(t testing.TB, opts Options) *Store {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	s, err := NewStore(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openArtifact(t testing.TB, s *Store, path string, meta Meta) *Artifact {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if meta.Name == "" {
		meta.Name = path
	}
	a, err := s.File(f, meta)
	if err != nil {
		f.Close()
		t.Fatal(err)
	}
	return a
}

func fileArtifact(t testing.TB, s *Store, name, content string) *Artifact {
	t.Helper()
	return openArtifact(t, s, writeFile(t, name, content), Meta{})
}

func spoolArtifact(t testing.TB, s *Store, content string) *Artifact {
	t.Helper()
	sp, err := s.Spool(Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := sp.Write([]byte(content)); n != len(content) || err != nil {
		t.Fatal(n, err)
	}
	a, err := sp.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask runs a query of the table with arguments as a model gives them: a JSON object without callId.
func ask(t testing.TB, a *Artifact, name, args string) (Result, error) {
	t.Helper()
	all := map[string]json.RawMessage{}
	if args != "" {
		if err := json.Unmarshal([]byte(args), &all); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
	}
	id, err := json.Marshal(a.Handle().CallID)
	if err != nil {
		t.Fatal(err)
	}
	all["callId"] = id
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range Queries() {
		if q.Name == name {
			return q.Run(t.Context(), a.store, raw)
		}
	}
	t.Fatalf("no query %q", name)
	return Result{}, nil
}

func mustAsk(t testing.TB, a *Artifact, name, args string) Result {
	t.Helper()
	r, err := ask(t, a, name, args)
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return r
}

// noted reports whether a note holds a text.
func noted(r Result, text string) bool { return strings.Contains(strings.Join(r.Notes, "\n"), text) }

func TestHandleOfFilesAndSpools(t *testing.T) {
	s := newStore(t, Options{})
	for _, c := range []struct {
		name string
		meta Meta
		kind Kind
		mime string
	}{
		{"a.json", Meta{}, KindJSON, "application/json"},
		{"a.JSON5", Meta{}, KindJSON5, "application/json5"},
		{"a.jsonl", Meta{}, KindJSONL, "application/jsonl"},
		{"a.ndjson", Meta{}, KindNDJSON, "application/x-ndjson"},
		{"README.md", Meta{}, KindMarkdown, "text/markdown"},
		{"a.log", Meta{}, KindText, "text/plain"},
		{"a.bin", Meta{}, KindText, "application/octet-stream"},
		{"a", Meta{MIMEType: "application/vnd.api+json; charset=utf-8"}, KindJSON, "application/vnd.api+json; charset=utf-8"},
		{"a", Meta{MIMEType: "application/x-ndjson"}, KindNDJSON, "application/x-ndjson"},
		{"a", Meta{MIMEType: "application/json5"}, KindJSON5, "application/json5"},
		{"a.txt", Meta{Kind: KindJSON}, KindJSON, "text/plain"},
	} {
		a := openArtifact(t, s, writeFile(t, c.name, "{}\n"), c.meta)
		h := a.Handle()
		if h.Kind != c.kind || h.MIMEType != c.mime || h.ByteLength != 3 || h.CallID == "" {
			t.Errorf("%s %+v: %+v", c.name, c.meta, h)
		}
	}
	b, err := json.Marshal(Handle{CallID: "c", Kind: KindText, ByteLength: 7, MIMEType: "text/plain"})
	if err != nil || string(b) != `{"callId":"c","kind":"text","byteLength":7,"mimeType":"text/plain"}` {
		t.Errorf("%s, %v", b, err)
	}
	if h := spoolArtifact(t, s, "x").Handle(); h.MIMEType != "text/plain" || h.ByteLength != 1 {
		t.Errorf("spool: %+v", h)
	}
	if _, err := s.Spool(Meta{Kind: "pdf"}); err == nil || !strings.Contains(err.Error(), "pdf") {
		t.Errorf("unknown kind: %v", err)
	}
}

func TestOnlyRegularFiles(t *testing.T) {
	s := newStore(t, Options{})
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, f := range []*os.File{dir, null} {
		if _, err := s.File(f, Meta{}); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
}

func TestEverythingFailsAfterTheOwnerIsGone(t *testing.T) {
	gone := errors.New("handle disposed")
	for _, how := range []string{"Close", "Alive"} {
		var dead error
		s := newStore(t, Options{Alive: func() error { return dead }})
		a := fileArtifact(t, s, "a.json", `{"a":[1,2]}`)
		sp := spoolArtifact(t, s, "text")
		open, err := s.Spool(Meta{})
		if err != nil {
			t.Fatal(err)
		}
		// The control: all of it works while the owner lives.
		everything := func(check func(what string, err error)) {
			for _, q := range Queries() {
				args := "{}"
				switch q.Name {
				case "artifact_grep":
					args = `{"pattern":"a"}`
				case "artifact_json_get", "artifact_json_pluck", "artifact_json_filter":
					args = `{"path":"$"}`
				}
				_, err := ask(t, a, q.Name, args)
				check(q.Name, err)
			}
			_, err := a.ReadAt(make([]byte, 1), 0)
			check("ReadAt", err)
			_, err = sp.Describe()
			check("Describe", err)
			_, err = a.Preview(t.Context(), 10)
			check("Preview", err)
			_, err = s.Lookup(sp.Handle().CallID)
			check("Lookup", err)
			_, err = s.Handles()
			check("Handles", err)
			f, err := os.Open(os.Args[0])
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.File(f, Meta{})
			check("File", err)
			if err != nil {
				f.Close()
			}
			_, err = s.Reopen(Descriptor{Path: os.Args[0]}, func(*os.File) error { return nil })
			if !errors.Is(err, ErrIdentity) {
				check("Reopen", err)
			}
		}
		everything(func(what string, err error) {
			if err != nil {
				t.Fatalf("%s before: %v", what, err)
			}
		})
		if how == "Close" {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		} else {
			dead = gone
		}
		everything(func(what string, err error) {
			var coded *CodedError
			if !errors.Is(err, ErrNotInitialized) || !errors.As(err, &coded) || coded.Code != "E_SANDBOX_NOT_INITIALIZED" {
				t.Errorf("%s after %s: %v", what, how, err)
			}
			if how == "Alive" && !errors.Is(err, gone) {
				t.Errorf("%s: the owner's error is lost: %v", what, err)
			}
		})
		if _, err := open.Finish(); err == nil {
			t.Errorf("a spool finished after %s", how)
		}
		if _, err := s.Spool(Meta{}); !errors.Is(err, ErrNotInitialized) {
			t.Errorf("Spool after %s: %v", how, err)
		}
	}
}

func TestNothingOnDiskAfterClose(t *testing.T) {
	parent := t.TempDir()
	s := newStore(t, Options{Dir: parent})
	a := spoolArtifact(t, s, "secret")
	d, err := a.Describe()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(d.Path); err != nil || string(b) != "secret" {
		t.Fatalf("described spool: %q, %v", b, err)
	}
	unfinished, err := s.Spool(Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := unfinished.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("write after Close: %v", err)
	}
}

func TestUnknownAndRemoved(t *testing.T) {
	s := newStore(t, Options{})
	var unknown *UnknownArtifactError
	if _, err := s.Lookup("nope"); !errors.As(err, &unknown) || unknown.Dropped {
		t.Errorf("%v", err)
	}
	a := spoolArtifact(t, s, "12345")
	if s.Usage() != 5 {
		t.Errorf("usage %d", s.Usage())
	}
	if _, err := s.Spool(Meta{CallID: a.Handle().CallID}); err != nil {
		t.Fatal(err) // the id is looked at when the spool is finished
	}
	if err := s.Remove(a.Handle().CallID); err != nil {
		t.Fatal(err)
	}
	if s.Usage() != 0 {
		t.Errorf("usage %d after Remove", s.Usage())
	}
	if err := s.Remove(a.Handle().CallID); !errors.As(err, &unknown) {
		t.Errorf("second Remove: %v", err)
	}
	if _, err := a.Head(t.Context(), HeadArgs{}); !errors.As(err, &unknown) {
		t.Errorf("a query on a removed artifact: %v", err)
	}
	first := openArtifact(t, s, writeFile(t, "x", "x"), Meta{CallID: "mine"})
	f, err := os.Open(writeFile(t, "y", "y"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := s.File(f, Meta{CallID: first.Handle().CallID}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("second artifact of one id: %v", err)
	}
}

func TestLeastRecentlyUsedIsDropped(t *testing.T) {
	s := newStore(t, Options{MaxArtifacts: 3})
	var ids []string
	for i := range 3 {
		ids = append(ids, fileArtifact(t, s, "f", fmt.Sprint(i)).Handle().CallID)
	}
	if _, err := s.Lookup(ids[0]); err != nil { // now ids[1] is the oldest
		t.Fatal(err)
	}
	fileArtifact(t, s, "f", "new")
	var unknown *UnknownArtifactError
	if _, err := s.Lookup(ids[1]); !errors.As(err, &unknown) || !unknown.Dropped || !strings.Contains(err.Error(), "run the call") {
		t.Errorf("dropped artifact: %v", err)
	}
	handles, err := s.Handles()
	if err != nil || len(handles) != 3 || handles[1].CallID != ids[0] {
		t.Errorf("%+v, %v", handles, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{{QuotaBytes: -1}, {MaxResultBytes: 100}, {MaxArtifacts: -1}, {Dir: "/nonexistent/dir"}} {
		o := o
		if o.Dir == "" {
			o.Dir = t.TempDir()
		}
		if s, err := NewStore(o); err == nil {
			s.Close()
			t.Errorf("%+v accepted", o)
		}
	}
}
