package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Gate decides about calls. It may wait as long as it likes, should return when the context ends, and must be safe for
// concurrent use: calls wait independently.
type Gate interface {
	Decide(ctx context.Context, call Call) (Verdict, error)
}

// Func is a function as a Gate.
type Func func(ctx context.Context, call Call) (Verdict, error)

// Decide implements [Gate].
func (f Func) Decide(ctx context.Context, call Call) (Verdict, error) { return f(ctx, call) }

// Verdict is an answer. The zero value declines.
type Verdict struct {
	Approved bool
	Note     string // for the model, quoted, when the call is declined; may be ""
}

// ErrTimedOut is returned by a gate whose own time for an answer ended.
var ErrTimedOut = errors.New("the approver did not answer in time")

// Call is what is decided about. It is immutable.
type Call struct {
	tool   string
	args   []byte
	digest [sha256.Size]byte
}

// NewCall takes a copy of the arguments, which must be valid JSON.
func NewCall(tool string, args []byte) Call {
	c := Call{tool: tool, args: slices.Clone(args)}
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(tool))))
	h.Write([]byte(tool))
	h.Write(c.args)
	h.Sum(c.digest[:0])
	return c
}

// Tool is the name of the tool.
func (c Call) Tool() string { return c.tool }

// Args is a copy of the exact bytes of the arguments.
func (c Call) Args() json.RawMessage { return slices.Clone(c.args) }

// Digest names the exact bytes of the call: "sha256:" and the hexadecimal SHA-256 of the length of the tool's name (8
// bytes, big end first), the name, and the arguments.
func (c Call) Digest() string { return "sha256:" + hex.EncodeToString(c.digest[:]) }

// Required returns an *outcome.SetupError of the code E_SANDBOX_GATE_REQUIRED when g is no gate.
func Required(g Gate) error {
	if g != nil {
		v := reflect.ValueOf(g)
		switch v.Kind() {
		case reflect.Func, reflect.Pointer, reflect.Map, reflect.Interface:
			if !v.IsNil() {
				return nil
			}
		default:
			return nil
		}
	}
	return &outcome.SetupError{Code: outcome.CodeGateRequired, Message: "every tool needs a gate, and there is no default one: name who approves calls"}
}

// Ask puts a call to a gate and returns nil when it is approved. Otherwise the error is an *outcome.Error: GateDeclined,
// TimedOut (the gate's time, or the deadline of ctx), GateUnavailable (the gate failed) or Aborted (the caller
// cancelled). An approval that comes after ctx has ended approves nothing.
func Ask(ctx context.Context, g Gate, call Call) error {
	if err := Required(g); err != nil {
		return unavailable(call, err)
	}
	type answer struct {
		verdict Verdict
		err     error
	}
	answers := make(chan answer, 1) // room for one: a late answer must not hold its goroutine
	go func() {
		v, err := g.Decide(ctx, call)
		answers <- answer{v, err}
	}()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), ctx.Err() == nil && errors.Is(a.err, ErrTimedOut):
		e := outcome.New(outcome.TimedOut, call.tool, errors.Join(a.err, ctx.Err()))
		e.Detail = "The approver did not answer."
		return e
	case ctx.Err() != nil:
		return outcome.New(outcome.Aborted, call.tool, ctx.Err())
	case a.err != nil:
		return unavailable(call, a.err)
	case !a.verdict.Approved:
		e := outcome.New(outcome.GateDeclined, call.tool, nil)
		e.Note = a.verdict.Note
		return e
	}
	return nil
}

func unavailable(call Call, err error) error {
	return outcome.New(outcome.GateUnavailable, call.tool, err)
}

// Shown gives the whole call for a person to read: the tool and its arguments as JSON on one line. It parses as the same
// JSON that runs.
//
// Everything outside printable ASCII is written as an escape. Letters of other scripts are among it, since many look like
// ASCII letters and no short rule tells which.
func (c Call) Shown() string {
	var b bytes.Buffer
	b.WriteString(escape(c.tool))
	b.WriteByte(' ')
	var compact bytes.Buffer
	if err := json.Compact(&compact, c.args); err != nil {
		// Not JSON, so no tool runs it; it is shown all the same.
		quoted, _ := json.Marshal(string(c.args)) // a string always marshals
		compact.Write(quoted)
	}
	b.WriteString(escape(compact.String()))
	return b.String()
}

// escape writes what is not printable ASCII as JSON does: \u and four digits, in pairs above U+FFFF.
func escape(s string) string {
	var b bytes.Buffer
	for _, r := range s {
		switch {
		case ' ' <= r && r <= '~':
			b.WriteByte(byte(r))
		case r > 0xffff:
			r -= 0x10000
			unit(&b, 0xd800+r>>10)
			unit(&b, 0xdc00+r&0x3ff)
		default:
			unit(&b, r)
		}
	}
	return b.String()
}

func unit(b *bytes.Buffer, r rune) {
	const digits = "0123456789abcdef"
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(digits[r>>shift&15])
	}
}
