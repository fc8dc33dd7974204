package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/artifact"
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
	"github.com/sandboxctl/sandboxctl/tools"
	"github.com/sandboxctl/sandboxctl/tools/gate"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

// bench is a workspace with tools on it.
type bench struct {
	t       *testing.T
	root    string // the workspace
	outside string // a directory beside it
	store   *artifact.Store
	handle  *tools.Handle
	options tools.Options
	set     *tools.Set
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const openSettings = `{"filesystem": {"allowWrite": ["."]}}`

// write makes files below a directory: "name": "content". A name with a final slash is a directory, a content that
// begins with "-> " a link.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch target, link := strings.CutPrefix(content, "-> "); {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		case link:
			must(t, os.Symlink(target, path))
		default:
			must(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
}

// newBench makes the tree first, as settings are resolved against it.
func newBench(t *testing.T, settings string, files map[string]string, change ...func(*bench)) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	b := &bench{t: t, root: filepath.Join(dir, "work"), outside: filepath.Join(dir, "work2")}
	write(t, dir, map[string]string{"work/": "", "work2/secret": secret, "home/alice/": ""})
	write(t, b.root, files)
	parsed, err := srtconfig.Parse([]byte(settings), "settings.json")
	must(t, err)
	rules, err := srtconfig.Derive(t.Context(), parsed, srtconfig.Host{Cwd: b.root, Home: filepath.Join(dir, "home/alice")})
	must(t, err)
	judge, err := evaluator.New(rules)
	must(t, err)
	ws, err := workspace.NewRoot(b.root, judge)
	must(t, err)
	b.handle = tools.NewHandle()
	b.store, err = artifact.NewStore(artifact.Options{Dir: dir, Alive: func() error { _, err := b.handle.Epoch(); return err }})
	must(t, err)
	b.options = tools.Options{Handle: b.handle, FileSystem: ws, PathTranslator: workspace.RootedPaths{}, Gate: yes,
		WriteRoot: b.root, TrustTier: tools.ThirdPartyPrivate, ArtifactMinter: b.store}
	for _, f := range change {
		f(b)
	}
	b.set, err = tools.New(t.Context(), b.options)
	must(t, err)
	t.Cleanup(func() {
		must(t, b.set.Close())
		must(t, b.store.Close())
		must(t, ws.Close())
	})
	return b
}

// remake makes the tools again, from changed options.
func (b *bench) remake() {
	b.t.Helper()
	set, err := tools.New(b.t.Context(), b.options)
	must(b.t, err)
	b.set = set
}

const secret = "SECRET-FROM-OUTSIDE"

var yes = gate.Func(func(context.Context, gate.Call) (gate.Verdict, error) { return gate.Verdict{Approved: true}, nil })

// raw runs a tool.
func (b *bench) raw(ctx context.Context, tool, args string) (map[string]any, error) {
	b.t.Helper()
	found, ok := b.set.Tool(tool)
	if !ok {
		b.t.Fatalf("there is no tool %s", tool)
	}
	result, err := found.Handler(ctx, json.RawMessage(args))
	if err != nil {
		var e *outcome.Error
		if !errors.As(err, &e) {
			b.t.Errorf("%s %s: a foreign error: %v", tool, args, err)
		}
		return nil, err
	}
	text, err := json.Marshal(result)
	must(b.t, err)
	if strings.Contains(string(text), filepath.Dir(b.root)) {
		b.t.Errorf("%s %s shows a host path: %s", tool, args, text)
	}
	var data map[string]any
	must(b.t, json.Unmarshal(text, &data))
	return data, nil
}

type args map[string]any

func (b *bench) call(tool string, a args) (map[string]any, error) {
	b.t.Helper()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	must(b.t, enc.Encode(a))
	return b.raw(b.t.Context(), tool, text.String())
}

// ok is call, where an error fails the test.
func (b *bench) ok(tool string, a args) map[string]any {
	b.t.Helper()
	data, err := b.call(tool, a)
	if err != nil {
		b.t.Fatalf("%s %v: %v", tool, a, err)
	}
	return data
}

// content reads the artifact of a result.
func (b *bench) content(result map[string]any) string {
	b.t.Helper()
	id, _ := result["callId"].(string)
	a, err := b.store.Lookup(id)
	if err != nil {
		b.t.Fatalf("%v: %v", result, err)
	}
	text, err := io.ReadAll(io.NewSectionReader(a, 0, a.Handle().ByteLength))
	must(b.t, err)
	return string(text)
}

func (b *bench) file(name string) string {
	b.t.Helper()
	content, err := os.ReadFile(filepath.Join(b.root, name))
	must(b.t, err)
	return string(content)
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
