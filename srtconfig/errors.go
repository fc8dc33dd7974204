package srtconfig

import (
	"errors"
	"fmt"
	"strings"
)

// The codes that the errors of this package carry.
const (
	CodeInvalidConfig  = "E_INVALID_SANDBOX_CONFIG"
	CodePolicyConflict = "E_SANDBOX_POLICY_CONFLICT"
)

// SettingsError is one thing that is wrong with a settings file. Parse, Load and Derive return all of them at once,
// joined by errors.Join in the order of the file; errors.As finds the first.
type SettingsError struct {
	File    string // the file as it was named; "" when the settings came from no file
	Pointer string // JSON pointer; "" when the file as a whole is meant
	Line    int    // from 1; 0 when there is no place to point at
	Column  int    // from 1, in bytes
	Err     error
}

// Error gives file, line, column, pointer and reason, as compilers do: "s.json:3:5: /filesystem/denyRead/0: ...".
func (e *SettingsError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
		}
		b.WriteString(": ")
	}
	if e.Pointer != "" {
		b.WriteString(e.Pointer)
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the reason.
func (e *SettingsError) Unwrap() error { return e.Err }

// Code returns CodeInvalidConfig.
func (e *SettingsError) Code() string { return CodeInvalidConfig }

// SettingsErrors returns every *SettingsError that err holds, in order. It is for programs that show them one by one.
func SettingsErrors(err error) []*SettingsError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*SettingsError
		for _, e := range joined.Unwrap() {
			all = append(all, SettingsErrors(e)...)
		}
		return all
	}
	var one *SettingsError
	if errors.As(err, &one) {
		return []*SettingsError{one}
	}
	return nil
}

func errorAt(s Source, format string, args ...any) *SettingsError {
	return &SettingsError{File: s.File, Pointer: s.Pointer, Line: s.Line, Column: s.Column, Err: fmt.Errorf(format, args...)}
}

func joinErrors(errs []*SettingsError) error {
	all := make([]error, len(errs))
	for i, e := range errs {
		all[i] = e
	}
	return errors.Join(all...)
}
