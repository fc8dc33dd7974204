package artifact

import (
	"errors"
	"fmt"
	"io/fs"
)

// The codes that errors of this package carry.
const (
	CodeNotInitialized = "E_SANDBOX_NOT_INITIALIZED"
	CodeNotDescribable = "E_READER_NOT_DESCRIBABLE"
)

// CodedError is an error with a code that a program can act on. Two of them are the same to errors.Is when their
// codes are.
type CodedError struct {
	Code   string
	Reason string
	Err    error // the cause, or nil
}

func (e *CodedError) Error() string {
	s := e.Code + ": " + e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *CodedError) Unwrap() error { return e.Err }

// Is reports whether target is a CodedError with the same code.
func (e *CodedError) Is(target error) bool {
	t, ok := target.(*CodedError)
	return ok && t.Code == e.Code
}

var (
	// ErrNotInitialized is what every query returns once the store is closed or its owner says that it is gone.
	ErrNotInitialized = &CodedError{Code: CodeNotInitialized, Reason: "the session that owned this artifact has ended"}
	// ErrReaderNotDescribable is returned where no other process could open what a reader reads: by
	// [Artifact.Describe] for a file without a name, and by others for media that are in memory only.
	ErrReaderNotDescribable = &CodedError{Code: CodeNotDescribable, Reason: "the reader has no descriptor that another process could open"}
)

var (
	// ErrNotRegular is returned by [Store.File] for anything but a regular file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrIdentity is returned by [Store.Reopen] when the path leads to something else than what was described.
	ErrIdentity = errors.New("the file is not the one that was described")
	// ErrDuplicate is returned when a call id is taken.
	ErrDuplicate = errors.New("the call id is taken")
)

// UnknownArtifactError is returned for a call id that names no artifact.
type UnknownArtifactError struct {
	CallID string
	// Dropped is set when there was one, and it had to make room for newer ones.
	Dropped bool
}

func (e *UnknownArtifactError) Error() string {
	if e.Dropped {
		return fmt.Sprintf("artifact %.80q was dropped to make room for newer ones; run the call that made it again", e.CallID)
	}
	return fmt.Sprintf("there is no artifact %.80q; use the callId of an earlier result", e.CallID)
}

// ArgumentError is returned for an argument that a query does not take or whose value it cannot use. Its text is
// fit for a model to read.
type ArgumentError struct {
	Argument string
	Reason   string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("argument %.80q: %s", e.Argument, e.Reason)
}

// FormatError is returned by JSON and Markdown queries on text that is not in the format. Text queries still work.
type FormatError struct {
	Format string // "JSON", "JSON5", "YAML front matter"
	Err    error  // with the place
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("not valid %s: %v; artifact_cat and artifact_grep still work on it as text", e.Format, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// TooLargeError is returned by queries that need all of a document in memory.
type TooLargeError struct {
	Format string
	Size   int64 // bytes
	Limit  int64 // bytes
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the artifact has %d bytes, and %s queries read documents of at most %d; use artifact_grep, artifact_cat or artifact_head", e.Size, e.Format, e.Limit)
}

// withoutPath takes the name out of an error of a file operation.
func withoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
