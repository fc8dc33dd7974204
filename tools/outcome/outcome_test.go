package outcome_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

func TestEveryOutcomeHasWordsAndARemedy(t *testing.T) {
	labels := map[string]outcome.Outcome{}
	all := outcome.All()
	if len(all) < 20 {
		t.Fatalf("only %d outcomes: the set is not being walked", len(all))
	}
	for _, o := range all {
		text := outcome.New(o, "x", nil).Error()
		sentences := strings.Count(text, ". ") + 1
		if o == outcome.PathRejected {
			continue // its remedies are those of its reasons
		}
		if !strings.HasPrefix(text, `"x" `) || sentences < 2 || !strings.HasSuffix(text, ".") {
			t.Errorf("%d: want what happened and a remedy, got %q", o, text)
		}
		if o.String() == "" || strings.ContainsAny(o.String(), " _") {
			t.Errorf("%d: label %q", o, o)
		}
		if other, twice := labels[o.String()]; twice && !(o == outcome.Denied || other == outcome.Denied) {
			t.Errorf("%d and %d share the label %q", o, other, o)
		}
		labels[o.String()] = o
		if !o.Note() && o.Code() == "" {
			t.Errorf("%s has no code", o)
		}
		if o.Note() && o.Code() != "" {
			t.Errorf("%s is a note and has the code %s", o, o.Code())
		}
	}
}

func TestEveryReasonHasItsOwnWords(t *testing.T) {
	if len(outcome.Reasons()) != 6 {
		t.Fatalf("%d reasons, want 6", len(outcome.Reasons()))
	}
	seen := map[string]bool{}
	for _, r := range outcome.Reasons() {
		text := outcome.Reject("x", r).Error()
		if seen[text] || text == outcome.Reject("x", 0).Error() {
			t.Errorf("%s: %q is not its own", r, text)
		}
		seen[text] = true
	}
	if got := outcome.Reject("x", outcome.ReasonEscapes).Code(); got != outcome.CodePathEscape {
		t.Errorf("escape has the code %s", got)
	}
	if got := outcome.Reject("x", outcome.ReasonNUL).Code(); got != outcome.CodeRefused {
		t.Errorf("NUL has the code %s", got)
	}
}

func TestCodes(t *testing.T) {
	for o, want := range map[outcome.Outcome]outcome.Code{
		outcome.NotFound:         "E_SANDBOX_REFUSED",
		outcome.Denied:           "E_SANDBOX_REFUSED",
		outcome.WriteDenied:      "E_SANDBOX_REFUSED",
		outcome.GateDeclined:     "E_SANDBOX_REFUSED",
		outcome.OutsideWriteRoot: "E_SANDBOX_REFUSED",
		outcome.SandboxViolation: "E_SANDBOX_REFUSED",
		outcome.GateUnavailable:  "E_SANDBOX_FAILED",
		outcome.IOFailure:        "E_SANDBOX_FAILED",
		outcome.Aborted:          "E_SANDBOX_FAILED",
		outcome.TimedOut:         "E_SANDBOX_FAILED",
		outcome.SessionClosed:    "E_SANDBOX_NOT_INITIALIZED",
	} {
		if got := outcome.New(o, "x", nil).Code(); got != want {
			t.Errorf("%s has the code %s, want %s", o, got, want)
		}
	}
}

func TestMissingAndDeniedReadTheSame(t *testing.T) {
	missing := outcome.New(outcome.NotFound, "a/b", syscall.ENOENT)
	denied := outcome.New(outcome.Denied, "a/b", errors.New("rule /filesystem/denyRead/2 in /home/alice/.srt-settings.json"))
	denied.Detail = "This must not be shown."
	if missing.View() != denied.View() {
		t.Errorf("told apart:\n%+v\n%+v", missing.View(), denied.View())
	}
	// Control: the name that was asked for is the one thing that differs, and a program can tell the two apart.
	if missing.View() == outcome.New(outcome.Denied, "a/c", nil).View() {
		t.Error("the name asked for is not told")
	}
	if errors.Is(missing, fs.ErrPermission) || !errors.Is(missing, fs.ErrNotExist) {
		t.Error("missing is not fs.ErrNotExist alone")
	}
	if !errors.Is(denied, fs.ErrPermission) || errors.Is(denied, fs.ErrNotExist) {
		t.Error("denied is not fs.ErrPermission alone")
	}
}

func TestRefusalsAreErrPermission(t *testing.T) {
	for _, o := range []outcome.Outcome{outcome.Denied, outcome.WriteDenied, outcome.GateDeclined, outcome.PathRejected,
		outcome.LinkOnWritePath, outcome.OutsideWriteRoot, outcome.SandboxViolation} {
		if !errors.Is(outcome.New(o, "x", nil), fs.ErrPermission) {
			t.Errorf("%s is not fs.ErrPermission", o)
		}
	}
	for _, o := range []outcome.Outcome{outcome.NotFound, outcome.IOFailure, outcome.Aborted, outcome.TooLarge} {
		if errors.Is(outcome.New(o, "x", nil), fs.ErrPermission) {
			t.Errorf("%s is fs.ErrPermission", o)
		}
	}
}

// A cause that carries all that must not be shown.
func TestNoHostPathInAnyOutcome(t *testing.T) {
	hostile := fmt.Errorf("open /home/alice/.ssh/id_rsa: user alice at /srv/work: %w",
		&os.PathError{Op: "openat2", Path: "/home/alice/ws/x", Err: syscall.ENOSPC})
	for _, o := range outcome.All() {
		for _, name := range []string{"", "src/x"} {
			e := outcome.New(o, name, hostile)
			for r := range append(outcome.Reasons(), 0) {
				e.Reason = outcome.Reason(r)
				view := e.View()
				for _, secret := range []string{"alice", "/home", "/srv", ".ssh", "ws/x", "openat2"} {
					if strings.Contains(view.Message+view.Outcome+string(view.Code), secret) {
						t.Errorf("%s shows %q: %q", o, secret, view.Message)
					}
				}
			}
		}
		if !errors.Is(outcome.New(o, "x", hostile), syscall.ENOSPC) {
			t.Errorf("%s loses its cause for a program", o)
		}
	}
	// Control: the errno's own words are shown, as they are a fixed table.
	if text := outcome.New(outcome.IOFailure, "x", hostile).Error(); !strings.Contains(text, "no space left on device") {
		t.Errorf("the system's words are missing: %q", text)
	}
}

func TestOfHidesForeignErrors(t *testing.T) {
	e := outcome.Of(errors.New("/home/alice broke"), "x")
	if e.Outcome != outcome.IOFailure || strings.Contains(e.Error(), "alice") {
		t.Errorf("%v", e)
	}
	inner := outcome.New(outcome.IsDirectory, "d", nil)
	if got := outcome.Of(fmt.Errorf("wrapped: %w", inner), "x"); got != inner {
		t.Errorf("%v", got)
	}
	if outcome.Of(nil, "x") != nil {
		t.Error("an error out of nothing")
	}
}

func TestNoteOfTheDecider(t *testing.T) {
	e := outcome.New(outcome.GateDeclined, "open_file", nil)
	e.Note = "not\x1b[2Jtoday\u202e"
	text := e.Error()
	if !strings.Contains(text, `"not\x1b[2Jtoday\u202e"`) {
		t.Errorf("%q", text)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                 `"plain"`,
		"é 日本":                  `"é 日本"`,
		"a\nb\tc\x00":           `"a\nb\tc\x00"`,
		"\x1b]52;c;aGk=\a":      `"\x1b]52;c;aGk=\a"`,
		"\u202egpj.exe":         `"\u202egpj.exe"`,
		"a\u200bb\u2028c\u00a0": `"a\u200bb\u2028c\u00a0"`,
		"\xff\xfe":              `"\xff\xfe"`,
		`say "hi" \`:            `"say \"hi\" \\"`,
		"\U000e0041":            `"\U000e0041"`,
	} {
		if got := outcome.Quote(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestThirdIdenticalRefusalSaysSo(t *testing.T) {
	const hint = "repeating the call will not help"
	args := []byte(`{"path":"a"}`)
	refusal := outcome.New(outcome.NotFound, "a", nil)
	denied := outcome.New(outcome.Denied, "a", nil)
	type call struct {
		tool string
		args []byte
		err  error
		hint bool
	}
	same := func(err error, hint bool) call { return call{"open_file", args, err, hint} }
	for name, calls := range map[string][]call{
		"third and later":        {same(refusal, false), same(refusal, false), same(refusal, true), same(refusal, true)},
		"denied counts alike":    {same(denied, false), same(refusal, false), same(denied, true)},
		"success between":        {same(refusal, false), same(refusal, false), same(nil, false), same(refusal, false)},
		"other arguments":        {same(refusal, false), same(refusal, false), {"open_file", []byte(`{"path": "a"}`), refusal, false}},
		"other tool":             {same(refusal, false), same(refusal, false), {"stage_file", args, refusal, false}},
		"other refusal between":  {same(refusal, false), same(refusal, false), same(outcome.New(outcome.IsDirectory, "a", nil), false), same(refusal, false)},
		"a failure is no denial": {same(outcome.New(outcome.IOFailure, "a", nil), false), same(outcome.New(outcome.IOFailure, "a", nil), false), same(outcome.New(outcome.IOFailure, "a", nil), false)},
	} {
		var r outcome.Repeats
		for i, c := range calls {
			err := r.Observe(c.tool, c.args, c.err)
			if got := err != nil && strings.Contains(err.Error(), hint); got != c.hint {
				t.Errorf("%s: call %d: hint %v, want %v (%v)", name, i+1, got, c.hint, err)
			}
		}
	}
	if strings.Contains(refusal.Error(), hint) {
		t.Error("the caller's own error was changed")
	}
}
