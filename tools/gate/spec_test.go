package gate_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/tools/gate"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// script writes an executable that a gate can run.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "decide")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func parse(t *testing.T, spec string) gate.Gate {
	t.Helper()
	g, err := gate.ParseSpec(spec, gate.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// end is the label of how Ask ended, or "approved".
func end(err error) string {
	var e *outcome.Error
	switch {
	case err == nil:
		return "approved"
	case errors.As(err, &e):
		return e.Outcome.String()
	}
	return "foreign: " + err.Error()
}

func TestParseSpecRefuses(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"allow", "allow-all:", "allow-all:x", "Allow-all", " allow-all", "elicit", "elicit:", "exec", "exec:", "exec:true", "exec:./x",
		"exec:" + dir, "exec:" + plain, "exec:" + dir + "/none", "rules", "rules:", "rules:" + dir, "rules:" + dir + "/none", "none", "deny"} {
		g, err := gate.ParseSpec(spec, gate.Deps{Warn: &bytes.Buffer{}})
		var setup *outcome.SetupError
		if g != nil && gate.Required(g) == nil || !errors.As(err, &setup) || setup.Code != outcome.CodeInvalidConfig {
			t.Errorf("%q: %v, %v", spec, g, err)
		}
	}
}

func TestAllowAllSaysOnceWhatItMeans(t *testing.T) {
	var warn bytes.Buffer
	g, err := gate.ParseSpec("allow-all", gate.Deps{Warn: &warn})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := gate.Ask(t.Context(), g, call(`{}`)); err != nil {
			t.Error(err)
		}
	}
	if text := warn.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "approved unseen") {
		t.Errorf("%q", text)
	}
	if g, err := gate.ParseSpec("allow-all", gate.Deps{}); g != nil || err == nil {
		t.Errorf("allow-all in silence: %v", err)
	}
}

type person struct {
	answer gate.Answer
	err    error
	asked  []string
}

func (p *person) Elicit(_ context.Context, question string) (gate.Answer, error) {
	p.asked = append(p.asked, question)
	return p.answer, p.err
}

func TestElicit(t *testing.T) {
	for _, c := range []struct {
		answer gate.Answer
		err    error
		want   string
	}{
		{gate.Accepted, nil, "approved"}, {gate.Refused, nil, "gate-declined"}, {gate.Dismissed, nil, "gate-declined"},
		{0, nil, "gate-declined"}, {99, nil, "gate-declined"}, {gate.Accepted, errors.New("gone"), "gate-unavailable"},
	} {
		p := &person{answer: c.answer, err: c.err}
		g, err := gate.ParseSpec("elicit", gate.Deps{Elicitor: p})
		if err != nil {
			t.Fatal(err)
		}
		one := call("{\"path\":\"a\u202e\"}")
		if got := end(gate.Ask(t.Context(), g, one)); got != c.want {
			t.Errorf("%d: %s, want %s", c.answer, got, c.want)
		}
		if len(p.asked) != 1 || !strings.Contains(p.asked[0], `open_file {"path":"a\u202e"}`) || !strings.Contains(p.asked[0], one.Digest()) {
			t.Errorf("asked %q", p.asked)
		}
	}
}

func TestExec(t *testing.T) {
	digest := call(`{"path":"a"}`).Digest()
	for name, c := range map[string]struct{ body, want string }{
		"approves":                {`cat >/dev/null; echo '{"approved": true}'`, "approved"},
		"reads nothing":           {`echo '{"approved": true}'`, "approved"},
		"with the digest":         {`cat >/dev/null; echo '{"approved":true,"digest":"` + digest + `"}'`, "approved"},
		"talks on stderr":         {`echo '{"approved": true}'; yes x | head -c 100000 >&2`, "approved"},
		"declines":                {`cat >/dev/null; echo '{"approved": false, "note": "no"}'`, "gate-declined"},
		"about another call":      {`echo '{"approved":true,"digest":"sha256:00"}'`, "gate-unavailable"},
		"says nothing":            {`exit 0`, "gate-unavailable"},
		"fails":                   {`echo '{"approved": true}'; exit 1`, "gate-unavailable"},
		"is killed":               {`echo '{"approved": true}'; kill -9 $$`, "gate-unavailable"},
		"approved by word":        {`echo '{"approved": "true"}'`, "gate-unavailable"},
		"approved by 1":           {`echo '{"approved": 1}'`, "gate-unavailable"},
		"approved by another key": {`echo '{"Approved": true}'`, "gate-unavailable"},
		"no approved":             {`echo '{"note": "yes"}'`, "gate-unavailable"},
		"null":                    {`echo '{"approved": null}'`, "gate-unavailable"},
		"unknown key":             {`echo '{"approved": true, "always": true}'`, "gate-unavailable"},
		"twice":                   {`echo '{"approved": false, "approved": true}'`, "gate-unavailable"},
		"two answers":             {`echo '{"approved": true}{"approved": false}'`, "gate-unavailable"},
		"text":                    {`echo yes`, "gate-unavailable"},
		"endless":                 {`yes '{"approved": true}'`, "gate-unavailable"},
	} {
		g := parse(t, "exec:"+script(t, c.body))
		if err := gate.Ask(t.Context(), g, call(`{"path":"a"}`)); end(err) != c.want {
			t.Errorf("%s: %v (%v), want %s", name, err, errors.Unwrap(err), c.want)
		} else if name == "declines" && !strings.Contains(err.Error(), `"no"`) {
			t.Errorf("%s: the note is lost: %v", name, err)
		}
	}
}

func TestExecIsGivenTheCall(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	g := parse(t, "exec:"+script(t, `cat > `+seen+`; echo '{"approved": true}'; pwd >> `+seen+`; echo "args:$#" >> `+seen))
	one := call("{\"path\": \"a\u202e<b>\"}")
	if err := gate.Ask(t.Context(), g, one); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(seen)
	want := "{\"tool\":\"open_file\",\"args\":{\"path\":\"a\u202e<b>\"},\"shown\":\"open_file {\\\"path\\\":\\\"a\\\\u202e<b>\\\"}\",\"digest\":\"" + one.Digest() + "\"}\n/\nargs:0\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestExecEndsWithItsCaller(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "started")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	g := parse(t, "exec:"+script(t, `echo > `+fifo+`; exec sleep 1000`))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- gate.Ask(ctx, g, call(`{}`)) }()
	started, err := os.Open(fifo) // returns when the program has opened it too
	if err != nil {
		t.Fatal(err)
	}
	started.Close()
	cancel()
	if got := end(<-ended); got != "aborted" {
		t.Errorf("%s", got)
	}
	slow, err := gate.NewExec(script(t, `exec sleep 1000`), 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if got := end(gate.Ask(t.Context(), slow, call(`{}`))); got != "timed-out" {
		t.Errorf("its own time: %s", got)
	}
}

func rulesFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRules(t *testing.T) {
	asked := script(t, `cat >/dev/null; echo '{"approved": true}'`)
	g := parse(t, "rules:"+rulesFile(t, `{
		"rules": [
			{"tool": "*", "path": "**/*.pem", "do": "deny", "note": "keys stay"},
			{"tool": "{open,stage}_*", "path": "src/**", "do": "allow"},
			{"tool": "open_file", "path": "README.md", "do": "allow"},
			{"tool": "save_media", "do": "ask"},
			{"tool": "list_media", "do": "allow"},
			{"tool": "run_*", "path": "work", "do": "allow"}
		],
		"ask": "exec:`+asked+`"}`))
	for _, c := range []struct{ tool, args, want string }{
		{"open_file", `{"path":"src/a.go"}`, "approved"},
		{"open_file", `{"path":"/src/a.go"}`, "approved"},
		{"open_file", `{"path":"./x/../src//a.go"}`, "approved"},
		{"open_file", `{"path":"src/"}`, "approved"},
		{"open_file", `{"path":"src/../.env"}`, "gate-declined"},
		{"open_file", `{"path":"srcs/a"}`, "gate-declined"},
		{"open_file", `{"path":"src/deep/k.pem"}`, "gate-declined"},
		{"open_file", `{"path":"k.pem"}`, "gate-declined"},
		{"open_file", `{"path":"README.md"}`, "approved"},
		{"open_file", `{"path":"readme.md"}`, "gate-declined"},
		{"open_file", `{"path":"../src/a.go"}`, "gate-declined"},
		{"open_file", `{"path":"~/src/a.go"}`, "gate-declined"},
		{"open_file", `{"path":"src/\u0000"}`, "gate-declined"},
		{"open_file", `{"PATH":"src/a.go"}`, "gate-declined"},
		{"open_file", `{"path":null}`, "gate-declined"},
		{"open_file", `{}`, "gate-declined"},
		{"stage_file", `{"path":"src/a.go"}`, "approved"},
		{"list_directory", `{"path":"src"}`, "gate-declined"},
		{"save_media", `{"media_id":"m","path":"out/x"}`, "approved"},
		{"save_media", `{"media_id":"m","path":"out/x.pem"}`, "gate-declined"},
		{"list_media", `{}`, "approved"},
		{"list_media", `{"path":"../x"}`, "gate-declined"},
		{"run_shell_command", `{"command":"ls","cwd":"work"}`, "approved"},
		{"run_shell_command", `{"command":"ls","cwd":"elsewhere"}`, "gate-declined"},
		{"run_shell_command", `{"command":"ls"}`, "gate-declined"},
	} {
		if got := end(gate.Ask(t.Context(), g, gate.NewCall(c.tool, []byte(c.args)))); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.args, got, c.want)
		}
	}
	err := gate.Ask(t.Context(), g, call(`{"path":"k.pem"}`))
	if !strings.Contains(err.Error(), "keys stay") {
		t.Errorf("the note is lost: %v", err)
	}
}

func TestRulesFirstMatchDecides(t *testing.T) {
	allowFirst := parse(t, "rules:"+rulesFile(t, `{"rules":[{"tool":"*","do":"allow"},{"tool":"*","do":"deny"}]}`))
	denyFirst := parse(t, "rules:"+rulesFile(t, `{"rules":[{"tool":"*","do":"deny"},{"tool":"*","do":"allow"}]}`))
	none := parse(t, "rules:"+rulesFile(t, `{"rules":[]}`))
	for want, g := range map[string]gate.Gate{"approved": allowFirst, "gate-declined": denyFirst} {
		if got := end(gate.Ask(t.Context(), g, call(`{"path":"../../x"}`))); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := end(gate.Ask(t.Context(), none, call(`{}`))); got != "gate-declined" {
		t.Errorf("no rules: %s", got)
	}
}

func TestRulesFileIsStrict(t *testing.T) {
	for text, want := range map[string]string{
		`{"rules":[{"tool":"*","do":"ask"}]}`:                                 "a rule asks",
		`{"rules":[{"tool":"*","do":"ask"}],"ask":"rules:/x"}`:                "must not name another file",
		`{"rules":[],"ask":""}`:                                               "/ask must name a gate",
		`{"rules":[],"ask":7}`:                                                "/ask must name a gate",
		`{"rules":[],"ask":"elicit"}`:                                         "no client to ask",
		`{"rules":[{"tool":"*","do":"Allow"}]}`:                               "/rules/0: do must be",
		`{"rules":[{"tool":"*","do":"allow"},{"tool":"*"}]}`:                  "/rules/1: do must be",
		`{"rules":[{"do":"allow"}]}`:                                          "tool is missing",
		`{"rules":[{"tool":"","do":"allow"}]}`:                                "tool must not be empty",
		`{"rules":[{"tool":"*","do":"allow","path":""}]}`:                     "path must not be empty",
		`{"rules":[{"tool":"*","do":"allow","path":"/src"}]}`:                 "relative to the workspace root",
		`{"rules":[{"tool":"*","do":"allow","path":"[a"}]}`:                   "not a valid glob",
		`{"rules":[{"tool":"*","do":"allow","paths":"x"}]}`:                   `"paths" is unknown`,
		`{"rules":[{"tool":"*","do":"allow","Path":"x"}]}`:                    `"Path" is unknown`,
		"{\n\"rules\":[{\"tool\":\"*\",\n\"do\":\"deny\",\"do\":\"allow\"}]}": ":3:17",
		`{"rules":[{"tool":["*"],"do":"allow"}]}`:                             "tool must be a string",
		`{"rules":{}}`:                   "/rules must be a list",
		`{"rules":null}`:                 "/rules must be a list",
		`{}`:                             "/rules must be a list",
		`{"rules":[null]}`:               "/rules/0",
		`{"rules":[],"default":"allow"}`: `"default" is unknown`,
		`// allow`:                       "not valid JSON",
		``:                               "ends too early",
		strings.Repeat(" ", 1<<20+1):     "more than",
	} {
		_, err := gate.ParseSpec("rules:"+rulesFile(t, text), gate.Deps{})
		var setup *outcome.SetupError
		if !errors.As(err, &setup) || setup.Code != outcome.CodeInvalidConfig || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.ParseSpec("rules:"+fifo, gate.Deps{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("FIFO: %v", err)
	}
}
