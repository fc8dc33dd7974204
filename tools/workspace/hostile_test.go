package workspace_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

// hostile is one layout and what each verb must make of one path in it. The expectation begins with "ok " and what comes
// back, or is the label of the refusal.
type hostile struct {
	name             string
	layout           []string
	path             string
	open, list, save string
}

const okSave = ": 17" // the length of written

var hostileLayouts = []hostile{
	// Controls first: that the verbs work at all.
	{"file", []string{"a/f = hi"}, "a/f", "ok a/f: hi", "not-a-directory", "ok a/f" + okSave},
	{"directory", []string{"a/f = hi"}, "a", "is-a-directory", "ok file a/f", "is-a-directory"},
	{"root", []string{"a/f = hi"}, ".", "is-a-directory", "ok directory a, file a/f", "is-a-directory"},
	{"missing", nil, "f", "not-found", "not-found", "ok f" + okSave},
	{"missing directory", nil, "a/f", "not-found", "not-found", "parent-missing"},
	{"empty file", []string{"f = "}, "f", "ok f: ", "not-a-directory", "ok f" + okSave},
	{"file as a directory", []string{"f = hi"}, "f/x", "not-a-directory", "not-a-directory", "not-a-directory"},
	{"file with a final slash", []string{"f = hi"}, "f/", "not-a-directory", "not-a-directory", "is-a-directory"},
	{"directory with a final slash", []string{"a/f = hi"}, "a/", "is-a-directory", "ok file a/f", "is-a-directory"},
	{"name too long", nil, strings.Repeat("n", 300), "not-found", "not-found", "io-failure"},
	{"final space", []string{"f = no", "f  = hi"}, "f ", "ok f : hi", "not-a-directory", "ok f " + okSave},
	{"percent", []string{"%2e%2e/f = hi"}, "%2e%2e/f", "ok %2e%2e/f: hi", "not-a-directory", "ok %2e%2e/f" + okSave},
	{"brackets", []string{"[id]/* = hi"}, "[id]/*", "ok [id]/*: hi", "not-a-directory", "ok [id]/*" + okSave},
	{"not UTF-8", []string{"\xff/\xfe = hi"}, "\xff/\xfe", "ok \xff/\xfe: hi", "not-a-directory", "ok \xff/\xfe" + okSave},

	// Links that stay inside are followed by reads, and by no write.
	{"link to a file", []string{"f = hi", "ok -> f"}, "ok", "ok f: hi", "not-a-directory", "link-on-write-path"},
	{"link to a directory", []string{"real/f = hi", "ok -> real"}, "ok/f", "ok real/f: hi", "not-a-directory", "link-on-write-path"},
	{"link to a directory, new name", []string{"real/", "ok -> real"}, "ok/n", "not-found", "not-found", "link-on-write-path"},
	{"listed through a link", []string{"real/f = hi", "ok -> real"}, "ok", "is-a-directory", "ok file real/f", "link-on-write-path"},
	{"link inside, with ..", []string{"f = hi", "d/", "d/ok -> ../f"}, "d/ok", "ok f: hi", "not-a-directory", "link-on-write-path"},
	{"dangling link inside", []string{"ok -> none"}, "ok", "not-found", "not-found", "link-on-write-path"},
	{"loop", []string{"a -> b", "b -> a"}, "a", "io-failure", "io-failure", "link-on-write-path"},
	{"links in a listing", []string{"d/", "d/out -> OUTSIDE", "d/self -> ."}, "d", "is-a-directory", "ok link d/out, link d/self", "is-a-directory"},

	// Links that leave.
	{"absolute link to a file", []string{"leak -> OUTSIDE/secret"}, "leak", "escapes-root", "escapes-root", "link-on-write-path"},
	{"absolute link to a directory", []string{"dir -> OUTSIDE"}, "dir/secret", "escapes-root", "escapes-root", "link-on-write-path"},
	{"absolute link, new name", []string{"dir -> OUTSIDE"}, "dir/new", "escapes-root", "escapes-root", "link-on-write-path"},
	{"absolute link, listed", []string{"dir -> OUTSIDE"}, "dir", "escapes-root", "escapes-root", "link-on-write-path"},
	{"relative link out", []string{"up -> ../work2"}, "up/secret", "escapes-root", "escapes-root", "link-on-write-path"},
	{"link out and in again", []string{"f = hi", "up -> ../work/f"}, "up", "escapes-root", "escapes-root", "link-on-write-path"},
	{"chain out", []string{"a -> b", "b -> c/d", "c -> ..", "d/"}, "a", "escapes-root", "escapes-root", "link-on-write-path"},
	{"dangling link out", []string{"leak -> ../none"}, "leak", "escapes-root", "escapes-root", "link-on-write-path"},
	{"link to /proc/self/root", []string{"pr -> /proc/self/root"}, "pr/etc/passwd", "escapes-root", "escapes-root", "link-on-write-path"},
	{"link to /proc/self/cwd", []string{"pr -> /proc/self/cwd"}, "pr", "escapes-root", "escapes-root", "link-on-write-path"},
	{"link to /etc/shadow", []string{"leak -> /etc/shadow"}, "leak", "escapes-root", "escapes-root", "link-on-write-path"},

	// Spellings that a translator would not let through: the file system is a boundary of its own.
	{"dots", nil, "../work2/secret", "escapes-root", "escapes-root", "escapes-root"},
	{"dots to the sibling's prefix", nil, "../work-old/secret", "escapes-root", "escapes-root", "escapes-root"},
	{"absolute", nil, "/etc/passwd", "escapes-root", "escapes-root", "escapes-root"},

	// What is not a regular file is never opened, and nothing blocks.
	{"FIFO", []string{"p |"}, "p", "not-a-regular-file", "not-a-regular-file", "not-a-regular-file"},
	{"link to a FIFO", []string{"p |", "l -> p"}, "l", "not-a-regular-file", "not-a-regular-file", "link-on-write-path"},
	{"FIFO as a directory", []string{"p |"}, "p/x", "not-a-directory", "not-a-directory", "not-a-directory"},
	{"FIFO in a listing", []string{"d/", "d/p |"}, "d", "is-a-directory", "ok other d/p", "is-a-directory"},
}

// closedLayout has a directory and a file that the judge closes for reading, with a part of it open again.
var closedLayout = []string{
	"private/k = top", "private/sub/x = top", "private/out -> OUTSIDE/secret", "private/p |", "private/loop -> loop",
	"private/back -> ../a", "private/ws/f = open", "id_rsa = top", "a = hi",
	"d/", "d/in -> ../private/k", "d/nothing -> ../private/nothing", "d/out -> ../private/out",
	"d/inner -> ../private/ws/f", "d/dots -> ../private/sub/../../a", "d/nodots -> ../private/none/../../a",
	"d/over -> ../private/back", "d/nover -> ../private/none"}

func closedJudge(j *judge) {
	j.closed, j.opened = []string{"private", "id_rsa"}, []string{"private/ws"}
}

// A path that is closed, and one spelled alike that is missing.
var closedPaths = []struct{ closed, missing string }{
	{"id_rsa", "id_rsb"},
	{"id_rsa/", "id_rsb/"},
	{"id_rsa/x", "id_rsb/x"},
	{"private/k", "private/n"},
	{"private/k/x", "private/n/x"},
	{"private/sub", "private/nub"},
	{"private/sub/x", "private/sub/n"},
	{"private/sub/x", "private/nub/x"},
	{"private/out", "private/nut"},
	{"private/out/x", "private/nut/x"},
	{"private/p", "private/n"},
	{"private/p/x", "private/n/x"},
	{"private/loop", "private/noop"},
	{"private/back", "private/nack"},
	{"d/in", "d/no"},
	{"d/in", "d/nothing"},
	{"d/out", "d/not"},
	{"d/dots", "d/nodots"},
	{"d/over", "d/nover"},
}

func check(t *testing.T, op, want, got string, err error) {
	t.Helper()
	if have := label(err); have != "" {
		got = have
	} else {
		got = "ok " + got
	}
	if got != want {
		t.Errorf("%s: got %q (%v), want %q", op, got, err, want)
	}
}

func TestHostileLayouts(t *testing.T) {
	for _, c := range hostileLayouts {
		t.Run(c.name, func(t *testing.T) {
			for i, v := range verbs() {
				root, outside, _, ws := place(t)
				build(t, root, outside, c.layout...)
				got, err := v.do(ws, c.path)
				check(t, v.name, []string{c.open, c.list, c.save}[i], got, err)
				if strings.Contains(got, secret) {
					t.Errorf("%s gives what lies outside", v.name)
				}
				mustBeUntouched(t, root)
			}
		})
	}
}

// The same links, followed by plain calls, do lead outside: the rows above are refused by our doing.
func TestHostileLayoutsLeadOutsideWithoutUs(t *testing.T) {
	root, outside, _, _ := place(t)
	build(t, root, outside, "leak -> OUTSIDE/secret", "dir -> OUTSIDE", "up -> ../work2")
	for _, path := range []string{"leak", "dir/secret", "up/secret", "../work2/secret"} {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || string(content) != secret {
			t.Errorf("%s: %q, %v", path, content, err)
		}
	}
}

func TestSocketsAndDevices(t *testing.T) {
	root, _, _, ws := place(t)
	short := filepath.Join(root, "s") // a socket's path has 108 bytes at most
	if len(short) < 108 {
		l, err := net.Listen("unix", short)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	} else {
		t.Logf("no socket: %s is too long", short)
		build(t, root, "", "s |")
	}
	paths := []string{"s"}
	if os.Geteuid() == 0 {
		if err := unix.Mknod(filepath.Join(root, "null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, "null")
	}
	for _, path := range paths {
		for _, v := range verbs() {
			if _, err := v.do(ws, path); label(err) != "not-a-regular-file" {
				t.Errorf("%s %s: %v", v.name, path, err)
			}
		}
	}
}

// A closed entry is told exactly as a missing one, whatever it is; and with the judge's rules gone, each of them is told
// as something else, so that the comparison can fail.
func TestClosedEntriesAreToldAsMissing(t *testing.T) {
	for _, v := range verbs() {
		if v.name == "save" {
			continue
		}
		root, outside, j, ws := place(t)
		build(t, root, outside, closedLayout...)
		for _, c := range closedPaths {
			closedJudge(j)
			got, err := v.do(ws, c.closed)
			_, missing := v.do(ws, c.missing)
			if err == nil || missing == nil {
				t.Errorf("%s %s: %q, %v; %s: %v", v.name, c.closed, got, err, c.missing, missing)
				continue
			}
			if a, b := view(err, c.closed), view(missing, c.missing); a != b {
				t.Errorf("%s %s and %s are told apart:\n%s\n%s", v.name, c.closed, c.missing, a, b)
			}
			j.closed, j.opened = nil, nil
			if _, err := v.do(ws, c.closed); err != nil && view(err, c.closed) == view(missing, c.missing) {
				t.Errorf("%s %s: the control is told as missing too", v.name, c.closed)
			}
		}
	}
}

// A save into a closed place is refused in the same words whether or not something is there.
func TestSaveTellsNothingOfClosedPlaces(t *testing.T) {
	root, outside, j, ws := place(t)
	build(t, root, outside, closedLayout...)
	closedJudge(j)
	save := verbs()[2]
	for _, c := range closedPaths {
		if strings.HasSuffix(c.closed, "/") || strings.HasPrefix(c.closed, "d/") || strings.HasPrefix(c.missing, "id_rsb") {
			continue
		}
		_, err := save.do(ws, c.closed)
		_, missing := save.do(ws, c.missing)
		if label(err) != "write-denied" || view(err, c.closed) != view(missing, c.missing) {
			t.Errorf("%s: %v; %s: %v", c.closed, err, c.missing, missing)
		}
	}
	if got, err := save.do(ws, "private/ws/f"); err != nil {
		t.Errorf("control: %q, %v", got, err)
	}
}

func TestOpenedInsideClosed(t *testing.T) {
	root, outside, j, ws := place(t)
	build(t, root, outside, closedLayout...)
	closedJudge(j)
	for _, c := range []struct{ verb, path, want string }{
		{"open", "private/ws/f", "ok private/ws/f: open"},
		{"open", "d/inner", "ok private/ws/f: open"},
		{"list", "private/ws", "ok file private/ws/f"},
		{"list", "private", "ok directory private/ws, file private/ws/f"},
		{"list", ".", "ok file a, directory d, link d/dots, link d/in, link d/inner, link d/nodots, link d/nothing, link d/nover, link d/out, link d/over, directory private, directory private/ws, file private/ws/f"},
	} {
		for _, v := range verbs() {
			if v.name == c.verb {
				got, err := v.do(ws, c.path)
				check(t, v.name+" "+c.path, c.want, got, err)
			}
		}
	}
}

func TestProtectedPathsCannotBeSaved(t *testing.T) {
	root, outside, j, ws := place(t)
	build(t, root, outside, ".git/hooks/", "d/")
	save := verbs()[2]
	j.protected = []string{".git/hooks", ".mcp.json"}
	for _, path := range []string{".git/hooks/pre-commit", ".mcp.json", ".git/hooks"} {
		if _, err := save.do(ws, path); label(err) != "write-denied" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(root, ".mcp.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a protected file was made: %v", err)
	}
	j.protected = nil
	for _, path := range []string{".git/hooks/pre-commit", ".mcp.json"} {
		if _, err := save.do(ws, path); err != nil {
			t.Errorf("control: %s: %v", path, err)
		}
	}
}

// A root that is moved keeps its rules: they speak of the place by the name it had.
func TestMovedRootKeepsItsRules(t *testing.T) {
	root, outside, j, ws := place(t)
	build(t, root, outside, closedLayout...)
	closedJudge(j)
	if err := os.Rename(root, root+"-moved"); err != nil {
		t.Fatal(err)
	}
	open := verbs()[0]
	if _, err := open.do(ws, "private/k"); label(err) != "denied" {
		t.Errorf("closed: %v", err)
	}
	if got, err := open.do(ws, "a"); err != nil || got != "a: hi" {
		t.Errorf("control: %q, %v", got, err)
	}
}

func TestNothingAfterClose(t *testing.T) {
	root, outside, _, ws := place(t)
	build(t, root, outside, "a = hi")
	if err := ws.Close(); err != nil {
		t.Fatal(err)
	}
	for _, v := range verbs() {
		_, err := v.do(ws, "a")
		if label(err) != "session-closed" {
			t.Errorf("%s: %v", v.name, err)
		}
	}
	if content, err := os.ReadFile(filepath.Join(root, "a")); err != nil || string(content) != "hi" {
		t.Errorf("%q, %v", content, err)
	}
}

func TestLocate(t *testing.T) {
	root, outside, _, ws := place(t)
	build(t, root, outside, "out/deep/", "l -> out", "f = x", "leave -> OUTSIDE")
	for host, want := range map[string]string{root: ".", root + "/": ".", root + "/out/deep": "out/deep", root + "/l/deep": "out/deep"} {
		if got, err := ws.Locate(host); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", host, got, err, want)
		}
	}
	for _, host := range []string{outside, root + "2", root + "-old", root + "/leave", filepath.Dir(root), "out", "", root + "/f", root + "/none"} {
		if got, err := ws.Locate(host); err == nil {
			t.Errorf("%s: got %q", host, got)
		}
	}
}

var _ workspace.FileSystem = (*workspace.Root)(nil)
