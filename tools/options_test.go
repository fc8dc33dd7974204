package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/tools"
	"github.com/sandboxctl/sandboxctl/tools/gate"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

func TestNewRefusesWhatIsMissingOrWrong(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"f": "x", "out/": "", "leave": "-> ../work2"})
	closed := tools.NewHandle()
	closed.Close()
	for name, c := range map[string]struct {
		change func(o *tools.Options)
		code   outcome.Code
	}{
		"no gate":               {func(o *tools.Options) { o.Gate = nil }, outcome.CodeGateRequired},
		"nil gate":              {func(o *tools.Options) { o.Gate = gate.Func(nil) }, outcome.CodeGateRequired},
		"no handle":             {func(o *tools.Options) { o.Handle = nil }, outcome.CodeInvalidConfig},
		"closed handle":         {func(o *tools.Options) { o.Handle = closed }, outcome.CodeNotInitialized},
		"zero handle":           {func(o *tools.Options) { o.Handle = &tools.Handle{} }, outcome.CodeNotInitialized},
		"no file system":        {func(o *tools.Options) { o.FileSystem = nil }, outcome.CodeInvalidConfig},
		"no translator":         {func(o *tools.Options) { o.PathTranslator = nil }, outcome.CodeInvalidConfig},
		"no trust tier":         {func(o *tools.Options) { o.TrustTier = "" }, outcome.CodeInvalidConfig},
		"untrusted":             {func(o *tools.Options) { o.TrustTier = "untrusted" }, outcome.CodeInvalidConfig},
		"tier in capitals":      {func(o *tools.Options) { o.TrustTier = "First-Party" }, outcome.CodeInvalidConfig},
		"no write root":         {func(o *tools.Options) { o.WriteRoot = "" }, outcome.CodeInvalidConfig},
		"relative write root":   {func(o *tools.Options) { o.WriteRoot = "out" }, outcome.CodeInvalidConfig},
		"write root missing":    {func(o *tools.Options) { o.WriteRoot += "/none" }, outcome.CodeInvalidConfig},
		"write root a file":     {func(o *tools.Options) { o.WriteRoot += "/f" }, outcome.CodeInvalidConfig},
		"write root outside":    {func(o *tools.Options) { o.WriteRoot = b.outside }, outcome.CodeInvalidConfig},
		"write root links out":  {func(o *tools.Options) { o.WriteRoot += "/leave" }, outcome.CodeInvalidConfig},
		"negative bound":        {func(o *tools.Options) { o.MaxMediaBytes = -1 }, outcome.CodeInvalidConfig},
		"control":               {func(o *tools.Options) {}, ""},
		"control, first party":  {func(o *tools.Options) { o.TrustTier = tools.FirstParty }, ""},
		"control, public":       {func(o *tools.Options) { o.TrustTier = tools.ThirdPartyPublic }, ""},
		"control, narrow write": {func(o *tools.Options) { o.WriteRoot += "/out" }, ""},
	} {
		o := b.options
		c.change(&o)
		set, err := tools.New(t.Context(), o)
		var setup *outcome.SetupError
		switch {
		case c.code == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.code != "" && (set != nil || !errors.As(err, &setup) || setup.Code != c.code || !strings.HasPrefix(err.Error(), string(c.code))):
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tools.New(ctx, b.options); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

var toolNames = []string{"open_file", "open_json_file", "open_markdown_file", "list_directory", "stage_file", "create_media", "apply_patch", "list_media", "save_media"}

func names(set *tools.Set) []string {
	var all []string
	for _, t := range set.Tools() {
		all = append(all, t.Name)
	}
	return all
}

func TestTheTools(t *testing.T) {
	b := newBench(t, openSettings, nil)
	if got := names(b.set); !slices.Equal(got, toolNames) {
		t.Errorf("got %q, want %q", got, toolNames)
	}
	for _, tool := range b.set.Tools() {
		var schema struct {
			Type       string         `json:"type"`
			Properties map[string]any `json:"properties"`
			Additional *bool          `json:"additionalProperties"`
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil || schema.Type != "object" || schema.Properties == nil || schema.Additional == nil || *schema.Additional {
			t.Errorf("%s: %s, %v", tool.Name, tool.InputSchema, err)
		}
		readOnly := strings.HasPrefix(tool.Name, "open_") || strings.HasPrefix(tool.Name, "list_")
		if tool.ReadOnly != readOnly {
			t.Errorf("%s: read only is %v", tool.Name, tool.ReadOnly)
		}
	}
	if _, ok := b.set.Tool("none"); ok {
		t.Error("a tool out of nothing")
	}
}

// Whoever stages, patches and stops has changed nothing, so the descriptions begin with that.
func TestDescriptionsLeadWithTheTrap(t *testing.T) {
	b := newBench(t, openSettings, nil)
	for name, lead := range map[string]string{
		"stage_file":   "Nothing is on disk until save_media is called",
		"apply_patch":  "Nothing is on disk until save_media is called",
		"create_media": "Nothing is on disk until save_media is called",
		"save_media":   "The step that makes a change real",
	} {
		tool, _ := b.set.Tool(name)
		if !strings.HasPrefix(tool.Description, lead) {
			t.Errorf("%s: %q", name, tool.Description)
		}
	}
}

func TestDescriptionsNameRegisteredToolsOnly(t *testing.T) {
	known := regexp.MustCompile(`\b(open|list|stage|create|apply|save|artifact|search|find|run)_[a-z_]+`)
	notTools := []string{"apply_patch_"}
	for _, registered := range [][]string{
		nil, toolNames, {"stage_file"}, {"open_file", "artifact_grep"}, {"save_media", "stage_file", "list_directory"},
		{"list_directory", "find_files"}, {"open_json_file", "artifact_json_get", "none_such"}, {},
	} {
		b := newBench(t, openSettings, nil, func(b *bench) { b.options.RegisteredTools = registered })
		want := toolNames
		if registered != nil {
			want = slices.DeleteFunc(slices.Clone(toolNames), func(n string) bool { return !slices.Contains(registered, n) })
		}
		if got := names(b.set); !slices.Equal(got, want) {
			t.Errorf("%q: the set has %q", registered, got)
		}
		allowed := registered
		if registered == nil {
			allowed = toolNames
		}
		for _, tool := range b.set.Tools() {
			for _, name := range known.FindAllString(tool.Description+string(tool.InputSchema), -1) {
				if !slices.Contains(allowed, name) && !slices.Contains(notTools, name) {
					t.Errorf("%q: %s names %s", registered, tool.Name, name)
				}
			}
		}
	}
	b := newBench(t, openSettings, nil, func(b *bench) { b.options.RegisteredTools = []string{"open_file", "artifact_grep"} })
	tool, _ := b.set.Tool("open_file")
	if !strings.Contains(tool.Description, "artifact_grep") {
		t.Errorf("control: %q", tool.Description)
	}
}

func TestNothingAfterTheHandleIsClosed(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"f": "text"})
	opened := b.ok("open_file", args{"path": "f"})
	staged := b.ok("stage_file", args{"path": "f"})
	a, err := b.store.Lookup(opened["callId"].(string))
	must(t, err)
	medium, ok := b.set.Medium(staged["id"].(string))
	if !ok {
		t.Fatal("the medium is not there")
	}
	buf := make([]byte, 4)
	for _, reader := range []interface {
		ReadAt([]byte, int64) (int, error)
	}{a, medium} {
		if _, err := reader.ReadAt(buf, 0); err != nil || string(buf) != "text" {
			t.Errorf("control: %q, %v", buf, err)
		}
	}
	b.handle.Close()
	for _, tool := range b.set.Tools() {
		_, err := tool.Handler(t.Context(), json.RawMessage(`{"path":"f","media_id":"media-1","content":"","patch":"x"}`))
		var e *outcome.Error
		if !errors.As(err, &e) || e.Code() != outcome.CodeNotInitialized {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	if _, err := medium.ReadAt(buf, 0); label(err) != "session-closed" {
		t.Errorf("the medium's reader: %v", err)
	}
	if _, err := a.ReadAt(buf, 0); err == nil || !strings.Contains(err.Error(), "E_SANDBOX_NOT_INITIALIZED") {
		t.Errorf("the artifact's reader: %v", err)
	}
	if _, ok := b.set.Medium(staged["id"].(string)); ok {
		t.Error("the medium is given out")
	}
}

// A handle that is closed while the gate waits lets nothing through.
func TestHandleClosedWhileTheGateWaits(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	b := newBench(t, openSettings, map[string]string{"f": "text"}, func(b *bench) {
		b.options.Gate = gate.Func(func(context.Context, gate.Call) (gate.Verdict, error) {
			close(asked)
			<-answer
			return gate.Verdict{Approved: true}, nil
		})
	})
	end := make(chan error)
	go func() { _, err := b.call("open_file", args{"path": "f"}); end <- err }()
	<-asked
	b.handle.Close()
	close(answer)
	if err := <-end; label(err) != "session-closed" {
		t.Errorf("%v", err)
	}
}

func TestOwnArtifactStore(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := newBench(t, openSettings, map[string]string{"f": "text"}, func(b *bench) { b.options.ArtifactMinter = nil })
	if got := b.ok("open_file", args{"path": "f"}); got["byteLength"] != 4.0 || got["callId"] == "" {
		t.Errorf("%v", got)
	}
	must(t, b.set.Close())
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestMediaHaveNoDescriptor(t *testing.T) {
	b := newBench(t, openSettings, map[string]string{"f": "text"})
	m, _ := b.set.Medium(b.ok("stage_file", args{"path": "f"})["id"].(string))
	_, err := json.Marshal(m)
	var setup *outcome.SetupError
	if !errors.As(err, &setup) || setup.Code != outcome.CodeNotDescribable {
		t.Errorf("%v", err)
	}
}
