package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sandboxctl/sandboxctl/tools/gate"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

func call(args string) gate.Call { return gate.NewCall("open_file", []byte(args)) }

func says(v gate.Verdict, err error) gate.Gate {
	return gate.Func(func(context.Context, gate.Call) (gate.Verdict, error) { return v, err })
}

func TestAskTellsTheEndsApart(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancelLate()
	never := gate.Func(func(ctx context.Context, _ gate.Call) (gate.Verdict, error) {
		<-ctx.Done()
		return gate.Verdict{}, ctx.Err()
	})
	for name, c := range map[string]struct {
		ctx  context.Context
		gate gate.Gate
		want outcome.Outcome
		code outcome.Code
	}{
		"approved":                  {t.Context(), says(gate.Verdict{Approved: true}, nil), 0, ""},
		"declined":                  {t.Context(), says(gate.Verdict{Note: "no"}, nil), outcome.GateDeclined, outcome.CodeRefused},
		"zero verdict":              {t.Context(), says(gate.Verdict{}, nil), outcome.GateDeclined, outcome.CodeRefused},
		"failed":                    {t.Context(), says(gate.Verdict{}, errors.New("/home/alice broke")), outcome.GateUnavailable, outcome.CodeFailed},
		"approved with an error":    {t.Context(), says(gate.Verdict{Approved: true}, errors.New("x")), outcome.GateUnavailable, outcome.CodeFailed},
		"its own time":              {t.Context(), says(gate.Verdict{}, gate.ErrTimedOut), outcome.TimedOut, outcome.CodeFailed},
		"the caller's time":         {late, never, outcome.TimedOut, outcome.CodeFailed},
		"cancelled":                 {cancelled, never, outcome.Aborted, outcome.CodeFailed},
		"cancelled, still approved": {cancelled, says(gate.Verdict{Approved: true}, nil), outcome.Aborted, outcome.CodeFailed},
		"none":                      {t.Context(), nil, outcome.GateUnavailable, outcome.CodeFailed},
	} {
		err := gate.Ask(c.ctx, c.gate, call(`{}`))
		var e *outcome.Error
		switch {
		case c.want == 0:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.As(err, &e) || e.Outcome != c.want || e.Code() != c.code:
			t.Errorf("%s: %v, want %s", name, err, c.want)
		case strings.Contains(err.Error(), "alice"):
			t.Errorf("%s: shows %q", name, err)
		case name == "declined" && !strings.Contains(err.Error(), `The approver says: "no".`):
			t.Errorf("%s: %q", name, err)
		}
	}
}

// A gate that heeds nothing keeps the caller no longer than the caller wants, and its late approval is dropped.
func TestAskLeavesADeafGate(t *testing.T) {
	asked, release, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	deaf := gate.Func(func(context.Context, gate.Call) (gate.Verdict, error) {
		defer close(returned)
		close(asked)
		<-release
		return gate.Verdict{Approved: true}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error)
	go func() { end <- gate.Ask(ctx, deaf, call(`{}`)) }()
	<-asked
	cancel()
	var e *outcome.Error
	if err := <-end; !errors.As(err, &e) || e.Outcome != outcome.Aborted {
		t.Errorf("%v", err)
	}
	close(release)
	<-returned
}

func TestRequired(t *testing.T) {
	for name, g := range map[string]gate.Gate{"nil": nil, "nil function": gate.Func(nil), "nil rules": (*gate.Rules)(nil), "nil exec": (*gate.Exec)(nil)} {
		var setup *outcome.SetupError
		if err := gate.Required(g); !errors.As(err, &setup) || setup.Code != "E_SANDBOX_GATE_REQUIRED" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := gate.Required(says(gate.Verdict{}, nil)); err != nil {
		t.Errorf("control: %v", err)
	}
	if _, err := gate.ParseSpec("", gate.Deps{Warn: io.Discard}); !strings.HasPrefix(err.Error(), "E_SANDBOX_GATE_REQUIRED") {
		t.Errorf("%v", err)
	}
}

func TestCallIsItsOwn(t *testing.T) {
	args := []byte(`{"path":"a"}`)
	c := gate.NewCall("open_file", args)
	before := c.Digest()
	args[9] = 'b'
	c.Args()[9] = 'c'
	if string(c.Args()) != `{"path":"a"}` || c.Digest() != before {
		t.Errorf("the call became %s", c.Args())
	}
	// printf '\0\0\0\0\0\0\0\topen_file{"path":"a"}' | sha256sum
	if want := "sha256:e0bbc86ab48c88e66b25f7766b4fbb96de27b1e15e27069dcf416bacb4293d09"; before != want {
		t.Errorf("the digest is %s, want %s", before, want)
	}
	for name, other := range map[string]gate.Call{
		"other bytes, same value": gate.NewCall("open_file", []byte(`{"path": "a"}`)),
		"other tool":              gate.NewCall("stage_file", []byte(`{"path":"a"}`)),
		"shifted border":          gate.NewCall("open_fil", []byte(`e{"path":"a"}`)),
	} {
		if other.Digest() == before {
			t.Errorf("%s has the same digest", name)
		}
	}
	if gate.NewCall("open_file", []byte(`{"path":"a"}`)).Digest() != before {
		t.Error("the same call has another digest")
	}
}

func TestShown(t *testing.T) {
	long := strings.Repeat("x", 100_000) + "; rm -rf /"
	for args, want := range map[string]string{
		`{"path":"a b"}`:              `{"path":"a b"}`,
		"{\n\t\"path\" : \"a\"\r\n}":  `{"path":"a"}`,
		`{"path":"\u202egpj.exe"}`:    `{"path":"\u202egpj.exe"}`,
		"{\"path\":\"\u202egpj\"}":    `{"path":"\u202egpj"}`,
		"{\"path\":\"pаypal\"}":       `{"path":"p\u0430ypal"}`,
		"{\"path\":\"é\"}":            `{"path":"\u00e9"}`,
		"{\"path\":\"a\u200bb\"}":     `{"path":"a\u200bb"}`,
		"{\"path\":\"\x7f\u009b2J\"}": `{"path":"\u007f\u009b2J"}`,
		"{\"path\":\"😀\"}":            `{"path":"\ud83d\ude00"}`,
		"{\"path\":\"a  b\"}":         `{"path":"a  b"}`,
		`{"command":"` + long + `"}`:  `{"command":"` + long + `"}`,
		"not \x1b json":               `"not \u001b json"`,
	} {
		if got := call(args).Shown(); got != "open_file "+want {
			t.Errorf("%.80q: got %.120s, want %.120s", args, got, want)
		}
	}
}

// What is shown is printable ASCII and is the same JSON as what runs.
func TestShownIsTheCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{"path": rapid.String().Draw(t, "path"), "n": true}
		args, err := json.MarshalIndent(want, "", rapid.SampledFrom([]string{"", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		shown := call(string(args)).Shown()
		for i := range len(shown) {
			if shown[i] < ' ' || shown[i] > '~' {
				t.Fatalf("%q is shown as %q", args, shown)
			}
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(shown, "open_file ")), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is shown as %q: %v", args, shown, err)
		}
	})
}
