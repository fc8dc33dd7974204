package evaluator

import "github.com/sandboxctl/sandboxctl/srtconfig"

// Decision is the answer to one question, with what decided it. The zero value denies, for no stated reason.
// The rules it points to are never changed and may be shared.
type Decision struct {
	Allowed bool
	Op      Op
	Reason  Reason
	Rule    *srtconfig.PathRule   // the entry that decided; nil for a default and where Glob or Domain decided
	Glob    *srtconfig.GlobRule   // the pattern that decided; nil in every other case
	Domain  *srtconfig.DomainRule // for Connect: the entry that decided; nil for a default
	Problem string                // for BadPath and BadHost: what is wrong, one clause; "" in every other case
}

// Op is what was asked. The zero value is no question.
type Op uint8

// The questions, each with the method that asks it.
const (
	Read    Op = iota + 1 // [Evaluator.CanRead]
	Write                 // [Evaluator.CanWrite]
	Remove                // [Evaluator.CanRemove]
	Connect               // [Evaluator.CanConnect]
)

// String returns the word for the question, as in "read".
func (o Op) String() string {
	switch o {
	case Read:
		return "read"
	case Write:
		return "write"
	case Remove:
		return "remove"
	case Connect:
		return "connect"
	}
	return "none"
}

// Reason says why a decision is what it is. The zero value is no reason and only occurs in a zero Decision.
type Reason uint8

// The reasons. The first five allow, but for a write to a directory that only shows the way; the others deny.
const (
	ReadOpen       Reason = iota + 1 // no entry closes the path for reading
	AllowedByEntry                   // Rule or Domain opens it
	AllDomains                       // network.allowAllDomains opens it
	Disabled                         // filesystem.disabled opens everything
	Way                              // a closed directory that shows the way to what is re-opened below it, and nothing else
	DeniedByEntry                    // Rule or Domain closes it
	DeniedByGlob                     // Glob closes it
	WriteClosed                      // no allowWrite entry covers the path
	ProtectedPath                    // Rule is a protected path: never writable
	Unreadable                       // it cannot be written because it cannot be read: Rule or Glob closes it
	PrivateTmp                       // it lies in the host's /tmp or /dev/shm, where the sandbox has its own
	Pinned                           // Rule stands at or below the path, or a symlink that Rule was reached through
	BadPath                          // the path is not absolute and clean
	BadHost                          // the host has no canonical form, or the port is 0
	NetworkClosed                    // no entry allows the host and port
)

// String returns a short name for the reason, in lower case with hyphens. It is stable: programs may compare it.
func (r Reason) String() string {
	switch r {
	case ReadOpen:
		return "read-open"
	case AllowedByEntry:
		return "allowed-by-entry"
	case AllDomains:
		return "all-domains"
	case Disabled:
		return "disabled"
	case Way:
		return "way"
	case DeniedByEntry:
		return "denied-by-entry"
	case DeniedByGlob:
		return "denied-by-glob"
	case WriteClosed:
		return "write-closed"
	case ProtectedPath:
		return "protected-path"
	case Unreadable:
		return "unreadable"
	case PrivateTmp:
		return "private-tmp"
	case Pinned:
		return "pinned"
	case BadPath:
		return "bad-path"
	case BadHost:
		return "bad-host"
	case NetworkClosed:
		return "network-closed"
	}
	return "none"
}
