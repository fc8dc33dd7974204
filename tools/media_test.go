package tools_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

func (b *bench) medium(id any) string {
	b.t.Helper()
	m, ok := b.set.Medium(id.(string))
	if !ok {
		b.t.Fatalf("there is no medium %v", id)
	}
	text := make([]byte, m.Size())
	if n, err := m.ReadAt(text, 0); n != len(text) {
		b.t.Fatalf("%d of %d bytes: %v", n, len(text), err)
	}
	return string(text)
}

func git(t *testing.T, dir string, arg ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.test"}, arg...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", arg, err, out)
	}
	return string(out)
}

// Stage, patch, and the working tree is clean; save, and it is not.
func TestNothingIsOnDiskUntilSaved(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test needs git")
	}
	b := newBench(t, openSettings, map[string]string{"src/config.ts": "export const timeout: number = 30\nexport const x = 1\n"})
	git(t, b.root, "init", "-q")
	git(t, b.root, "add", ".")
	git(t, b.root, "commit", "-qm", "first")
	staged := b.ok("stage_file", args{"path": "src/config.ts"})
	patched := b.ok("apply_patch", args{"media_id": staged["id"], "patch": args{"find": "= 30", "replace": "= 60"}})
	if out := git(t, b.root, "status", "--porcelain"); out != "" {
		t.Errorf("before the save: %s", out)
	}
	saved := b.ok("save_media", args{"media_id": patched["id"], "path": "src/config.ts"})
	if saved["bytes"] != 53.0 {
		t.Errorf("%v", saved)
	}
	if saved["path"] != "src/config.ts" || saved["replaced"] != true {
		t.Errorf("%v", saved)
	}
	diff := git(t, b.root, "diff", "-U0")
	if !strings.Contains(diff, "-export const timeout: number = 30\n+export const timeout: number = 60\n") || strings.Contains(diff, "mode") {
		t.Errorf("after the save: %s", diff)
	}
}

func TestStagedMedium(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
	b := newBench(t, openSettings, map[string]string{"a.ts": "let x: number = 1\n", "pic.txt": png, "fake.png": "#!/bin/sh\necho hi\n", "run.txt": "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60),
		"empty": "", "data.json": `{"a": 1}`, "README.md": "# hi\n", "noise.png": "\x00\x01\x02\xff\xfe"})
	for path, want := range map[string]string{
		"a.ts": "text/x-typescript text", "pic.txt": "image/png image", "fake.png": "text/x-shellscript text", "run.txt": "application/x-elf binary",
		"empty": "text/plain text", "data.json": "application/json text", "README.md": "text/markdown text", "noise.png": "application/octet-stream binary",
	} {
		m := b.ok("stage_file", args{"path": path})
		got := fmt.Sprint(m["mimeType"], " ", m["kind"])
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if m["trustTier"] != "third-party-private" || m["saved"] != false || m["name"] != path || m["byteLength"] != float64(len(b.file(path))) {
			t.Errorf("%s: %v", path, m)
		}
	}
	b.options.MimeResolver = func(name string, head []byte) string { return "x/" + name }
	b.remake()
	if m := b.ok("stage_file", args{"path": "a.ts"}); m["mimeType"] != "x/a.ts" {
		t.Errorf("own resolver: %v", m)
	}
}

func TestCreateMedia(t *testing.T) {
	b := newBench(t, openSettings, nil)
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"))
	for _, c := range []struct {
		args args
		want string // MIME type and content, or the label
	}{
		{args{"content": "a\r\nb$1"}, "text/plain a\r\nb$1"},
		{args{"content": ""}, "text/plain "},
		{args{"content": "x", "name": "a/b.go"}, "text/x-go x"},
		{args{"content": "/wA=", "encoding": "base64"}, "application/octet-stream \xff\x00"},
		{args{"content": "aGk=", "encoding": "utf-8"}, "text/plain aGk="},
		{args{"content": "key: 1", "mime_type": "application/yaml"}, "application/yaml key: 1"},
		{args{"content": "x", "mime_type": "text/x-anything"}, "text/x-anything x"},
		{args{"content": png, "encoding": "base64", "mime_type": "image/png"}, "image/png \x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"},
		{args{"content": "#!/bin/sh", "mime_type": "image/png"}, "invalid-arguments"},
		{args{"content": png, "encoding": "base64", "mime_type": "text/plain"}, "invalid-arguments"},
		{args{"content": "a", "encoding": "base64"}, "invalid-arguments"},
		{args{"content": "aGk", "encoding": "base64"}, "invalid-arguments"},
	} {
		m, err := b.call("create_media", c.args)
		got := label(err)
		if err == nil {
			got = m["mimeType"].(string) + " " + b.medium(m["id"])
		}
		if got != c.want {
			t.Errorf("%v: %q (%v), want %q", c.args, got, err, c.want)
		}
	}
}

func TestListMedia(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"f": "one"})
	if got := b.ok("list_media", args{}); fmt.Sprint(got["media"]) != "[]" {
		t.Errorf("%v", got)
	}
	first := b.ok("stage_file", args{"path": "f"})["id"]
	second := b.ok("apply_patch", args{"media_id": first, "patch": args{"find": "one", "replace": "two"}})["id"]
	b.ok("save_media", args{"media_id": second, "path": "g"})
	var got []string
	for _, m := range b.ok("list_media", args{})["media"].([]any) {
		m := m.(map[string]any)
		got = append(got, fmt.Sprint(m["id"], m["name"], m["from"], m["saved"]))
	}
	if want := []string{fmt.Sprint(first, "f", nil, false), fmt.Sprint(second, "g", first, true)}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Bytes come out as they went in, whatever they mean to some other program.
func TestPatchKeepsBytes(t *testing.T) {
	texts := map[string]string{
		"dollars": "$$100", "whole match": "$&", "group": "$1", "braces": "${x}", "backslash": `\1`, "percent": "%s", "line end": "a\r\nb", "NUL": "a\x00b",
		"quotes": `"'`, "pattern": ".*", "nothing": "", "mark": "\ufeff", "new line": "\n", "html": "<&>\u2028",
	}
	for name, text := range texts {
		before, after := "\ufefffirst\r\n\xff\xfe mid ", "\x00 last"
		b := newBench(t, openSettings, map[string]string{"f": before + "HERE" + after})
		must(t, os.Chmod(filepath.Join(b.root, "f"), 0o640))
		staged := b.ok("stage_file", args{"path": "f"})
		patched := b.ok("apply_patch", args{"media_id": staged["id"], "patch": args{"find": "HERE", "replace": text}})
		b.ok("save_media", args{"media_id": patched["id"], "path": "f"})
		if got := b.file("f"); got != before+text+after {
			t.Errorf("%s: %q", name, got)
		}
		if st, err := os.Stat(filepath.Join(b.root, "f")); err != nil || st.Mode() != 0o640 {
			t.Errorf("%s: mode %v, %v", name, st.Mode(), err)
		}
		if got := b.medium(staged["id"]); got != before+"HERE"+after {
			t.Errorf("%s: the staged medium became %q", name, got)
		}
		if text == "" {
			continue
		}
		// And as what is looked for.
		created := b.ok("create_media", args{"content": "x" + text + "y"})
		found := b.ok("apply_patch", args{"media_id": created["id"], "patch": args{"find": text, "replace": "-"}})
		if got := b.medium(found["id"]); got != "x-y" {
			t.Errorf("%s is found as %q", name, got)
		}
	}
	b := newBench(t, openSettings, map[string]string{"f": "a\xff\xfeb"})
	staged := b.ok("stage_file", args{"path": "f"})
	patched := b.ok("apply_patch", args{"media_id": staged["id"], "patch": args{"find": "//4=", "replace": "wyg=", "encoding": "base64"}})
	if got := b.medium(patched["id"]); got != "a\xc3\x28b" {
		t.Errorf("bytes: %q", got)
	}
}

func TestUnknownMedia(t *testing.T) {
	b := newBench(t, openSettings, nil)
	for _, call := range []string{"apply_patch", "save_media"} {
		a := args{"media_id": "media-9", "path": "f"}
		if call == "apply_patch" {
			a = args{"media_id": "media-9", "patch": args{"find": "a", "replace": "b"}}
		}
		if _, err := b.call(call, a); label(err) != "unknown-media" || !strings.Contains(err.Error(), `"media-9"`) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestSaveNoticesAChangeSinceStaging(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"f": "one", "d/": "", "l": "-> f"})
	staged := b.ok("stage_file", args{"path": "/d/../f"})["id"]
	patched := b.ok("apply_patch", args{"media_id": staged, "patch": args{"find": "one", "replace": "mine"}})["id"]
	throughLink := b.ok("stage_file", args{"path": "l"})["id"]
	write(t, b.root, map[string]string{"f": "theirs"})
	for _, id := range []any{staged, patched, throughLink} {
		if _, err := b.call("save_media", args{"media_id": id, "path": "f"}); label(err) != "changed-on-disk" {
			t.Errorf("%v: %v", id, err)
		}
	}
	if got := b.file("f"); got != "theirs" {
		t.Errorf("%q", got)
	}
	b.ok("save_media", args{"media_id": patched, "path": "elsewhere"})
	b.ok("save_media", args{"media_id": patched, "path": "f", "overwrite": true})
	again := b.ok("apply_patch", args{"media_id": patched, "patch": args{"find": "mine", "replace": "more"}})["id"]
	if got := b.ok("save_media", args{"media_id": again, "path": "f"}); got["replaced"] != true || b.file("f") != "more" {
		t.Errorf("what was saved is what the next save starts from: %v, %q", got, b.file("f"))
	}
	// A change made from the file as it was before that save would undo it.
	stale := b.ok("apply_patch", args{"media_id": staged, "patch": args{"find": "one", "replace": "stale"}})["id"]
	if _, err := b.call("save_media", args{"media_id": stale, "path": "f"}); label(err) != "changed-on-disk" {
		t.Errorf("%v", err)
	}
	if got := b.ok("save_media", args{"media_id": stale, "path": "new"}); got["replaced"] != false || got["bytes"] != 5.0 {
		t.Errorf("%v", got)
	}
}

func TestSaveArguments(t *testing.T) {
	b := newBench(t, openSettings, nil)
	id := b.ok("create_media", args{"content": "x"})["id"]
	if _, err := b.call("save_media", args{"media_id": id, "path": "a/b/f"}); label(err) != "parent-missing" {
		t.Errorf("%v", err)
	}
	if got := b.ok("save_media", args{"media_id": id, "path": "a/b/f", "parents": true}); got["path"] != "a/b/f" || b.file("a/b/f") != "x" {
		t.Errorf("%v", got)
	}
	narrow := newBench(t, openSettings, map[string]string{"out/": "", "out2/": ""}, func(b *bench) { b.options.WriteRoot += "/out" })
	id = narrow.ok("create_media", args{"content": "x"})["id"]
	for path, want := range map[string]string{"f": "outside-write-root", "out2/f": "outside-write-root", "out/../f": "outside-write-root", "out/f": "", "/out/g": ""} {
		if _, err := narrow.call("save_media", args{"media_id": id, "path": path}); label(err) != want {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	tool, _ := narrow.set.Tool("save_media")
	if !strings.Contains(tool.Description, ` below "out"`) || strings.Contains(tool.Description, narrow.root) {
		t.Errorf("%q", tool.Description)
	}
}

func TestSaveSaysWhenItWasInPlace(t *testing.T) {
	b := newBench(t, `{"filesystem": {"allowWrite": ["./f"]}}`, map[string]string{"f": "old"})
	staged := b.ok("stage_file", args{"path": "f"})["id"]
	patched := b.ok("apply_patch", args{"media_id": staged, "patch": args{"find": "old", "replace": "new"}})["id"]
	got := b.ok("save_media", args{"media_id": patched, "path": "f"})
	if notes := fmt.Sprint(got["notes"]); !strings.Contains(notes, "in place") || b.file("f") != "new" {
		t.Errorf("%v, %q", got, b.file("f"))
	}
	if _, err := b.call("save_media", args{"media_id": patched, "path": "g"}); label(err) != "write-denied" {
		t.Errorf("%v", err)
	}
}

// Memory is bounded. What is on disk, or has a newer form, makes room; what is neither never does.
func TestMediaAreBounded(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"big": strings.Repeat("x", 60)}, func(b *bench) { b.options.MaxMediaBytes = 100 })
	first := b.ok("create_media", args{"content": strings.Repeat("1", 50)})["id"]
	for _, tool := range []string{"stage_file", "create_media"} {
		a := args{"path": "big"}
		if tool == "create_media" {
			a = args{"content": strings.Repeat("y", 60)}
		}
		if _, err := b.call(tool, a); label(err) != "too-large" {
			t.Errorf("%s: %v", tool, err)
		}
	}
	b.ok("save_media", args{"media_id": first, "path": "one"})
	big := b.ok("stage_file", args{"path": "big"})["id"]
	if _, err := b.call("save_media", args{"media_id": first, "path": "one"}); label(err) != "unknown-media" {
		t.Errorf("what was saved is still held: %v", err)
	}
	patched := b.ok("apply_patch", args{"media_id": big, "patch": args{"find": "x", "replace": "", "all": true}})["id"]
	grown, err := b.call("apply_patch", args{"media_id": big, "patch": args{"find": "x", "replace": strings.Repeat("z", 1000), "all": true}})
	if label(err) != "too-large" {
		t.Errorf("%v, %v", grown, err)
	}
	b.ok("create_media", args{"content": strings.Repeat("2", 90)})
	if got := b.medium(patched); got != "" {
		t.Errorf("%q", got)
	}
	if _, ok := b.set.Medium(big.(string)); ok {
		t.Error("what has a newer form is still held")
	}
}

// torn is a file that is written to while it is read.
type torn struct {
	workspace.File
	reads *int
}

func (f torn) ReadAt(p []byte, off int64) (int, error) { *f.reads++; return f.File.ReadAt(p, off) }

func (f torn) Stamp() (workspace.Stamp, error) {
	s, err := f.File.Stamp()
	s.Ctime += int64(*f.reads)
	return s, err
}

type tornFS struct {
	workspace.FileSystem
	reads *int
}

func (f tornFS) Open(ctx context.Context, path string) (workspace.File, error) {
	file, err := f.FileSystem.Open(ctx, path)
	return torn{file, f.reads}, err
}

func TestStageTakesOneState(t *testing.T) {
	reads := 0
	b := newBench(t, openSettings, map[string]string{"f": "text"}, func(b *bench) { b.options.FileSystem = tornFS{b.options.FileSystem, &reads} })
	if _, err := b.call("stage_file", args{"path": "f"}); label(err) != "io-failure" || reads < 2 {
		t.Errorf("%v after %d reads", err, reads)
	}
}

func TestCancelledWork(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"f": "text"})
	id := b.ok("create_media", args{"content": "x"})["id"]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tool := range b.set.Tools() {
		text := callsOf("f")[tool.Name]
		_, err := tool.Handler(ctx, []byte(strings.ReplaceAll(text, "media-1", id.(string))))
		if label(err) != "aborted" || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}
