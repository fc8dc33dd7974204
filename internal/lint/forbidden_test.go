package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

func TestNoForbiddenCall(t *testing.T) {
	files := 0
	eachFile(t, func(rel string, f *ast.File, pos *token.FileSet) {
		files++
		for _, found := range violations(rel, f, pos) {
			t.Error(found)
		}
	})
	if files < 20 {
		t.Fatalf("only %d files were looked at", files)
	}
}

func TestTheRulesFindWhatTheyForbid(t *testing.T) {
	const src = `package x
import ("os"; r "math/rand"; "golang.org/x/sys/unix"; "time")
func f() { os.Create("a"); r.Int(); unix.Getpid(); time.Sleep(1); os.Open("b") }`
	pos := token.NewFileSet()
	f, err := parser.ParseFile(pos, "x.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := violations("evaluator/x.go", f, pos)
	for _, want := range []string{"os.Create", "math/rand", "golang.org/x/sys/unix", "time.Sleep"} {
		hit := false
		for _, g := range got {
			hit = hit || strings.Contains(g, want)
		}
		if !hit {
			t.Errorf("%s is not found in %q", want, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d findings, want 4: %q", len(got), got)
	}
	if in := violations("tests/field/x_test.go", f, pos); len(in) != 1 {
		t.Errorf("in a test only time.Sleep is forbidden of these: %q", in)
	}
}

func violations(rel string, f *ast.File, pos *token.FileSet) []string {
	var out []string
	test := strings.HasSuffix(rel, "_test.go") || under(rel, []string{"internal/testkit", "tests"})
	names := map[string]string{} // local name → import path
	for _, im := range f.Imports {
		path, _ := strconv.Unquote(im.Path.Value)
		local := path[strings.LastIndex(path, "/")+1:]
		if im.Name != nil {
			local = im.Name.Name
		}
		names[local] = path
		if path == "golang.org/x/sys/unix" && !under(rel, unixOnlyIn) {
			out = append(out, pos.Position(im.Pos()).String()+": golang.org/x/sys/unix: system calls are made where they are reviewed, not here")
		}
		for _, r := range forbidden {
			if r.name == "*" && r.pkg == path && (!test || r.tests) && !under(rel, r.except) {
				out = append(out, pos.Position(im.Pos()).String()+": "+path+": "+r.reason)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok || id.Obj != nil {
			return true
		}
		for _, r := range forbidden {
			if names[id.Name] == r.pkg && r.name == sel.Sel.Name && (!test || r.tests) && !under(rel, r.except) {
				out = append(out, pos.Position(sel.Pos()).String()+": "+r.pkg+"."+r.name+": "+r.reason)
			}
		}
		return true
	})
	return out
}

// Rules for every package: a doc comment in doc.go (or, for a command, in main.go) that says more than a line.
func TestEveryPackageSaysWhatItGuarantees(t *testing.T) {
	docs := map[string]string{}
	eachFile(t, func(rel string, f *ast.File, _ *token.FileSet) {
		dir := filepath.Dir(rel)
		if strings.HasSuffix(rel, "_test.go") || strings.Contains(dir, "testdata") {
			return
		}
		if _, ok := docs[dir]; !ok {
			docs[dir] = ""
		}
		if f.Doc != nil {
			docs[dir] += f.Doc.Text()
		}
	})
	for dir, text := range docs {
		if strings.TrimSpace(text) == "" {
			t.Errorf("%s has no package documentation", dir)
		}
	}
}

func eachFile(t *testing.T, visit func(rel string, f *ast.File, pos *token.FileSet)) {
	t.Helper()
	pos := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || rel == "bin" || rel == "build") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(rel, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(pos, rel, src, parser.ParseComments)
		if err != nil {
			return err
		}
		visit(rel, f, pos)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func under(rel string, dirs []string) bool {
	for _, d := range dirs {
		if rel == d || strings.HasPrefix(rel, d+"/") {
			return true
		}
	}
	return false
}
