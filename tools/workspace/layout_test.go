package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

type decision = evaluator.Decision

// judge closes what lies at or below some paths. Its lists are relative to the workspace root.
type judge struct {
	root      string
	closed    []string // for reading
	opened    []string // inside closed
	protected []string // for writing
	pinned    []string // may be written and not replaced
}

func covers(list []string, rel string) bool {
	for _, entry := range list {
		if rel == entry || strings.HasPrefix(rel, entry+"/") {
			return true
		}
	}
	return false
}

func (j *judge) rel(path string) string {
	rel, err := filepath.Rel(j.root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") || filepath.Clean(path) != path {
		panic("the judge was asked about " + path)
	}
	return rel
}

func (j *judge) CanRead(path string) evaluator.Decision {
	rel := j.rel(path)
	allowed := !covers(j.closed, rel) || covers(j.opened, rel)
	for _, entry := range j.opened {
		allowed = allowed || strings.HasPrefix(entry, rel+"/")
	}
	return evaluator.Decision{Allowed: allowed}
}

func (j *judge) CanWrite(path string) evaluator.Decision {
	return evaluator.Decision{Allowed: j.CanRead(path).Allowed && !covers(j.protected, j.rel(path))}
}

func (j *judge) CanRemove(path string) evaluator.Decision {
	return evaluator.Decision{Allowed: j.CanWrite(path).Allowed && !covers(j.pinned, j.rel(path))}
}

// build makes a tree: "d/" is a directory, "l -> t" a link, "p |" a FIFO, "f = text" a file. OUTSIDE in a link stands for
// the directory beside the workspace, which holds "secret".
func build(t *testing.T, root, outside string, layout ...string) {
	t.Helper()
	for _, line := range layout {
		var err error
		name, target, isLink := strings.Cut(line, " -> ")
		file, content, isFile := strings.Cut(line, " = ")
		fifo, isFIFO := strings.CutSuffix(line, " |")
		switch {
		case isLink:
			err = os.Symlink(strings.ReplaceAll(target, "OUTSIDE", outside), filepath.Join(root, name))
		case isFile:
			if err = os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o755); err == nil {
				err = os.WriteFile(filepath.Join(root, file), []byte(content), 0o644)
			}
		case isFIFO:
			err = unix.Mkfifo(filepath.Join(root, fifo), 0o644)
		default:
			err = os.MkdirAll(filepath.Join(root, line), 0o755)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

const secret = "SECRET-FROM-OUTSIDE"

// place makes an empty workspace with siblings whose names begin like its own, and opens it.
func place(t *testing.T) (root, outside string, j *judge, ws *workspace.Root) {
	t.Helper()
	return placeIn(t, t.TempDir())
}

func placeIn(t *testing.T, dir string) (root, outside string, j *judge, ws *workspace.Root) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	root, outside = filepath.Join(dir, "work"), filepath.Join(dir, "work2")
	build(t, dir, "", "work/", "work2/secret = "+secret, "work-old/secret = "+secret)
	j = &judge{root: root}
	ws, err = workspace.NewRoot(root, j)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return root, outside, j, ws
}

// verb is one operation on a path: what it gave, and the error.
type verb struct {
	name string
	do   func(ws workspace.FileSystem, path string) (string, error)
}

const written = "written by a save"

func verbs() []verb {
	ctx := context.Background()
	return []verb{
		{"open", func(ws workspace.FileSystem, path string) (string, error) {
			f, err := ws.Open(ctx, path)
			if err != nil {
				return "", err
			}
			defer f.Close()
			content, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
			return f.Path() + ": " + string(content), err
		}},
		{"list", func(ws workspace.FileSystem, path string) (string, error) {
			var all []string
			done, err := frame.Each(ws.List(ctx, workspace.ListRequest{Path: path}), func(e workspace.Entry) error {
				all = append(all, e.Type.String()+" "+e.Path)
				return nil
			})
			if err == nil && !done.Complete {
				err = errors.New("a listing without a bound is not complete")
			}
			return strings.Join(all, ", "), err
		}},
		{"save", func(ws workspace.FileSystem, path string) (string, error) {
			saved, err := ws.Save(ctx, workspace.SaveRequest{Path: path, Under: ".", Content: []byte(written)})
			return fmt.Sprint(saved.Path, ": ", saved.Bytes), err
		}},
	}
}

// label is the outcome as a program sees it, "" for none.
func label(err error) string {
	var e *outcome.Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return "foreign: " + err.Error()
	case e.Outcome == outcome.Denied:
		return "denied"
	case e.Outcome == outcome.PathRejected:
		return e.Reason.String()
	}
	return e.Outcome.String()
}

// mustBeUntouched fails when anything outside the workspace changed.
func mustBeUntouched(t *testing.T, root string) {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Dir(root), func(path string, d os.DirEntry, err error) error {
		if path == root {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() {
			content, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(content, []byte(secret)) {
				found = append(found, path)
			}
		}
		return err
	})
	if err != nil || len(found) > 0 {
		t.Errorf("changed outside: %v, %v", found, err)
	}
	for _, name := range []string{"work2", "work-old"} {
		entries, err := os.ReadDir(filepath.Join(filepath.Dir(root), name))
		if err != nil || len(entries) != 1 {
			t.Errorf("%s holds %v, %v", name, entries, err)
		}
	}
}
