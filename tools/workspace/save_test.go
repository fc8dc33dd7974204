package workspace_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

func save(t *testing.T, ws *workspace.Root, req workspace.SaveRequest) (workspace.Saved, error) {
	t.Helper()
	if req.Under == "" {
		req.Under = "."
	}
	return ws.Save(context.Background(), req)
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func onlyThese(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

func TestSaveKeepsBytes(t *testing.T) {
	for name, text := range map[string]string{
		"dollars":       "$$100 $& $1 ${x} \\1 %s",
		"line ends":     "a\r\nb\nc\rd",
		"byte mark":     "\ufeffx",
		"no final line": "a\nb",
		"NUL":           "a\x00b",
		"not UTF-8":     "a\xff\xfe\xc3",
		"empty":         "",
		"large":         strings.Repeat("0123456789abcdef", 1<<17),
	} {
		root, _, _, ws := place(t)
		for range 2 { // once new, once in place of the first
			saved, err := save(t, ws, workspace.SaveRequest{Path: "f", Content: []byte(text)})
			if err != nil || saved.Bytes != int64(len(text)) || saved.Path != "f" {
				t.Errorf("%s: %+v, %v", name, saved, err)
			}
			if got := content(t, filepath.Join(root, "f")); got != text {
				t.Errorf("%s: saved other bytes (%d, want %d)", name, len(got), len(text))
			}
		}
		onlyThese(t, root, "f")
	}
}

func TestSaveKeepsModeAndOwner(t *testing.T) {
	root, _, _, ws := place(t)
	path := filepath.Join(root, "f")
	build(t, root, "", "f = old")
	for mode, want := range map[os.FileMode]os.FileMode{
		0o640: 0o640, 0o755: 0o755, 0o600: 0o600, 0o666: 0o666,
		0o755 | os.ModeSetuid: 0o755, 0o755 | os.ModeSetgid: 0o755, 0o644 | os.ModeSticky: 0o644 | os.ModeSticky,
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := save(t, ws, workspace.SaveRequest{Path: "f", Content: []byte("new")}); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil || st.Mode() != want {
			t.Errorf("%v became %v, %v", mode, st.Mode(), err)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 1234, 5678); err != nil {
			t.Fatal(err)
		}
		if _, err := save(t, ws, workspace.SaveRequest{Path: "f", Content: []byte("newer")}); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if sys := st.Sys().(*syscall.Stat_t); sys.Uid != 1234 || sys.Gid != 5678 {
			t.Errorf("the owner became %d:%d", sys.Uid, sys.Gid)
		}
	}
}

func TestSaveIsAtomic(t *testing.T) {
	root, _, _, ws := place(t)
	build(t, root, "", "f = old text")
	before, err := os.Open(filepath.Join(root, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	saved, err := save(t, ws, workspace.SaveRequest{Path: "f", Content: []byte("new")})
	if err != nil || saved.InPlace || saved.Created {
		t.Fatalf("%+v, %v", saved, err)
	}
	if old, err := io.ReadAll(before); err != nil || string(old) != "old text" {
		t.Errorf("who had the file open reads %q, %v", old, err)
	}
}

// Where the settings open the file and nothing beside it, a program in the sandbox can overwrite it and not replace it.
func TestSaveInPlaceWhereOnlyTheFileIsOpen(t *testing.T) {
	for name, pinned := range map[string][]string{
		"pinned":                {"d/f"},
		"closed directory":      nil,
		"control: all is open":  nil,
		"control: other pinned": {"d/g"},
	} {
		root, _, j, ws := place(t)
		build(t, root, "", "d/f = a longer old text")
		j.pinned = pinned
		if name == "closed directory" {
			var err error
			if ws, err = workspace.NewRoot(root, judgeWithoutNewFiles{j}); err != nil {
				t.Fatal(err)
			}
			defer ws.Close()
		}
		before, err := os.Stat(filepath.Join(root, "d/f"))
		if err != nil {
			t.Fatal(err)
		}
		saved, err := save(t, ws, workspace.SaveRequest{Path: "d/f", Content: []byte("new")})
		after, err2 := os.Stat(filepath.Join(root, "d/f"))
		inPlace := !strings.HasPrefix(name, "control")
		if err != nil || err2 != nil || saved.InPlace != inPlace || os.SameFile(before, after) != inPlace {
			t.Errorf("%s: %+v, %v, %v", name, saved, err, err2)
		}
		if got := content(t, filepath.Join(root, "d/f")); got != "new" {
			t.Errorf("%s: %q", name, got)
		}
		onlyThese(t, filepath.Join(root, "d"), "f")
	}
}

func TestSaveBelowTheWriteRoot(t *testing.T) {
	for path, want := range map[string]string{
		"out/f": "", "out/deep/f": "", "f": "outside-write-root", "out2/f": "outside-write-root",
		"out": "outside-write-root", "deep/out/f": "outside-write-root",
	} {
		root, _, _, ws := place(t)
		build(t, root, "", "out/deep/", "out2/", "deep/out/")
		_, err := save(t, ws, workspace.SaveRequest{Path: path, Under: "out", Content: []byte("x"), Parents: true})
		if label(err) != want {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if _, err := os.Stat(filepath.Join(root, path)); (err == nil) != (want == "") && path != "out" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSaveMakesParents(t *testing.T) {
	root, outside, j, ws := place(t)
	build(t, root, outside, "l -> OUTSIDE", "file = x")
	j.protected = []string{".git/hooks", "a/b/c/closed"}
	for path, want := range map[string]string{
		"a/b/c/f": "", "l/n/f": "link-on-write-path", "file/n/f": "not-a-directory",
		".git/hooks/x/f": "write-denied", "a/b/c/closed/f": "write-denied",
	} {
		_, err := save(t, ws, workspace.SaveRequest{Path: path, Content: []byte("x"), Parents: true})
		if label(err) != want {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := save(t, ws, workspace.SaveRequest{Path: "out/x/f", Under: "out/x", Content: []byte("x"), Parents: true}); label(err) != "outside-write-root" {
		t.Errorf("the write root's own parent was made: %v", err)
	}
	onlyThese(t, root, "a", "file", "l")
	onlyThese(t, outside, "secret")
}

// A save that fails leaves nothing: not the new file, not the directories it made.
func TestFailedSaveLeavesNothing(t *testing.T) {
	root, _, j, ws := place(t)
	strict, err := workspace.NewRoot(root, judgeWithoutNewFiles{j})
	if err != nil {
		t.Fatal(err)
	}
	defer strict.Close()
	if _, err := save(t, strict, workspace.SaveRequest{Path: "a/b/f", Content: []byte("x"), Parents: true}); label(err) != "write-denied" {
		t.Errorf("%v", err)
	}
	onlyThese(t, root)
	if _, err := save(t, ws, workspace.SaveRequest{Path: "a/b/" + strings.Repeat("n", 300), Content: []byte("x"), Parents: true}); label(err) != "io-failure" {
		t.Errorf("%v", err)
	}
	onlyThese(t, root)
}

// judgeWithoutNewFiles opens the name that is asked for and no other in its directory.
type judgeWithoutNewFiles struct{ *judge }

func (j judgeWithoutNewFiles) CanWrite(path string) (d decision) {
	d = j.judge.CanWrite(path)
	d.Allowed = d.Allowed && !strings.HasPrefix(filepath.Base(path), ".sandboxctl-")
	return d
}

func TestSaveNoticesAChange(t *testing.T) {
	old := []byte("as staged")
	for name, c := range map[string]struct {
		change    func(t *testing.T, path string)
		overwrite bool
		want      string
	}{
		"unchanged": {change: func(*testing.T, string) {}},
		"touched":   {change: func(t *testing.T, path string) { must(t, os.WriteFile(path, old, 0o644)) }},
		"replaced alike": {change: func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.WriteFile(path, old, 0o644))
		}},
		"removed":              {change: func(t *testing.T, path string) { must(t, os.Remove(path)) }},
		"longer":               {change: func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("as staged!"), 0o644)) }, want: "changed-on-disk"},
		"same length":          {change: func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("as stagee"), 0o644)) }, want: "changed-on-disk"},
		"emptied":              {change: func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) }, want: "changed-on-disk"},
		"changed, overwritten": {change: func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("theirs"), 0o644)) }, overwrite: true},
	} {
		root, _, _, ws := place(t)
		path := filepath.Join(root, "f")
		must(t, os.WriteFile(path, old, 0o644))
		f, err := ws.Open(context.Background(), "f")
		if err != nil {
			t.Fatal(err)
		}
		stamp, err := f.Stamp()
		must(t, err)
		must(t, f.Close())
		c.change(t, path)
		base := &workspace.Base{Stamp: stamp, Sum: sha256.Sum256(old)}
		_, err = save(t, ws, workspace.SaveRequest{Path: "f", Content: []byte("mine"), Base: base, Overwrite: c.overwrite})
		if label(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if mine := bytes.Equal([]byte(content(t, path)), []byte("mine")); mine != (c.want == "") {
			t.Errorf("%s: holds %q", name, content(t, path))
		}
	}
}

func TestSavedStampIsTheNextBase(t *testing.T) {
	root, _, _, ws := place(t)
	build(t, root, "", "f = one")
	first, err := save(t, ws, workspace.SaveRequest{Path: "f", Content: []byte("two")})
	must(t, err)
	// A sum that fits nothing: only the stamp can say that the file is unchanged.
	if _, err := save(t, ws, workspace.SaveRequest{Path: "f", Content: []byte("three"), Base: &workspace.Base{Stamp: first.Stamp}}); err != nil {
		t.Errorf("%v", err)
	}
	if _, err := save(t, ws, workspace.SaveRequest{Path: "f", Content: []byte("four"), Base: &workspace.Base{Stamp: first.Stamp}}); label(err) != "changed-on-disk" {
		t.Errorf("control: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// meddler does something to the tree at the moment when the judge is asked about the new file's own name: after the old
// file and the directory were looked at, before anything is written.
type meddler struct {
	*judge
	meddle func()
}

func (m meddler) CanWrite(path string) decision {
	if strings.HasPrefix(filepath.Base(path), ".sandboxctl-") {
		m.meddle()
	}
	return m.judge.CanWrite(path)
}

func TestSaveSeesWhatHappensMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		meddle func(t *testing.T, root string)
		want   string
		files  map[string]string
	}{
		"control":        {"d/f", func(*testing.T, string) {}, "", map[string]string{"d/f": "mine"}},
		"file rewritten": {"d/f", func(t *testing.T, root string) { must(t, os.WriteFile(root+"/d/f", []byte("theirs"), 0o644)) }, "changed-on-disk", map[string]string{"d/f": "theirs"}},
		"file removed":   {"d/f", func(t *testing.T, root string) { must(t, os.Remove(root+"/d/f")) }, "changed-on-disk", nil},
		"file made":      {"d/n", func(t *testing.T, root string) { must(t, os.WriteFile(root+"/d/n", []byte("theirs"), 0o644)) }, "changed-on-disk", map[string]string{"d/n": "theirs"}},
		"made a link": {"d/f", func(t *testing.T, root string) {
			must(t, os.Remove(root+"/d/f"))
			must(t, os.Symlink("../other", root+"/d/f"))
		}, "link-on-write-path", map[string]string{"other": "other"}},
		"directory moved": {"d/f", func(t *testing.T, root string) { must(t, os.Rename(root+"/d", root+"/d2")) }, "io-failure", map[string]string{"d2/f": "old"}},
		"directory swapped": {"d/f", func(t *testing.T, root string) {
			must(t, os.Rename(root+"/d", root+"/d2"))
			must(t, os.Symlink("../work2", root+"/d"))
		}, "io-failure", map[string]string{"d2/f": "old"}},
		"directory moved out": {"d/f", func(t *testing.T, root string) { must(t, os.Rename(root+"/d", filepath.Dir(root)+"/gone")) }, "io-failure", map[string]string{"../gone/f": "old"}},
	} {
		root, outside, j, _ := place(t)
		build(t, root, outside, "d/f = old", "other = other")
		ws, err := workspace.NewRoot(root, meddler{j, func() { c.meddle(t, root) }})
		must(t, err)
		_, err = save(t, ws, workspace.SaveRequest{Path: c.path, Content: []byte("mine")})
		if label(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		for path, want := range c.files {
			if got := content(t, filepath.Join(root, path)); got != want {
				t.Errorf("%s: %s holds %q, want %q", name, path, got, want)
			}
		}
		onlyThese(t, outside, "secret")
		must(t, ws.Close())
	}
}
