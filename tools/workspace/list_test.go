package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

func list(ws workspace.FileSystem, req workspace.ListRequest) ([]workspace.Entry, frame.Done, error) {
	var all []workspace.Entry
	done, err := frame.Each(ws.List(context.Background(), req), func(e workspace.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, done, err
}

func paths(entries []workspace.Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Path)
	}
	return all
}

// walked gives what the standard library finds, in the same order: each directory before what it holds, names by bytes.
func walked(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != root {
			all = append(all, strings.TrimPrefix(path, root+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func oddTree(t *testing.T, root string, dirs int) {
	build(t, root, "", "blog.md = x", "catalog.md = x", "template.md = x", "a.log = x", ".hidden = x", ".git/config = x",
		"node_modules/x = x", "e\u0301.txt = x", "\u00e9.txt = x", "a\nb = x", "-rf = x", "a b = x", "[id]/* = x", "\xff = x",
		"log/tmp/temp = x", "x -> blog.md", "up -> ..", "p |", "empty/", ".gitignore = *")
	for i := range dirs {
		for k := range 100 {
			name := filepath.Join(root, fmt.Sprintf("many/%d/file-%d.txt", i, k))
			if k == 0 {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(name, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestListIsCompleteAndOrdered(t *testing.T) {
	root, _, _, ws := place(t)
	oddTree(t, root, 50)
	want := walked(t, root)
	if len(want) < 5050 {
		t.Fatalf("the tree has only %d entries", len(want))
	}
	for range 2 {
		got, done, err := list(ws, workspace.ListRequest{Path: "."})
		if err != nil || !done.Complete || !slices.Equal(paths(got), want) {
			t.Fatalf("%d entries, want %d; %+v, %v", len(got), len(want), done, err)
		}
	}
	types := map[string]workspace.EntryType{"blog.md": workspace.TypeFile, "x": workspace.TypeLink, "up": workspace.TypeLink,
		"p": workspace.TypeOther, "empty": workspace.TypeDirectory}
	got, _, _ := list(ws, workspace.ListRequest{Path: "."})
	for _, e := range got {
		if want, asked := types[e.Path]; asked && e.Type != want {
			t.Errorf("%s is a %s, want %s", e.Path, e.Type, want)
		}
		delete(types, e.Path)
	}
	if len(types) > 0 {
		t.Errorf("not listed: %v", types)
	}
}

// What is closed is left out, and nothing else changes: neither the others nor their order.
func TestClosedEntriesLeaveNoTrace(t *testing.T) {
	root, _, j, ws := place(t)
	oddTree(t, root, 10)
	for _, closed := range [][]string{
		{"blog.md"}, {".git"}, {"many"}, {"many/7", "many/8/file-3.txt"}, {"-rf", "\xff"}, {"log/tmp"}, {"x"}, {"p", "empty"},
	} {
		j.closed = nil
		var want []string
		for _, path := range walked(t, root) {
			if !covers(closed, path) {
				want = append(want, path)
			}
		}
		j.closed = closed
		for _, depth := range []int{0, 1, 2} {
			got, done, err := list(ws, workspace.ListRequest{Path: ".", MaxDepth: depth})
			shallow := slices.DeleteFunc(slices.Clone(want), func(p string) bool { return depth > 0 && strings.Count(p, "/") >= depth })
			if err != nil || !slices.Equal(paths(got), shallow) || done.Complete != (depth == 0) {
				t.Errorf("%v to the depth %d: %d entries, want %d; %+v, %v", closed, depth, len(got), len(shallow), done, err)
			}
		}
	}
}

func TestMaxDepth(t *testing.T) {
	root, _, j, ws := place(t)
	build(t, root, "", "a/b/c/d = x", "f = x")
	for depth, want := range map[int]string{
		1: "a f maxDepth", 2: "a a/b f maxDepth", 3: "a a/b a/b/c f maxDepth", 4: "a a/b a/b/c a/b/c/d f ", 5: "a a/b a/b/c a/b/c/d f ",
	} {
		got, done, err := list(ws, workspace.ListRequest{Path: ".", MaxDepth: depth})
		if have := strings.Join(append(paths(got), string(done.Bound)), " "); err != nil || have != want {
			t.Errorf("%d: got %q, %v; want %q", depth, have, err, want)
		}
	}
	j.closed = []string{"a/b"}
	got, done, err := list(ws, workspace.ListRequest{Path: "a", MaxDepth: 1})
	if len(got) != 0 || !done.Complete || err != nil {
		t.Errorf("a closed directory cuts a listing: %v, %+v, %v", got, done, err)
	}
}

// ordinary runs f without the powers of root over files.
func ordinary(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setfsuid(0); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

func TestUnreadableDirectoryDoesNotSpoilTheListing(t *testing.T) {
	root, _, j, ws := place(t)
	build(t, root, "", "a/f = x", "b/f = x", "c/f = x")
	must(t, os.Chmod(filepath.Join(root, "b"), 0))
	defer os.Chmod(filepath.Join(root, "b"), 0o755)
	ordinary(t, func() {
		got, done, err := list(ws, workspace.ListRequest{Path: "."})
		if want := []string{"a", "a/f", "b", "c", "c/f"}; err != nil || !done.Complete || !slices.Equal(paths(got), want) {
			t.Errorf("got %q, %+v, %v; want %q", paths(got), done, err, want)
			return
		}
		for _, e := range got {
			if e.Unreadable != (e.Path == "b") {
				t.Errorf("%s: unreadable is %v", e.Path, e.Unreadable)
			}
		}
		if _, _, err := list(ws, workspace.ListRequest{Path: "b"}); label(err) != "io-failure" {
			t.Errorf("asked for by name: %v", err)
		}
		j.closed = []string{"b"}
		if _, _, err := list(ws, workspace.ListRequest{Path: "b/f"}); label(err) != "denied" {
			t.Errorf("closed and unreadable: %v", err)
		}
	})
}

func TestVanishingDirectoryDoesNotSpoilTheListing(t *testing.T) {
	for name, vanish := range map[string]func(path string) error{
		"removed":         os.RemoveAll,
		"made a file":     func(path string) error { return errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o644)) },
		"made a link out": func(path string) error { return errors.Join(os.RemoveAll(path), os.Symlink("../work2", path)) },
	} {
		root, _, _, ws := place(t)
		build(t, root, "", "a/f = x", "b/f = x", "c/f = x")
		var got []string
		done, err := frame.Each(ws.List(context.Background(), workspace.ListRequest{Path: "."}), func(e workspace.Entry) error {
			got = append(got, e.Path)
			if e.Path == "a" {
				return vanish(filepath.Join(root, "b"))
			}
			return nil
		})
		if want := "a a/f b c c/f"; err != nil || !done.Complete || strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, %+v, %v; want %q", name, got, done, err, want)
		}
	}
}

func TestListStopsWhenAsked(t *testing.T) {
	root, _, _, ws := place(t)
	oddTree(t, root, 10)
	before := openDescriptors(t)
	count := 0
	for range ws.List(context.Background(), workspace.ListRequest{Path: "."}) {
		if count++; count == 500 {
			break
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := frame.Each(ws.List(ctx, workspace.ListRequest{Path: "."}), func(workspace.Entry) error { cancel(); return nil })
	if label(err) != "aborted" {
		t.Errorf("%v", err)
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors, were %d", after, before)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

// Any names, listed in the order of their bytes.
func TestListOrder(t *testing.T) {
	name := rapid.Custom(func(t *rapid.T) string {
		prefix := rapid.SampledFrom([]string{"", "file-", "file-0000", "é"}).Draw(t, "prefix")
		return prefix + rapid.StringMatching(`[a-c\x01\x{ff}-]{1,12}`).Draw(t, "rest")
	})
	root, _, _, ws := place(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := fmt.Sprint(n)
		want := rapid.SliceOfNDistinct(name, 0, 20, rapid.ID).Draw(t, "names")
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range want {
			if err := os.WriteFile(filepath.Join(root, dir, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		sort.Strings(want)
		entries, _, err := list(ws, workspace.ListRequest{Path: dir})
		got := paths(entries)
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], dir+"/")
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	})
}
