package outcome

// Code is the stable identifier that a program acts on. The zero value is no code.
type Code string

// The codes of the whole system. Refused means that the policy, the gate or a rule of the tools said no and nothing was
// tried; failed means that it was tried and broke.
const (
	CodeInvalidConfig        Code = "E_INVALID_SANDBOX_CONFIG"
	CodeUnsupportedEnv       Code = "E_SANDBOX_UNSUPPORTED_ENV"
	CodeDependencyMissing    Code = "E_SANDBOX_DEPENDENCY_MISSING"
	CodeNotInitialized       Code = "E_SANDBOX_NOT_INITIALIZED"
	CodePolicyConflict       Code = "E_SANDBOX_POLICY_CONFLICT"
	CodeNarrowingUnsupported Code = "E_SANDBOX_NARROWING_UNSUPPORTED"
	CodeGateRequired         Code = "E_SANDBOX_GATE_REQUIRED"
	CodeRefused              Code = "E_SANDBOX_REFUSED"
	CodeFailed               Code = "E_SANDBOX_FAILED"
	CodePathEscape           Code = "E_SANDBOX_PATH_ESCAPE"
	CodeNotDescribable       Code = "E_READER_NOT_DESCRIBABLE"
)

// SetupError says that something could not be built, to the person who builds it. Unlike an [Error] it may name host
// paths: no model reads it.
type SetupError struct {
	Code    Code
	Message string // lower case, no final full stop; names the option or feature
	Err     error  // may be nil
}

// Error gives the code, the message and the cause.
func (e *SetupError) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *SetupError) Unwrap() error { return e.Err }
