package search

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// errNoSummary: ripgrep ends its JSON with a summary. Without one, what came is not known to be all.
var errNoSummary = errors.New("the output of ripgrep breaks off")

// errorLines takes what ripgrep writes to standard error: complaints about entries, each beginning with the path as it was
// given, or one about the pattern. It keeps counts and the beginning, whatever the length.
type errorLines struct {
	pattern   string
	selection *selection
	withheld  int64
	failed    int64

	head []byte // the first bytes of all
	line []byte // the line that is not ended yet, its first bytes
}

const (
	maxErrorHead = 4 << 10
	maxErrorLine = maxPath + 256
)

// Write implements io.Writer.
func (e *errorLines) Write(p []byte) (int, error) {
	n := len(p)
	e.head = append(e.head, p[:min(len(p), maxErrorHead-len(e.head))]...)
	for {
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		e.line = append(e.line, part[:min(len(part), maxErrorLine-len(e.line))]...)
		if i < 0 {
			return n, nil
		}
		e.entry(e.line)
		e.line, p = e.line[:0], p[i+1:]
	}
}

// complaint is about one entry. Version 14 put "rg: " in front.
var complaint = regexp.MustCompile(`^(?:rg: )?\./(.*): .* \(os error ([0-9]+)\)$`)

func (e *errorLines) entry(line []byte) {
	m := complaint.FindSubmatch(line)
	if m == nil {
		return
	}
	number, err := strconv.Atoi(string(m[2]))
	if err != nil {
		return
	}
	switch syscall.Errno(number) {
	case syscall.ENOENT: // it went away while the search was under way
	case syscall.EACCES, syscall.EPERM:
		if n := e.selection.narrowing; (n.glob == nil && n.iglob == nil) || !n.keeps(e.selection.below(string(m[1]))) {
			e.withheld++
		}
	default:
		e.failed++
	}
}

// aboutEntries reports whether ripgrep's first complaint is about an entry and not about the pattern or the arguments. The
// name of an entry may hold a line feed and then the text of any other complaint, but it cannot come first.
func (e *errorLines) aboutEntries() bool {
	return bytes.HasPrefix(bytes.TrimPrefix(e.head, []byte("rg: ")), []byte("./"))
}

// aboutStart gives the errno of a complaint about the start itself: it was there a moment ago, and the kernel closes it or
// it has gone. Only the first complaint is believed, see aboutEntries.
func (e *errorLines) aboutStart() syscall.Errno {
	first, _, _ := bytes.Cut(e.head, []byte("\n"))
	m := complaint.FindSubmatch(first)
	if m == nil || "./"+string(m[1]) != e.selection.start.argument() {
		return 0
	}
	number, _ := strconv.Atoi(string(m[2]))
	return syscall.Errno(number)
}

// notStarted words why ripgrep does not run: policy first.
func notStarted(ctx context.Context, asked string, err error) error {
	var exec *enforcer.ExecError
	switch {
	case ctx.Err() != nil:
		return ended(ctx, asked)
	case errors.Is(err, enforcer.ErrClosed):
		return outcome.New(outcome.SessionClosed, asked, err)
	case errors.As(err, &exec) && errors.Is(err, os.ErrPermission):
		e := outcome.New(outcome.SandboxViolation, asked, err)
		e.Detail = "The settings keep the search program from being run."
		return e
	case errors.As(err, &exec) && errors.Is(err, os.ErrNotExist):
		e := outcome.New(outcome.IOFailure, asked, err)
		e.Detail = "The search program, ripgrep, is not installed, or the settings name another."
		return e
	}
	e := outcome.New(outcome.IOFailure, asked, err)
	e.Detail = "The search program could not be started in its sandbox."
	return e
}

// conclude words the end of a search that was read to its end or broke: what the sandbox did first, then the pattern, then
// what else failed. ripgrep exits with 0 or 1 (nothing matched) after a whole search, and with 2 after a complaint.
func conclude(asked string, errs *errorLines, end Ending, waitErr, readErr error) error {
	failure := func(o outcome.Outcome, detail outcome.Plain) error {
		e := outcome.New(o, asked, errors.Join(waitErr, readErr))
		e.Detail = detail
		return e
	}
	switch {
	case waitErr != nil:
		return failure(outcome.IOFailure, "The sandbox of the search broke.")
	case end.TimedOut:
		return failure(outcome.TimedOut, "The settings bound how long a program runs.")
	case end.Signal == syscall.SIGSYS:
		return failure(outcome.SandboxViolation, "The search program made a system call that is closed.")
	case end.Signal != 0 && readErr == nil:
		return failure(outcome.IOFailure, "The search program was killed.")
	case end.Code == 2 && (errs.aboutStart() == syscall.EACCES || errs.aboutStart() == syscall.EPERM):
		return failure(outcome.Denied, "")
	case end.Code == 2 && errs.aboutStart() == syscall.ENOENT:
		return failure(outcome.NotFound, "")
	case end.Code == 2 && !errs.aboutEntries():
		return errs.usage(asked)
	case readErr != nil:
		return failure(outcome.IOFailure, "What the search program wrote breaks off or does not parse.")
	case end.Code > 2:
		return failure(outcome.IOFailure, "The search program failed.")
	}
	return nil
}

// usage words a complaint about the arguments. Of those only the pattern is the model's: globs were checked before.
func (e *errorLines) usage(asked string) error {
	text := strings.TrimPrefix(string(e.head), "rg: ")
	cause := errors.New(strings.TrimSpace(text))
	if !strings.Contains(strings.ToLower(text), "regex") {
		f := outcome.New(outcome.IOFailure, asked, cause)
		f.Detail = "The search program did not take its arguments."
		return f
	}
	var detail outcome.Plain
	for line := range strings.Lines(text) {
		// The line that says what is wrong is the parser's, apart from parts of the pattern.
		if what, ok := strings.CutPrefix(strings.TrimSpace(line), "error: "); ok && !strings.Contains(what, "/") {
			detail = outcome.Quoted("The parser says: ", what, ".")
			break
		}
	}
	return badPattern(e.pattern, detail, cause)
}
