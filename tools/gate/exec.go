package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sandboxctl/sandboxctl/tools/internal/strictjson"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// What a deciding program may write. More is a fault of the program, and no approval.
const (
	maxVerdictBytes = 64 << 10
	maxStderrBytes  = 4 << 10
)

// Exec asks a program, one run for each call, outside the sandbox and with this process's environment. The program gets
// no arguments. On its standard input stands one JSON object, and it closes:
//
//	{"tool": "open_file", "args": {"path": "a"}, "shown": "open_file {\"path\":\"a\"}", "digest": "sha256:…"}
//
// It answers on its standard output with one JSON object, and exits with status 0:
//
//	{"approved": true, "note": "optional, for the model", "digest": "optional; when given it must be the call's"}
//
// Anything else is a failure of the gate.
type Exec struct {
	path    string
	timeout time.Duration
}

// NewExec makes the gate. path must be absolute and an executable file: a name looked up in a directory that a sandboxed
// command can write to would let the command approve itself. timeout is how long one answer may take; 0 means for ever.
func NewExec(path string, timeout time.Duration) (*Exec, error) {
	fail := func(message string, err error) (*Exec, error) {
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "gate exec:" + path + ": " + message, Err: err}
	}
	if !filepath.IsAbs(path) {
		return fail("the program must be named by an absolute path", nil)
	}
	st, err := os.Stat(path)
	if err != nil {
		return fail("the program cannot be run", err)
	}
	if !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
		return fail("it is not an executable file", nil)
	}
	return &Exec{path: path, timeout: timeout}, nil
}

// execQuestion is what the program reads.
type execQuestion struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Shown  string          `json:"shown"`
	Digest string          `json:"digest"`
}

// Decide implements [Gate]. When ctx ends, the program is killed.
func (e *Exec) Decide(ctx context.Context, call Call) (Verdict, error) {
	var question bytes.Buffer
	enc := json.NewEncoder(&question)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(execQuestion{call.Tool(), call.Args(), call.Shown(), call.Digest()}); err != nil {
		return Verdict{}, fmt.Errorf("the call cannot be put to %s: %w", e.path, err)
	}
	run := ctx
	if e.timeout > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeoutCause(ctx, e.timeout, ErrTimedOut)
		defer cancel()
	}
	stdout, stderr := bounded{max: maxVerdictBytes}, bounded{max: maxStderrBytes, drop: true}
	cmd := exec.CommandContext(run, e.path)
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &question, &stdout, &stderr
	// A child of the program may keep the pipes open; its answer is not waited for.
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case run.Err() != nil:
		return Verdict{}, context.Cause(run)
	case stdout.over:
		return Verdict{}, fmt.Errorf("%s answered with more than %d bytes", e.path, maxVerdictBytes)
	case err != nil:
		return Verdict{}, fmt.Errorf("%s: %w: %s", e.path, err, strconv.QuoteToASCII(stderr.buf.String()))
	}
	v, err := parseVerdict(stdout.buf.Bytes(), call.Digest())
	if err != nil {
		return Verdict{}, fmt.Errorf("%s: %w", e.path, err)
	}
	return v, nil
}

// parseVerdict reads an answer. approved must be there; a digest, when there, must be the call's.
func parseVerdict(raw []byte, digest string) (Verdict, error) {
	fields, err := strictjson.Object(raw, "approved", "note", "digest")
	if err != nil {
		return Verdict{}, fmt.Errorf("its answer is not a verdict: %w", err)
	}
	var answer struct {
		Approved *bool   `json:"approved"`
		Note     *string `json:"note"`
		Digest   *string `json:"digest"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return Verdict{}, fmt.Errorf("its answer is not a verdict: %w", err)
	}
	for _, name := range []string{"note", "digest"} {
		if string(fields[name]) == "null" {
			return Verdict{}, fmt.Errorf("its answer is not a verdict: %s is null", name)
		}
	}
	if answer.Approved == nil {
		return Verdict{}, errors.New("its answer does not say whether the call is approved")
	}
	if answer.Digest != nil && *answer.Digest != digest {
		return Verdict{}, errors.New("its answer is about another call")
	}
	v := Verdict{Approved: *answer.Approved}
	if answer.Note != nil {
		v.Note = *answer.Note
	}
	return v, nil
}

// bounded keeps at most max bytes. What is over is an error for the writer, or is dropped. The buffer is not embedded:
// its ReadFrom would be found by io.Copy, and would read without a bound.
type bounded struct {
	buf  bytes.Buffer
	max  int
	drop bool
	over bool
}

var errTooMuch = errors.New("too much output")

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	room := b.max - b.buf.Len()
	if len(p) <= room {
		return b.buf.Write(p)
	}
	b.over = true
	b.buf.Write(p[:room])
	if b.drop {
		return len(p), nil
	}
	return room, errTooMuch
}
