package tools_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/gate"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

// spy counts what is asked of a file system and a translator.
type spy struct {
	workspace.FileSystem
	workspace.PathTranslator
	touched atomic.Int64
}

func (s *spy) Open(ctx context.Context, path string) (workspace.File, error) {
	s.touched.Add(1)
	return s.FileSystem.Open(ctx, path)
}

func (s *spy) List(ctx context.Context, req workspace.ListRequest) iter.Seq2[frame.Frame[workspace.Entry], error] {
	s.touched.Add(1)
	return s.FileSystem.List(ctx, req)
}

func (s *spy) Save(ctx context.Context, req workspace.SaveRequest) (workspace.Saved, error) {
	s.touched.Add(1)
	return s.FileSystem.Save(ctx, req)
}

func (s *spy) ToBackend(asked string) (string, error) {
	s.touched.Add(1)
	return s.PathTranslator.ToBackend(asked)
}

func (b *bench) spy() *spy {
	s := &spy{FileSystem: b.options.FileSystem, PathTranslator: b.options.PathTranslator}
	b.options.FileSystem, b.options.PathTranslator = s, s
	return s
}

// callsOf gives a valid call of every tool for a path.
func callsOf(path string) map[string]string {
	p := fmt.Sprintf("%q", path)
	if strings.ContainsRune(path, 0) {
		p = `"a\u0000"`
	}
	return map[string]string{
		"open_file": `{"path":` + p + `}`, "open_json_file": `{"path":` + p + `}`, "open_markdown_file": `{"path":` + p + `}`,
		"list_directory": `{"path":` + p + `}`, "stage_file": `{"path":` + p + `}`, "list_media": `{}`, "create_media": `{"content":"x"}`,
		"apply_patch": `{"media_id":"media-1","patch":{"find":"x","replace":"y"}}`, "save_media": `{"media_id":"media-1","path":` + p + `}`,
	}
}

// The gate is asked first, for every tool and for paths that would never be opened; what it declines touches nothing.
func TestTheGateComesFirst(t *testing.T) {
	var watch *spy
	var asked []string
	approve := false
	b := newBench(t, openSettings, map[string]string{"f": "x"}, func(b *bench) {
		watch = b.spy()
		b.options.Gate = gate.Func(func(_ context.Context, c gate.Call) (gate.Verdict, error) {
			if watch.touched.Load() != 0 {
				t.Errorf("%s: touched before the gate was asked", c.Shown())
			}
			asked = append(asked, c.Tool()+string(c.Args()))
			return gate.Verdict{Approved: approve, Note: "not today"}, nil
		})
	})
	for _, path := range []string{"f", "none", "../f", "~/f", "a\x00", "C:/x", "//s/x", "/etc/passwd"} {
		calls := callsOf(path)
		if len(calls) != len(b.set.Tools()) {
			t.Fatalf("%d calls for %d tools", len(calls), len(b.set.Tools()))
		}
		for tool, text := range calls {
			asked = nil
			_, err := b.raw(t.Context(), tool, text)
			if label(err) != "gate-declined" || !strings.Contains(err.Error(), `"not today"`) {
				t.Errorf("%s %s: %v", tool, text, err)
			}
			if len(asked) != 1 || asked[0] != tool+text {
				t.Errorf("%s %s: asked %q", tool, text, asked)
			}
		}
	}
	if n := watch.touched.Load(); n != 0 {
		t.Errorf("declined calls touched %d times", n)
	}
	approve = true
	if _, err := b.raw(t.Context(), "open_file", `{"path":"f"}`); err != nil || watch.touched.Load() == 0 {
		t.Errorf("control: %v, touched %d", err, watch.touched.Load())
	}
}

// A gate that never answers keeps its call waiting, and no other; the caller ends the wait.
func TestAWaitHoldsNoOtherCall(t *testing.T) {
	asked := make(chan struct{})
	b := newBench(t, openSettings, map[string]string{"f": "x", "slow": "x"}, func(b *bench) {
		b.options.Gate = gate.Func(func(ctx context.Context, c gate.Call) (gate.Verdict, error) {
			if strings.Contains(c.Shown(), "slow") {
				close(asked)
				<-ctx.Done()
				return gate.Verdict{}, ctx.Err()
			}
			return gate.Verdict{Approved: true}, nil
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error)
	go func() { _, err := b.raw(ctx, "open_file", `{"path":"slow"}`); end <- err }()
	<-asked
	for range 50 {
		if _, err := b.raw(t.Context(), "open_file", `{"path":"f"}`); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-end:
		t.Fatalf("the wait ended by itself: %v", err)
	default:
	}
	cancel()
	if err := <-end; label(err) != "aborted" {
		t.Errorf("%v", err)
	}
}

func TestGateFailuresAreToldApart(t *testing.T) {
	for want, g := range map[string]gate.Gate{
		"gate-declined":    gate.Func(func(context.Context, gate.Call) (gate.Verdict, error) { return gate.Verdict{}, nil }),
		"gate-unavailable": gate.Func(func(context.Context, gate.Call) (gate.Verdict, error) { return gate.Verdict{}, errors.New("broke") }),
		"timed-out":        gate.Func(func(context.Context, gate.Call) (gate.Verdict, error) { return gate.Verdict{}, gate.ErrTimedOut }),
	} {
		b := newBench(t, openSettings, map[string]string{"f": "x"}, func(b *bench) { b.options.Gate = g })
		if _, err := b.call("open_file", args{"path": "f"}); label(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A gate that changes the bytes it was shown changes nothing of what runs.
func TestWhatRunsIsWhatWasShown(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"aaaa": "asked", "bbbb": "other"}, func(b *bench) {
		b.options.Gate = gate.Func(func(_ context.Context, c gate.Call) (gate.Verdict, error) {
			copy(c.Args()[9:], "bbbb")
			return gate.Verdict{Approved: true}, nil
		})
	})
	if got := b.content(b.ok("open_file", args{"path": "aaaa"})); got != "asked" {
		t.Errorf("ran on %q", got)
	}
}

// Invalid arguments are refused before anybody is bothered with them.
func TestInvalidArgumentsReachNoGate(t *testing.T) {
	asked := 0
	b := newBench(t, openSettings, map[string]string{"f": "x"}, func(b *bench) {
		b.options.Gate = gate.Func(func(context.Context, gate.Call) (gate.Verdict, error) {
			asked++
			return gate.Verdict{Approved: true}, nil
		})
	})
	for _, c := range []struct{ tool, args, want string }{
		{"open_file", ``, "path is missing"},
		{"open_file", `{}`, "path is missing"},
		{"open_file", `{"path":""}`, "path must not be empty"},
		{"open_file", `{"path":null}`, "path must be of the type string"},
		{"open_file", `{"path":["f"]}`, "path must be of the type string"},
		{"open_file", `{"path":"f","follow":true}`, `the key "follow" is unknown; known are path`},
		{"open_file", `{"Path":"f"}`, `the key "Path" is unknown`},
		{"open_file", `{"path":"f","path":"g"}`, "stands there twice"},
		{"open_file", `{"path":"f\ud800"}`, "surrogate"},
		{"open_file", "{\"path\":\"\xff\"}", "not UTF-8"},
		{"open_file", `["f"]`, "not an object"},
		{"open_file", `{"path":"f"} x`, "there is more"},
		{"list_directory", `{"path":".","limit":5}`, `the key "limit" is unknown`},
		{"list_directory", `{"path":".","max_depth":0}`, "at least 1"},
		{"list_directory", `{"path":".","max_depth":-1}`, "at least 1"},
		{"list_directory", `{"path":".","max_depth":1.5}`, "whole number"},
		{"list_directory", `{"path":".","max_depth":1e400}`, "whole number"},
		{"list_directory", `{"path":".","max_depth":"1"}`, "of the type integer"},
		{"list_media", `{"x":1}`, "none is known"},
		{"apply_patch", `{"media_id":"m","patch":{"find":"a"}}`, "in patch: replace is missing"},
		{"apply_patch", `{"media_id":"m","patch":{"find":"","replace":"b"}}`, "find must not be empty"},
		{"apply_patch", `{"media_id":"m","patch":{"find":"a","replace":"b","regex":true}}`, `"regex" is unknown`},
		{"apply_patch", `{"media_id":"m","patch":{"find":"a","replace":"b","encoding":"hex"}}`, "one of utf-8, base64"},
		{"apply_patch", `{"media_id":"m","patch":7}`, "of the type string or object"},
		{"save_media", `{"media_id":"m","path":"f","parents":"yes"}`, "of the type boolean"},
	} {
		_, err := b.raw(t.Context(), c.tool, c.args)
		if label(err) != "invalid-arguments" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.tool, c.args, err, c.want)
		}
	}
	if asked != 0 {
		t.Errorf("the gate was asked %d times", asked)
	}
	for _, args := range []string{`{"path":".","max_depth":1}`, `{"path":".","max_depth":1.0}`, ` {"max_depth" : 1e0 , "path":"."} `} {
		if _, err := b.raw(t.Context(), "list_directory", args); err != nil {
			t.Errorf("control: %s: %v", args, err)
		}
	}
	if asked != 3 {
		t.Errorf("control: the gate was asked %d times", asked)
	}
}

func TestThirdDenialSaysSo(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"f": "x"})
	const hint = "repeating the call will not help"
	for i := 1; i <= 4; i++ {
		_, err := b.call("open_file", args{"path": "none"})
		if strings.Contains(err.Error(), hint) != (i >= 3) {
			t.Errorf("%d: %v", i, err)
		}
	}
	b.ok("open_file", args{"path": "f"})
	if _, err := b.call("open_file", args{"path": "none"}); strings.Contains(err.Error(), hint) {
		t.Errorf("after another call: %v", err)
	}
}

// A backend that breaks, with an error that names what must not be named.
type broken struct {
	workspace.FileSystem
	frames []frame.Frame[workspace.Entry]
	err    error
}

func (f broken) Name() string { return "archive" }

func (f broken) Open(context.Context, string) (workspace.File, error) { return nil, f.err }

func (f broken) List(context.Context, workspace.ListRequest) iter.Seq2[frame.Frame[workspace.Entry], error] {
	return func(yield func(frame.Frame[workspace.Entry], error) bool) {
		for _, one := range f.frames {
			if !yield(one, nil) {
				return
			}
		}
		if f.err != nil {
			yield(frame.Frame[workspace.Entry]{}, f.err)
		}
	}
}

func TestABrokenBackendIsAnIOFailure(t *testing.T) {
	item := frame.Of(workspace.Entry{Path: "a", Type: workspace.TypeFile})
	for name, c := range map[string]struct {
		frames []frame.Frame[workspace.Entry]
		err    error
		want   string
	}{
		"over its limit": {[]frame.Frame[workspace.Entry]{item, frame.End[workspace.Entry](frame.Limit)}, nil, `The backend "archive" broke its contract: the backend cut a listing by a limit`},
		"no done":        {[]frame.Frame[workspace.Entry]{item}, nil, "without a done frame"},
		"two dones":      {[]frame.Frame[workspace.Entry]{frame.End[workspace.Entry](""), frame.End[workspace.Entry]("")}, nil, "went on after"},
		"hostile error":  {[]frame.Frame[workspace.Entry]{item}, errors.New("open /home/alice/x"), "the file system failed"},
	} {
		b := newBench(t, openSettings, nil, func(b *bench) {
			b.options.FileSystem = broken{b.options.FileSystem, c.frames, c.err}
		})
		_, err := b.call("list_directory", args{"path": "."})
		if label(err) != "io-failure" || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "alice") {
			t.Errorf("%s: %v", name, err)
		}
		handles, err := b.store.Handles()
		if err != nil || len(handles) > 0 {
			t.Errorf("%s: half a listing is kept: %v, %v", name, handles, err)
		}
	}
	b := newBench(t, openSettings, nil, func(b *bench) {
		b.options.FileSystem = broken{FileSystem: b.options.FileSystem, frames: []frame.Frame[workspace.Entry]{item, frame.End[workspace.Entry]("")}}
	})
	b.ok("list_directory", args{"path": "."})
	b = newBench(t, openSettings, nil, func(b *bench) {
		b.options.FileSystem = broken{FileSystem: b.options.FileSystem, err: errors.New("open /home/alice/x")}
	})
	for _, tool := range []string{"open_file", "stage_file"} {
		if _, err := b.call(tool, args{"path": "x"}); label(err) != "io-failure" || strings.Contains(err.Error(), "alice") {
			t.Errorf("%s: %v", tool, err)
		}
	}
}
