package gate

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Answer is what a person made of a question. The zero value is none, and declines.
type Answer uint8

// The answers.
const (
	Accepted  Answer = iota + 1
	Refused          // the person said no
	Dismissed        // the person closed the question without an answer
)

// Elicitor puts a question to the person behind a client, and waits. It must be safe for concurrent use.
type Elicitor interface {
	Elicit(ctx context.Context, question string) (Answer, error)
}

// Deps are what the gates of a command line need from around them.
type Deps struct {
	Warn     io.Writer // where allow-all says what it means
	Elicitor Elicitor  // nil: elicit is refused
}

// ParseSpec makes a gate from its spelling on a command line: elicit, exec:PROGRAM, rules:FILE or allow-all. An empty one
// is an *outcome.SetupError of the code E_SANDBOX_GATE_REQUIRED, any other that will not do one of
// E_INVALID_SANDBOX_CONFIG.
func ParseSpec(spec string, deps Deps) (Gate, error) {
	kind, value, hasValue := strings.Cut(spec, ":")
	switch {
	case spec == "":
		return nil, Required(nil)
	case kind == "exec" && value != "":
		return NewExec(value, 0)
	case kind == "rules" && value != "":
		return NewRules(value, deps)
	case kind == "elicit" && !hasValue:
		if deps.Elicitor == nil {
			return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "gate elicit: there is no client to ask here"}
		}
		return elicit{deps.Elicitor}, nil
	case kind == "allow-all" && !hasValue:
		return newAllowAll(deps.Warn)
	}
	return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig,
		Message: fmt.Sprintf("gate %q is unknown; write elicit, exec:/path/of/program, rules:/path/of/file or allow-all", spec)}
}

// allowAllMeans is said once, when the gate is made.
const allowAllMeans = "sandboxctl: gate allow-all: every call is approved unseen. The model can read, and pass on, every file that the settings open to it.\n"

type allowAll struct{}

func newAllowAll(warn io.Writer) (Gate, error) {
	if warn == nil {
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "gate allow-all: there is nowhere to say what it means"}
	}
	if _, err := io.WriteString(warn, allowAllMeans); err != nil {
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "gate allow-all: what it means could not be said", Err: err}
	}
	return allowAll{}, nil
}

// Decide implements [Gate].
func (allowAll) Decide(context.Context, Call) (Verdict, error) { return Verdict{Approved: true}, nil }

type elicit struct{ to Elicitor }

// Decide implements [Gate].
func (e elicit) Decide(ctx context.Context, call Call) (Verdict, error) {
	answer, err := e.to.Elicit(ctx, "Approve this call? It is shown in full.\n\n"+call.Shown()+"\n\n"+call.Digest())
	if err != nil {
		return Verdict{}, err
	}
	switch answer {
	case Accepted:
		return Verdict{Approved: true}, nil
	case Dismissed:
		return Verdict{Note: "the question was closed without an answer"}, nil
	}
	return Verdict{}, nil
}
