package outcome

// Outcome is one way in which a call ends. The zero value is no outcome and has no words.
type Outcome uint8

// The closed set. A new member needs a row in the table of words and in the table of codes; a test counts them.
const (
	NotFound         Outcome = iota + 1 // nothing of that name
	Denied                              // the policy closes it for reading; told to a model as NotFound
	WriteDenied                         // the policy closes it for writing
	GateDeclined                        // the decider said no
	GateUnavailable                     // the decider failed
	ScopeLimited                        // a note: max_depth cut a listing or a search
	ResultLimited                       // a note: limit cut a search
	NotRegularFile                      // a FIFO, socket or device
	IsDirectory                         // a file was wanted
	NotDirectory                        // a directory was wanted
	PathRejected                        // the spelling of the path; see Reason
	ParentMissing                       // the directory to save in is not there
	LinkOnWritePath                     // a symlink on the way of a write, or at its end
	OutsideWriteRoot                    // inside the workspace, not where writing is open
	SandboxViolation                    // a spawned program was stopped by the sandbox
	NonzeroExit                         // a note: a program ended with a status other than 0
	NoMatches                           // a note
	UnknownMedia                        // no medium of that id
	InvalidPattern                      // a regular expression, glob or query that does not parse
	InvalidArguments                    // the arguments do not fit the schema
	PatchMismatch                       // the patch does not fit the medium, or fits in several places
	ChangedOnDisk                       // the file is not what was staged any more
	TooLarge                            // over a stated bound of memory
	IOFailure                           // the operating system said no, or broke
	Aborted                             // the caller cancelled
	TimedOut                            // the time ended before the work, or before the decider answered
	SessionClosed                       // the handle was closed
	outcomeEnd
)

// All returns the set, in order.
func All() []Outcome {
	all := make([]Outcome, 0, outcomeEnd-1)
	for o := Outcome(1); o < outcomeEnd; o++ {
		all = append(all, o)
	}
	return all
}

// seen is what a model is told: the one place where Denied turns into NotFound.
func (o Outcome) seen() Outcome {
	if o == Denied {
		return NotFound
	}
	return o
}

// String gives the label that a model sees. Denied has the label of NotFound; compare Outcome values, not labels, to
// tell them apart.
func (o Outcome) String() string {
	if o == 0 || o >= outcomeEnd {
		return "no outcome"
	}
	return words[o.seen()].label
}

// Code gives the code that belongs to o. [PathRejected] has two; see [Error.Code].
func (o Outcome) Code() Code {
	if o == 0 || o >= outcomeEnd {
		return CodeFailed
	}
	return words[o.seen()].code
}

// Note reports whether o is a remark on a result and not an error.
func (o Outcome) Note() bool {
	switch o {
	case ScopeLimited, ResultLimited, NonzeroExit, NoMatches:
		return true
	}
	return false
}

// Reason says why a spelling of a path was rejected. The zero value is no reason.
type Reason uint8

// The reasons, each with words of its own.
const (
	ReasonNUL         Reason = iota + 1 // a NUL byte
	ReasonTilde                         // a leading ~
	ReasonDriveLetter                   // C:\ or C:x
	ReasonDevice                        // \\?\, \\.\, \??\, //?/, //./
	ReasonUNC                           // \\server or //server
	ReasonEscapes                       // .. or a link leads out of the workspace
	reasonEnd
)

// Reasons returns the set, in order.
func Reasons() []Reason {
	all := make([]Reason, 0, reasonEnd-1)
	for r := Reason(1); r < reasonEnd; r++ {
		all = append(all, r)
	}
	return all
}

// String gives the label of the reason.
func (r Reason) String() string {
	if r == 0 || r >= reasonEnd {
		return "no reason"
	}
	return reasonWords[r].label
}
