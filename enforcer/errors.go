package enforcer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// Code is a stable word for a kind of error, for programs that act on it.
type Code string

// Codes of this package.
const (
	CodeUnsupported    Code = "E_SANDBOX_UNSUPPORTED_ENV"
	CodeDependency     Code = "E_SANDBOX_DEPENDENCY_MISSING"
	CodeNotInitialized Code = "E_SANDBOX_NOT_INITIALIZED"
	CodeFailed         Code = "E_SANDBOX_FAILED"
	CodeRefused        Code = "E_SANDBOX_REFUSED"
	CodeInvalid        Code = "E_INVALID_SANDBOX_CONFIG"
)

// ErrNotSupported is what every [FeatureError] is: the kernel, or what surrounds this process, lacks something.
var ErrNotSupported = errors.New("not supported here")

// FeatureError is a missing kernel feature. It answers errors.Is(err, ErrNotSupported) and unwraps to the errno, if any.
type FeatureError struct {
	Feature string // as in "user namespaces"
	Reason  string // what was found, one clause
	Remedy  string // the way on, one clause
	Err     error  // the errno of the attempt; may be nil
}

func (e *FeatureError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Feature, e.Reason)
	if e.Err != nil {
		fmt.Fprintf(&b, " (%v)", e.Err)
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Is makes every FeatureError an ErrNotSupported.
func (e *FeatureError) Is(target error) bool { return target == ErrNotSupported }

func (e *FeatureError) Unwrap() error { return e.Err }

// Code returns CodeUnsupported.
func (e *FeatureError) Code() Code { return CodeUnsupported }

// SettingError is a settings entry that cannot be enforced here.
type SettingError struct {
	Source srtconfig.Source
	Name   string // of the key, as in "network.allowedDomains"
	Reason string // why it cannot be enforced and what to do, one clause
}

func (e *SettingError) Error() string {
	where := ""
	if e.Source.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d: ", e.Source.File, e.Source.Line, e.Source.Column)
	}
	return fmt.Sprintf("%s%s %s", where, e.Name, e.Reason)
}

// Code returns CodeUnsupported.
func (e *SettingError) Code() Code { return CodeUnsupported }

// SetupError is a launch that failed before the command ran. It unwraps to the cause, and through it to the errno.
type SetupError struct {
	Err  error
	Hint string // the settings entry to change, or the remedy; "" when there is none
}

func (e *SetupError) Error() string {
	if e.Hint == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + "; " + e.Hint
}

func (e *SetupError) Unwrap() error { return e.Err }

// Code returns CodeFailed.
func (e *SetupError) Code() Code { return CodeFailed }

// ExecError is a command that could not be executed inside the sandbox.
type ExecError struct {
	Path string
	Err  error  // the errno
	Hint string // the settings entry that closes the program, if one does
}

func (e *ExecError) Error() string {
	s := fmt.Sprintf("%s: %v", e.Path, e.Err)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *ExecError) Unwrap() error { return e.Err }

// ErrClosed is returned by an Enforcer that was closed. Its code is CodeNotInitialized.
var ErrClosed = errors.New("the sandbox is closed")

// ErrNoStage says that the program does not hand over to the stage. Its code is CodeDependency.
var ErrNoStage = errors.New("this program cannot start sandboxes: call enforcer.RunInitStage() as the first statement of main (and of TestMain)")
