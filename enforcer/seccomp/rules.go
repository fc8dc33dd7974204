package seccomp

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Action is what a rule does with a call. The zero value refuses.
type Action int

const (
	Refuse Action = iota // the call fails with EPERM
	Absent               // the call fails with ENOSYS, as on a kernel that does not have it
	Kill                 // the process ends with SIGSYS
	Allow                // the call reaches the kernel
)

// String gives the answer in the kernel's words.
func (a Action) String() string {
	switch a {
	case Refuse:
		return "EPERM"
	case Absent:
		return "ENOSYS"
	case Kill:
		return "SIGSYS"
	case Allow:
		return "allow"
	}
	return "unknown action"
}

// Errno is the error that a call gets, 0 for an action that gives none.
func (a Action) Errno() unix.Errno {
	switch a {
	case Refuse:
		return unix.EPERM
	case Absent:
		return unix.ENOSYS
	}
	return 0
}

// Names of what a rule speaks of when it is no single system call.
const (
	ForeignArchitecture = "<foreign architecture>"
	X32Call             = "<x32 call>"
	UnknownCall         = "<unknown call>"
)

// Rule is one row of the filter.
//
// For a call, the first of these that fits decides:
//
//  1. a [Kill] rule;
//  2. a refusal that has conditions, or an option that lifts it and is not set;
//  3. an [Allow] rule;
//  4. a refusal without conditions that no option lifts;
//  5. Docker's list for a container without capabilities (moby/profiles/seccomp), which allows;
//  6. ENOSYS.
//
// Every call that the compiling libseccomp knows and that Docker's list leaves out has a rule.
type Rule struct {
	// Syscall is the call's name, or one of the names in angle brackets above.
	Syscall string
	// Args must all hold. Empty: any arguments.
	Args []Condition
	// Action is what happens.
	Action Action
	// LiftedBy is the option under which a refusal does not apply.
	LiftedBy Option
	// Reason says what the rule is against, or what needs it.
	Reason string
}

// Call gives the row's subject: the call and the conditions on its arguments.
func (r Rule) Call() string {
	if len(r.Args) == 0 {
		return r.Syscall
	}
	conditions := make([]string, len(r.Args))
	for i, c := range r.Args {
		conditions[i] = c.String()
	}
	return r.Syscall + "(" + strings.Join(conditions, ", ") + ")"
}

// String gives the whole row on one line.
func (r Rule) String() string {
	lifted := ""
	if r.LiftedBy != NoOption {
		lifted = " unless " + r.LiftedBy.String()
	}
	return fmt.Sprintf("%s: %s%s: %s", r.Call(), r.Action, lifted, r.Reason)
}

// Test is how a condition compares.
type Test int

const (
	MaskedEqual Test = iota // argument & Mask == Value
	Above                   // argument > Value, all 64 bits, unsigned; Mask is not used
)

// Condition is a test of one argument.
//
// Mask has the width at which the kernel reads the argument: 32 bits for int and unsigned, fewer for a bit field,
// 64 for a pointer or a size. A wider comparison lets a call through whose upper half is not zero: the kernel drops
// that half.
type Condition struct {
	Arg     int    // 0–5
	Name    string // the argument's name in the manual page
	Test    Test
	Mask    uint64
	Value   uint64
	Meaning string // the value's name
}

// String gives the condition with the names of the manual page.
func (c Condition) String() string {
	switch {
	case c.Test == Above:
		return fmt.Sprintf("%s > %s", c.Name, c.Meaning)
	case c.Mask == widthInt || c.Mask == widthLong:
		return fmt.Sprintf("%s = %s", c.Name, c.Meaning)
	}
	return fmt.Sprintf("%s & %#x = %s", c.Name, c.Mask, c.Meaning)
}

const (
	widthInt  = 0xffffffff
	widthLong = 0xffffffffffffffff
)

// Rules gives the rows of the filter. The slice is the caller's.
func Rules() []Rule {
	rules := entryRules()
	rules = append(rules, argumentRules()...)
	for _, group := range refusals() {
		for _, name := range strings.Fields(group.calls) {
			rules = append(rules, Rule{
				Syscall: name, Action: group.action, LiftedBy: group.liftedBy, Reason: group.reason,
			})
		}
	}
	return rules
}

// entryRules are decided before a call is looked at.
func entryRules() []Rule {
	return []Rule{
		{Syscall: ForeignArchitecture, Action: Kill,
			Reason: "the same number is another call there; nothing that runs on it could go on, and SIGSYS says so where an error would crash it later"},
		{Syscall: X32Call, Action: Kill,
			Reason: "amd64 only: a second table of calls under the same architecture, which no rule here covers"},
		{Syscall: UnknownCall, Action: Absent,
			Reason: "newer than the list or never defined: programs fall back on ENOSYS, not on EPERM"},
	}
}
