package outcome

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Plain is text that is fit for a model: written in our code, made of constants and numbers. Turning any other string
// into it is a claim that the text holds no host path; there should be few such places.
type Plain string

// Number puts n after the text.
func Number(before Plain, n int64, after Plain) Plain {
	return before + Plain(strconv.FormatInt(n, 10)) + after
}

// Quoted puts a text of the model's own, made harmless, after the text. Never give it a text from anywhere else.
func Quoted(before Plain, text string, after Plain) Plain {
	return before + Plain(Quote(text)) + after
}

// Error is a call that ended with an [Outcome]. It is immutable and safe for concurrent use.
//
// errors.Is(err, fs.ErrPermission) holds for what a policy or a decider refused, errors.Is(err, fs.ErrNotExist) for
// [NotFound] alone, so a program can tell the two apart where a model cannot.
type Error struct {
	Outcome Outcome
	Name    string // what was asked for, in the model's own words; "" when nothing was named
	Reason  Reason // of PathRejected
	Detail  Plain  // one sentence more, or ""
	Note    string // the decider's own words, of GateDeclined
	Repeat  int    // how often in a row this denial was given, this time included; see Repeats
	Cause   error  // for errors.Is and for the operator's log; never shown to a model; may be nil
}

// New makes an error for the name that was asked for.
func New(o Outcome, name string, cause error) *Error {
	return &Error{Outcome: o, Name: name, Cause: cause}
}

// Reject makes the error of a rejected path.
func Reject(name string, r Reason) *Error {
	return &Error{Outcome: PathRejected, Name: name, Reason: r}
}

// Code is the code that a model and a program see.
func (e *Error) Code() Code {
	if e.Outcome == PathRejected && e.Reason == ReasonEscapes {
		return CodePathEscape
	}
	return e.Outcome.Code()
}

// Error gives the words for a model. It never holds the text of the cause.
func (e *Error) Error() string {
	var b strings.Builder
	o := e.Outcome.seen()
	if o == 0 || o >= outcomeEnd {
		o = IOFailure
	}
	w := words[o]
	if e.Name == "" {
		b.WriteString("This call")
	} else {
		b.WriteString(Quote(e.Name))
	}
	b.WriteString(" " + w.said + ".")
	if o == PathRejected && e.Reason > 0 && e.Reason < reasonEnd {
		b.WriteString(" " + reasonWords[e.Reason].said)
	}
	// What a missing entry cannot have, a denied one must not show.
	if e.Detail != "" && o != NotFound {
		b.WriteString(" " + string(e.Detail))
	}
	if o == IOFailure {
		if text := errnoText(e.Cause); text != "" {
			b.WriteString(" The system says: " + text + ".")
		}
	}
	if e.Note != "" {
		b.WriteString(" The approver says: " + Quote(e.Note) + ".")
	}
	if w.remedy != "" {
		b.WriteString(" " + w.remedy)
	}
	if e.Repeat >= RepeatsBeforeWarning {
		b.WriteString(" This is the same refusal " + strconv.Itoa(e.Repeat) + " times in a row: repeating the call will not help.")
	}
	return b.String()
}

// Unwrap gives the cause. Its text may hold host paths.
func (e *Error) Unwrap() error { return e.Cause }

// Is makes refusals answer to fs.ErrPermission and missing entries to fs.ErrNotExist.
func (e *Error) Is(target error) bool {
	switch target {
	case fs.ErrPermission:
		switch e.Outcome {
		case Denied, WriteDenied, GateDeclined, PathRejected, LinkOnWritePath, OutsideWriteRoot, SandboxViolation:
			return true
		}
	case fs.ErrNotExist:
		return e.Outcome == NotFound
	}
	return false
}

// View is an [Error] as a model is given it.
type View struct {
	Code    Code   `json:"code"`
	Outcome string `json:"outcome"`
	Message string `json:"message"`
}

// View gives what may be shown.
func (e *Error) View() View {
	return View{Code: e.Code(), Outcome: e.Outcome.String(), Message: e.Error()}
}

// Of gives the outcome of an error: the one it carries, else [IOFailure], as an error of ours.
func Of(err error, name string) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return New(IOFailure, name, err)
}

// Words gives the sentence of a note, such as [ResultLimited].
func Words(o Outcome, name string, detail Plain) string {
	return (&Error{Outcome: o, Name: name, Detail: detail}).Error()
}

// errnoText gives the system's words for an errno. They are a fixed table; every other text of a cause may hold a path.
func errnoText(err error) string {
	var errno syscall.Errno
	if err == nil || !errors.As(err, &errno) {
		return ""
	}
	return errno.Error()
}

// Quote puts a text in double quotes and escapes what could act on a terminal or on the reading order: control
// characters, formats (bidirectional marks, zero-width characters), separators other than the space, and bytes that are
// not UTF-8.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + hex2(s[i]))
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteString(s[i : i+n])
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		i += n
	}
	b.WriteByte('"')
	return b.String()
}

func hex2(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}
