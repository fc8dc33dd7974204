package artifact

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// rewind sets the times of a file back by an hour, so that a later change cannot fall into the same clock tick.
func rewind(t *testing.T, path string) time.Time {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	return old
}

func TestChangesAreNoticed(t *testing.T) {
	s := newStore(t, Options{})
	write := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*testing.T, string)
		want   string // of artifact_cat
		lines  string
		says   string
	}{
		{"untouched", func(*testing.T, string) {}, "one\ntwo\n", "2", ""},
		{"same size", write("111\n222\n"), "111\n222\n", "2", "was written to"},
		{"grown", write("one\ntwo\nthree\n"), "one\ntwo\nthree\n", "3", "has grown since it was opened: from 8 to 14"},
		{"truncated", write("one"), "one", "1", "was truncated since it was opened: from 8 to 3"},
		{"emptied", write(""), "", "0", "was truncated"},
		{"removed", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, "one\ntwo\n", "2", "removed or replaced"},
		{"replaced", func(t *testing.T, path string) {
			write("new\n")(t, path+".tmp")
			if err := os.Rename(path+".tmp", path); err != nil {
				t.Fatal(err)
			}
		}, "one\ntwo\n", "2", "this is the old one"},
		{"time set back", func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			write("111\n222\n")(t, path)
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, "111\n222\n", "2", "was touched"},
		{"mode", func(t *testing.T, path string) {
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "one\ntwo\n", "2", "was touched"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeFile(t, "f", "one\ntwo\n")
			rewind(t, path)
			a := openArtifact(t, s, path, Meta{})
			// The index of the old content must not be used for the new.
			if r := mustAsk(t, a, "artifact_line_count", `{}`); r.Text != "2" || r.Changed {
				t.Fatalf("before: %+v", r)
			}
			waitForTick(t, path)
			c.change(t, path)
			for query, want := range map[string]string{"artifact_cat": c.want, "artifact_line_count": c.lines} {
				r := mustAsk(t, a, query, `{}`)
				if r.Text != want || r.Changed != (c.says != "") || c.says != "" && !noted(r, c.says) {
					t.Errorf("%s: %+v; want %q, %q", query, r, want, c.says)
				}
			}
		})
	}
}

// waitForTick returns once the filesystem's clock has moved past the change time of a file.
func waitForTick(t *testing.T, path string) {
	t.Helper()
	before := changeTime(t, path)
	probe := filepath.Join(t.TempDir(), "probe")
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		if err := os.WriteFile(probe, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if changeTime(t, probe).After(before) {
			return
		}
	}
	t.Fatal("the clock of the filesystem stands still")
}

func changeTime(t *testing.T, path string) time.Time {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := identify(f)
	if err != nil {
		t.Fatal(err)
	}
	return id.ChangeTime
}

func TestParsedDocumentIsNotUsedForNewContent(t *testing.T) {
	s := newStore(t, Options{})
	path := writeFile(t, "a.json", `{"a":1}`)
	rewind(t, path)
	a := openArtifact(t, s, path, Meta{})
	if r := mustAsk(t, a, "artifact_json_get", `{"path":"$.a"}`); r.Text != "1" {
		t.Fatalf("%+v", r)
	}
	waitForTick(t, path)
	if err := os.WriteFile(path, []byte(`{"a":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := mustAsk(t, a, "artifact_json_get", `{"path":"$.a"}`); r.Text != "2" || !r.Changed {
		t.Errorf("%+v", r)
	}
}

func TestQueriesOnAFileThatKeepsChanging(t *testing.T) {
	s := newStore(t, Options{})
	path := writeFile(t, "a.jsonl", strings.Repeat("{\"a\":1}\n", 50_000))
	a := openArtifact(t, s, path, Meta{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for i := int64(0); ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := f.Truncate((i * 7919) % 400_000); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 50 {
		for query, args := range map[string]string{
			"artifact_tail": `{}`, "artifact_line_count": `{}`, "artifact_grep": `{"pattern":"\"a\""}`, "artifact_cat": `{"start":1000}`,
			"artifact_json_length": `{}`, "artifact_json_slice": `{"start":10}`,
		} {
			r, err := ask(t, a, query, args)
			var fe *FormatError
			if err != nil && !errors.As(err, &fe) {
				t.Fatalf("%s: %v", query, err)
			}
			if err == nil && len(r.String()) > DefaultMaxResultBytes {
				t.Fatalf("%s: a result of %d bytes", query, len(r.String()))
			}
		}
		if _, err := a.Preview(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestManyQueriesAtOnce(t *testing.T) {
	s := newStore(t, Options{})
	text := fileArtifact(t, s, "f", strings.Repeat("line of text\n", 100_000)+"needle\n")
	doc := fileArtifact(t, s, "a.json", people)
	page := fileArtifact(t, s, "p.md", page)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			for _, c := range []struct {
				a                 *Artifact
				query, args, want string
			}{
				{text, "artifact_line_count", `{}`, "100001"},
				{text, "artifact_grep", `{"pattern":"needle"}`, "100000:needle\n"},
				{text, "artifact_cat", `{"start":99999}`, "line of text\nneedle\n"},
				{doc, "artifact_json_length", `{"path":"$.people"}`, "3"},
				{page, "artifact_md_headings", `{"depth":2}`, "{\"depth\":2,\"text\":\"Two\",\"startLine\":8,\"endLine\":16}\n"},
			} {
				if r, err := ask(t, c.a, c.query, c.args); err != nil || r.Text != c.want {
					t.Errorf("%d: %s: %q, %v", i, c.query, r.Text, err)
				}
			}
			spoolArtifact(t, s, "output")
		})
	}
	wg.Wait()
}

func TestCloseDuringQueries(t *testing.T) {
	s := newStore(t, Options{})
	a := fileArtifact(t, s, "f", strings.Repeat("line of text\n", 1_000_000))
	started := make(chan struct{}, 8)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				_, err := a.Grep(t.Context(), GrepArgs{Pattern: "nothing"})
				if i == 0 {
					started <- struct{}{}
				}
				if err != nil {
					if !errors.Is(err, ErrNotInitialized) {
						t.Errorf("%v", err)
					}
					return
				}
			}
		})
	}
	for range 4 {
		<-started
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}
