package tools_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/artifact"
)

func TestOpenGivesAHandle(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"a.go": "package a\n", "d.json": `{"a":1}`, "l.jsonl": "1\n2\n", "README.md": "# x\n", "odd": "no json", "real/f": "x", "ln": "-> real/f"})
	for _, c := range []struct{ tool, path, want string }{
		{"open_file", "a.go", "text text/x-go 10"},
		{"open_file", "d.json", "json application/json 7"},
		{"open_file", "README.md", "markdown text/markdown 4"},
		{"open_file", "ln", "text text/plain 1"},
		{"open_json_file", "d.json", "json application/json 7"},
		{"open_json_file", "l.jsonl", "jsonl application/jsonl 4"},
		{"open_json_file", "odd", "json text/plain 7"},
		{"open_markdown_file", "README.md", "markdown text/markdown 4"},
		{"open_markdown_file", "a.go", "markdown text/x-go 10"},
	} {
		got := b.ok(c.tool, args{"path": c.path})
		if have := fmt.Sprint(got["kind"], " ", got["mimeType"], " ", got["byteLength"]); have != c.want || len(got) != 4 {
			t.Errorf("%s %s: %v, want %s", c.tool, c.path, got, c.want)
		}
		if text := b.content(got); text != b.file(c.path) {
			t.Errorf("%s %s: %q", c.tool, c.path, text)
		}
	}
	first, second := b.ok("open_file", args{"path": "a.go"}), b.ok("open_file", args{"path": "a.go"})
	if first["callId"] == second["callId"] {
		t.Errorf("two handles of one name: %v", first)
	}
}

// A file of 5 GB is opened without being read.
func TestOpenDoesNotRead(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"big": ""})
	must(t, os.Truncate(filepath.Join(b.root, "big"), 5<<30))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := b.ok("open_file", args{"path": "big"})
	runtime.ReadMemStats(&after)
	if got["byteLength"] != float64(5<<30) {
		t.Errorf("%v", got)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("opening allocated %d bytes", used)
	}
}

func TestAChangedFileIsNoticed(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"f": "one\n"})
	a, err := b.store.Lookup(b.ok("open_file", args{"path": "f"})["callId"].(string))
	must(t, err)
	if r, err := a.Cat(t.Context(), artifact.CatArgs{}); err != nil || r.Changed {
		t.Errorf("control: %v, %v", r, err)
	}
	write(t, b.root, map[string]string{"f": "one\ntwo\n"})
	if r, err := a.Cat(t.Context(), artifact.CatArgs{}); err != nil || !r.Changed || len(r.Notes) == 0 {
		t.Errorf("%v, %v", r, err)
	}
}

type frameLine struct {
	Kind, Path, PathBase64, Type, Bound string
	Unreadable                          bool
	Complete                            *bool
}

func frames(t *testing.T, text string) []frameLine {
	t.Helper()
	var all []frameLine
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		var f frameLine
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, f)
	}
	return all
}

// Every name there is, the strange ones included, and nothing that was made up.
func TestListingIsComplete(t *testing.T) {
	files := map[string]string{"blog.md": "", "catalog.md": "", "template.md": "", "a.log": "", ".hidden": "", "node_modules/x": "", "e\u0301.txt": "", "\u00e9.txt": "",
		"a\nb": "", "q\"b\\s": "", "-rf": "", "[id]/*": "", "\xff\xfe": "", "<&>\u2028": "", "tmp/log/temp": "", "x": "-> blog.md", "up": "-> ..", "empty/": "", ".gitignore": "*"}
	for i := range 5000 {
		files[fmt.Sprintf("many/%d/f%d", i%50, i)] = ""
	}
	b := newBench(t, openSettings, files)
	var want []string
	must(t, filepath.WalkDir(b.root, func(path string, d fs.DirEntry, err error) error {
		if path != b.root {
			want = append(want, strings.TrimPrefix(path, b.root+"/"))
		}
		return err
	}))
	listing := b.ok("list_directory", args{"path": "."})
	all := frames(t, b.content(listing))
	done := all[len(all)-1]
	if done.Kind != "done" || done.Complete == nil || !*done.Complete || done.Bound != "" || listing["complete"] != true || listing["entries"] != float64(len(want)) {
		t.Errorf("%+v, %v", done, listing)
	}
	var got []string
	for _, f := range all[:len(all)-1] {
		name := f.Path
		if f.PathBase64 != "" {
			raw, err := base64.StdEncoding.DecodeString(f.PathBase64)
			must(t, err)
			name = string(raw)
		}
		if f.Kind != "item" || f.Complete != nil {
			t.Errorf("%+v", f)
		}
		got = append(got, name)
		if wantType := map[string]string{"x": "link", "up": "link", "empty": "directory", "blog.md": "file"}[name]; wantType != "" && f.Type != wantType {
			t.Errorf("%s is a %s", name, f.Type)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d names, want %d: %.300q", len(got), len(want), got)
	}
	if listing["kind"] != "jsonl" || listing["mimeType"] != "application/jsonl" {
		t.Errorf("%v", listing)
	}
	// What is listed can be opened by the name it is listed by.
	for _, name := range []string{"a\nb", "q\"b\\s", "-rf", "[id]/*", "<&>\u2028", "e\u0301.txt", ".hidden"} {
		if _, err := b.call("open_file", args{"path": name}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestListingNamesComeBack(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"~x": "", "C:y": "", `\\s\x`: ""})
	all := frames(t, b.content(b.ok("list_directory", args{"path": "/"})))
	if len(all) != 4 {
		t.Fatalf("%+v", all)
	}
	for _, f := range all[:3] {
		if _, err := b.call("open_file", args{"path": f.Path}); err != nil {
			t.Errorf("%q: %v", f.Path, err)
		}
	}
}

func TestListingSaysWhatCutIt(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"a/b/c": "", "f": ""})
	got := b.ok("list_directory", args{"path": ".", "max_depth": 1})
	all := frames(t, b.content(got))
	if got["complete"] != false || got["bound"] != "maxDepth" || all[len(all)-1].Bound != "maxDepth" || *all[len(all)-1].Complete || got["entries"] != 2.0 {
		t.Errorf("%v, %+v", got, all)
	}
	if notes := fmt.Sprint(got["notes"]); !strings.Contains(notes, "Raise max_depth") {
		t.Errorf("%s", notes)
	}
	if got := b.ok("list_directory", args{"path": ".", "max_depth": 3}); got["complete"] != true || got["notes"] != nil || got["bound"] != nil {
		t.Errorf("control: %v", got)
	}
}

// A listing whose middle did not fit is not given out as a listing.
func TestListingThatDoesNotFit(t *testing.T) {
	files := map[string]string{}
	for i := range 2500 {
		files[fmt.Sprintf("a-rather-long-name-of-a-file-in-a-directory-%06d", i)] = ""
	}
	b := newBench(t, openSettings, files)
	small, err := artifact.NewStore(artifact.Options{Dir: t.TempDir(), QuotaBytes: 100 << 10})
	must(t, err)
	defer small.Close()
	b.options.ArtifactMinter = small
	b.remake()
	if _, err := b.call("list_directory", args{"path": "."}); label(err) != "too-large" || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("%v", err)
	}
	b.options.ArtifactMinter = b.store
	b.remake()
	if got := b.ok("list_directory", args{"path": "."}); got["entries"] != 2500.0 {
		t.Errorf("control: %v", got)
	}
}
