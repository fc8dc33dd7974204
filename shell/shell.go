package shell

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sandboxctl/sandboxctl/artifact"
	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Spools makes the artifacts that output becomes. *artifact.Store is one.
type Spools interface {
	Spool(meta artifact.Meta) (*artifact.Spool, error)
}

// Options says how to run commands.
type Options struct {
	// Enforcer runs them. Required.
	Enforcer *enforcer.Enforcer
	// Root is the workspace: absolute, clean and free of links. Required.
	Root string
	// Spools makes artifacts. Required.
	Spools Spools
	// PreviewBytes bounds the preview of a result, in bytes; nil = 8 KiB, 0 = no preview.
	PreviewBytes *int
	// MaxOutputBytes bounds what is kept of one command's output, in bytes; 0 = 1 GiB. Of more, the beginning and the end
	// are kept, with a line between them that says how much is missing, and the command runs on.
	MaxOutputBytes int64
}

const defaultMaxOutputBytes = 1 << 30

// DefaultTimeout is how long a command may run unless the request says otherwise.
const DefaultTimeout = 300 * time.Second

// MaxTimeout is the longest that a request may ask for.
const MaxTimeout = 24 * time.Hour

// MaxCommand bounds a command line in bytes. The kernel takes an argument of less than 128 KiB (execve(2), MAX_ARG_STRLEN).
const MaxCommand = 120 << 10

// Shell runs command lines. It is immutable and safe for concurrent use.
type Shell struct {
	options Options
	preview int
}

// New checks the options. The error is an *outcome.SetupError.
func New(o Options) (*Shell, error) {
	invalid := func(message string) (*Shell, error) {
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: message}
	}
	switch {
	case o.Enforcer == nil:
		return invalid("a shell needs an enforcer")
	case o.Spools == nil:
		return invalid("a shell needs a store for its output")
	case !filepath.IsAbs(o.Root) || filepath.Clean(o.Root) != o.Root:
		return invalid("the workspace of a shell must be an absolute and clean path: " + strconv.Quote(o.Root))
	case o.PreviewBytes != nil && *o.PreviewBytes < 0:
		return invalid("the size of a preview is negative")
	case o.MaxOutputBytes < 0:
		return invalid("the bound on output is negative")
	}
	if o.MaxOutputBytes == 0 {
		o.MaxOutputBytes = defaultMaxOutputBytes
	}
	s := &Shell{options: o, preview: artifact.DefaultPreviewBytes}
	if o.PreviewBytes != nil {
		s.preview = *o.PreviewBytes
	}
	return s, nil
}

// Request is one command line.
type Request struct {
	// Command is given to /bin/sh -c. Required.
	Command string
	// Dir is where the command starts: absolute, clean, free of links, at or below Options.Root; "" = that.
	Dir string
	// Timeout ends the command; 0 = DefaultTimeout. The settings' own limit holds too.
	Timeout time.Duration
}

// Result is a command that ran. ExitCode and the counts are as [Shell.Run] says.
type Result struct {
	CallID   string `json:"callId"`
	ExitCode *int   `json:"exitCode"` // 128 + n when signal n ended it; nil when the time limit did
	TimedOut bool   `json:"timedOut"`
	// ByteLength and LineCount are of all that was written, our last lines included, also where not all of it was kept.
	ByteLength int64 `json:"byteLength"`
	LineCount  int64 `json:"lineCount"`
	// KeptBytes is how much of it the artifact holds, when that is not all; else 0.
	KeptBytes int64 `json:"keptBytes,omitempty"`
	// Preview is the beginning and the end of the artifact, as UTF-8.
	Preview string `json:"preview"`
}

// toolName is for messages about the arguments.
const toolName = "run_shell_command"

func (s *Shell) check(r *Request) error {
	invalid := func(detail outcome.Plain) error {
		e := outcome.New(outcome.InvalidArguments, toolName, nil)
		e.Detail = detail
		return e
	}
	switch {
	case strings.TrimSpace(r.Command) == "":
		return invalid("command is empty.")
	case strings.ContainsRune(r.Command, 0):
		return invalid("command holds a NUL byte, which no shell takes; write it as an escape of printf.")
	case len(r.Command) > MaxCommand:
		return invalid(outcome.Number("command is longer than ", MaxCommand, " bytes; put what it writes into a file of its own."))
	case r.Timeout < 0 || r.Timeout > MaxTimeout:
		return invalid(outcome.Number("timeout_seconds must be greater than 0 and at most ", int64(MaxTimeout/time.Second), "."))
	}
	if r.Timeout == 0 {
		r.Timeout = DefaultTimeout
	}
	if r.Dir == "" {
		r.Dir = s.options.Root
	}
	if strings.ContainsRune(r.Dir, 0) || !within(s.options.Root, r.Dir) {
		return outcome.Reject("cwd", outcome.ReasonEscapes)
	}
	return nil
}

// within reports whether a path is at or below a directory; both are clean, or the answer is no.
func within(dir, path string) bool {
	if filepath.Clean(path) != path {
		return false
	}
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
