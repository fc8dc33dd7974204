package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// onPath are the tools that take a path, by what they do with it.
var onPath = []struct {
	tool string
	verb string // read, list or write
}{
	{"open_file", "read"}, {"open_json_file", "read"}, {"open_markdown_file", "read"}, {"stage_file", "read"},
	{"list_directory", "list"}, {"save_media", "write"},
}

// do runs a tool on a path and gives all that can be read afterwards.
func (b *bench) do(tool, path string) (string, error) {
	b.t.Helper()
	a := args{"path": path}
	if tool == "save_media" {
		a["media_id"] = b.ok("create_media", args{"content": "written"})["id"]
	}
	result, err := b.call(tool, a)
	if err != nil {
		return "", err
	}
	switch tool {
	case "stage_file":
		m, _ := b.set.Medium(result["id"].(string))
		text := make([]byte, m.Size())
		_, err := m.ReadAt(text, 0)
		if len(text) > 0 && err != nil {
			b.t.Fatal(err)
		}
		return string(text), nil
	case "save_media":
		return result["path"].(string), nil
	}
	return b.content(result), nil
}

func (b *bench) outsideIsUntouched() {
	b.t.Helper()
	entries, err := os.ReadDir(b.outside)
	content, err2 := os.ReadFile(filepath.Join(b.outside, "secret"))
	if err != nil || err2 != nil || len(entries) != 1 || string(content) != secret {
		b.t.Errorf("outside: %v, %q, %v, %v", entries, content, err, err2)
	}
	around, err := os.ReadDir(filepath.Dir(b.root))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range around {
		if name := e.Name(); name != "work" && name != "work2" && name != "home" && !e.IsDir() {
			b.t.Errorf("beside the workspace stands %s", name)
		}
	}
}

// Paths and links out of the workspace, spelled in every way, on every tool that takes a path.
func TestHostilePaths(t *testing.T) {
	links := map[string]string{
		"leak": "-> /etc/shadow", "dir": "-> ../work2", "abs": "-> /etc", "up": "-> ../../work2", "pr": "-> /proc/self/root",
		"real/f": "inside", "ok": "-> real", "chain": "-> real/../dir", "real/back": "-> ../../work2/secret",
	}
	for _, c := range []struct{ path, read, list, write string }{
		{"real/f", "", "not-a-directory", ""}, // control
		{"/real/f", "", "not-a-directory", ""},
		{"ok/f", "", "not-a-directory", "link-on-write-path"},
		{"real/../real/f", "", "not-a-directory", ""},

		{"leak", "escapes-root", "escapes-root", "link-on-write-path"},
		{"dir/secret", "escapes-root", "escapes-root", "link-on-write-path"},
		{"dir/new", "escapes-root", "escapes-root", "link-on-write-path"},
		{"abs/shadow", "escapes-root", "escapes-root", "link-on-write-path"},
		{"up/secret", "escapes-root", "escapes-root", "link-on-write-path"},
		{"pr/etc/shadow", "escapes-root", "escapes-root", "link-on-write-path"},
		{"chain/secret", "escapes-root", "escapes-root", "link-on-write-path"},
		{"real/back", "escapes-root", "escapes-root", "link-on-write-path"},

		{"../work2/secret", "escapes-root", "escapes-root", "escapes-root"},
		{"/../work2/secret", "escapes-root", "escapes-root", "escapes-root"},
		{"real/../../work2/secret", "escapes-root", "escapes-root", "escapes-root"},
		{"real//../../work2/secret", "escapes-root", "escapes-root", "escapes-root"},
		{"../work/real/f", "escapes-root", "escapes-root", "escapes-root"},

		// The workspace root is the model's whole world, so a host path is a name in it that is not there.
		{"ROOT2/secret", "not-found", "not-found", "parent-missing"},
		{"ROOT/../work2/secret", "not-found", "not-found", "parent-missing"},
		{"ROOT//../work2/secret", "not-found", "not-found", "parent-missing"},
		{"ROOT/real/f", "not-found", "not-found", "parent-missing"},
		{"work2/secret", "not-found", "not-found", "parent-missing"},
		{"%2e%2e/work2/secret", "not-found", "not-found", "parent-missing"},
		{"..%2fwork2%2fsecret/x", "not-found", "not-found", "parent-missing"},
		{"file://ROOT2/secret", "not-found", "not-found", "parent-missing"},
		{"real/f ", "not-found", "not-found", ""},
		{"/etc/passwd", "not-found", "not-found", "parent-missing"},
		{"/", "is-a-directory", "", "is-a-directory"},
		{"real/", "is-a-directory", "", "is-a-directory"},

		{"real/\x00", "nul", "nul", "nul"},
		{"~/x", "tilde", "tilde", "tilde"},
		{"~root/x", "tilde", "tilde", "tilde"},
		{`C:\x`, "drive-letter", "drive-letter", "drive-letter"},
		{`\\?\C:\x`, "device-path", "device-path", "device-path"},
		{`\\host\share`, "unc", "unc", "unc"},
		{"//host/share", "unc", "unc", "unc"},
	} {
		for _, on := range onPath {
			b := newBench(t, openSettings, links)
			path := strings.ReplaceAll(c.path, "ROOT", b.root)
			got, err := b.do(on.tool, path)
			want := map[string]string{"read": c.read, "list": c.list, "write": c.write}[on.verb]
			if label(err) != want {
				t.Errorf("%s %q: %v, want %q", on.tool, c.path, err, want)
			}
			if strings.Contains(got, secret) || strings.Contains(got, "root:") {
				t.Errorf("%s %q gives what lies outside", on.tool, c.path)
			}
			if err != nil && !strings.Contains(c.path, "ROOT") && strings.Contains(err.Error(), b.root) {
				t.Errorf("%s %q shows a host path: %v", on.tool, c.path, err)
			}
			b.outsideIsUntouched()
		}
	}
}

// What the settings close for reading is told as missing by every tool, in the very bytes a model gets.
func TestClosedIsMissing(t *testing.T) {
	files := map[string]string{"a.txt": "needle", "private/k": "needle", "private/out": "-> ../../work2/secret", "id_rsa": "needle", "in": "-> private/k"}
	const closed = `{"filesystem": {"denyRead": ["./private", "./id_rsa"], "allowWrite": ["."]}}`
	for _, on := range onPath {
		for _, c := range []struct{ closed, missing string }{
			{"id_rsa", "id_rsb"}, {"private/k", "private/n"}, {"private/out", "private/nix"}, {"private/k/x", "private/n/x"},
			{"in", "no"}, {"private", "publicly"}, {"private/", "nothing/"},
		} {
			if on.verb == "write" && (!strings.HasPrefix(c.closed, "private/") || strings.HasSuffix(c.closed, "/")) {
				continue // what can be made elsewhere is made, and a link is a link
			}
			b := newBench(t, closed, files)
			got, err := b.do(on.tool, c.closed)
			_, missing := b.do(on.tool, c.missing)
			if err == nil || missing == nil {
				t.Errorf("%s %s: %q, %v, %v", on.tool, c.closed, got, err, missing)
				continue
			}
			if a, b := seen(t, err, c.closed), seen(t, missing, c.missing); a != b {
				t.Errorf("%s tells %s from %s:\n%s\n%s", on.tool, c.closed, c.missing, a, b)
			}
			open := newBench(t, openSettings, files)
			if _, err := open.do(on.tool, c.closed); on.verb != "write" && label(err) == "not-found" {
				t.Errorf("control: %s %s: %v", on.tool, c.closed, err)
			}
		}
	}
	b := newBench(t, closed, files)
	if got := b.content(b.ok("list_directory", args{"path": "."})); got != `{"kind":"item","path":"a.txt","type":"file"}
{"kind":"item","path":"in","type":"link"}
{"kind":"done","complete":true}
` {
		t.Errorf("%s", got)
	}
	if got, err := b.do("open_file", "a.txt"); err != nil || got != "needle" {
		t.Errorf("control: %q, %v", got, err)
	}
}

// seen is the JSON that a model is given, with the name that was asked for taken out.
func seen(t *testing.T, err error, asked string) string {
	t.Helper()
	text, jsonErr := json.Marshal(outcome.Of(err, "").View())
	must(t, jsonErr)
	quoted, jsonErr := json.Marshal(outcome.Quote(asked))
	must(t, jsonErr)
	return strings.ReplaceAll(string(text), strings.Trim(string(quoted), `"`), "NAME")
}

// Programs run outside the sandbox from these places; saving there is refused, whether or not they exist.
func TestProtectedPlaces(t *testing.T) {
	files := map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/hooks/": "", "sub/": ""}
	for _, path := range []string{".git/hooks/pre-commit", ".git/config", ".bashrc", ".mcp.json", ".vscode/tasks.json", ".claude/settings.json", "../x", "/.git/hooks/x"} {
		b := newBench(t, openSettings, files)
		_, err := b.call("save_media", args{"media_id": b.ok("create_media", args{"content": "x"})["id"], "path": path, "parents": true})
		want := "write-denied"
		if path == "../x" {
			want = "escapes-root"
		}
		if label(err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		if got := b.content(b.ok("list_directory", args{"path": "/"})); strings.Count(got, "\n") != 5 {
			t.Errorf("%s: something was made:\n%s", path, got)
		}
	}
	b := newBench(t, openSettings, files)
	for _, path := range []string{"sub/new", ".git/description", "hooks/pre-commit"} {
		if _, err := b.call("save_media", args{"media_id": b.ok("create_media", args{"content": "x"})["id"], "path": path, "parents": true}); err != nil {
			t.Errorf("control: %s: %v", path, err)
		}
	}
}

func TestWritesAreClosedByDefault(t *testing.T) {
	b := newBench(t, `{"filesystem": {"allowWrite": ["./out"]}}`, map[string]string{"out/": "", "f": "x"})
	id := b.ok("create_media", args{"content": "x"})["id"]
	if _, err := b.call("save_media", args{"media_id": id, "path": "f"}); label(err) != "write-denied" {
		t.Errorf("%v", err)
	}
	if got := b.ok("save_media", args{"media_id": id, "path": "out/f"}); got["path"] != "out/f" {
		t.Errorf("control: %v", got)
	}
}

func TestFIFOsDoNotBlock(t *testing.T) {
	b := newBench(t, openSettings, nil)
	must(t, unix.Mkfifo(filepath.Join(b.root, "p"), 0o644))
	for _, on := range onPath {
		if _, err := b.do(on.tool, "p"); label(err) != "not-a-regular-file" {
			t.Errorf("%s: %v", on.tool, err)
		}
	}
}

// A whole session's worth of refusals names no directory of the host, no home and no user.
func TestNoRefusalNamesTheHost(t *testing.T) {
	b := newBench(t, `{"filesystem": {"denyRead": ["~", "./private"], "allowRead": ["."], "allowWrite": ["."]}}`,
		map[string]string{"private/k": "x", "f": "x", "home": "-> ../home/alice", "loop": "-> loop"})
	for _, path := range []string{"private/k", "f/x", "home", "home/.ssh/id_rsa", "loop", "../x", "~/.ssh", strings.Repeat("n", 300), "none/none", "."} {
		for _, on := range onPath {
			_, err := b.do(on.tool, path)
			if err == nil {
				continue
			}
			shown := strings.ReplaceAll(fmt.Sprint(seen(t, err, path), err), path, "")
			for _, leak := range []string{"alice", "/tmp", "/home", filepath.Base(filepath.Dir(b.root))} {
				if strings.Contains(shown, leak) {
					t.Errorf("%s %s shows %q: %s", on.tool, path, leak, shown)
				}
			}
		}
	}
}
