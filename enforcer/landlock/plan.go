package landlock

import (
	"fmt"
	"strconv"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"github.com/sandboxctl/sandboxctl/enforcer/internal/wire"
)

// Access is a set of file system access rights. The zero value grants nothing.
type Access uint64

// The sets that rules use.
const (
	ReadExecute Access = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	WriteFile   Access = ll.AccessFSWriteFile | ll.AccessFSTruncate
	// WriteTree leaves out device files: nothing in a writable tree may become one.
	WriteTree = WriteFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
	ReadFile Access = ll.AccessFSReadFile
	Ioctl    Access = ll.AccessFSIoctlDev

	allFS    Access = ll.AccessFSIoctlDev<<1 - 1 // every right of ABI 5 to 8
	fileOnly        = ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSReadFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
)

var accessNames = [...]string{"execute", "write-file", "read-file", "read-dir", "remove-dir", "remove-file", "make-char",
	"make-dir", "make-reg", "make-sock", "make-fifo", "make-block", "make-sym", "refer", "truncate", "ioctl-dev"}

// MarshalText writes the names of String.
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// String lists the rights by the names of the kernel's document.
func (a Access) String() string {
	var names []string
	for i := range 64 {
		if a&(1<<i) == 0 {
			continue
		}
		if i < len(accessNames) {
			names = append(names, accessNames[i])
		} else {
			names = append(names, fmt.Sprintf("1<<%d", i))
		}
	}
	return strings.Join(names, ",")
}

// Scope is a set of IPC scopes.
type Scope uint64

const (
	ScopeAbstractUnix Scope = ll.ScopeAbstractUnixSocket
	ScopeSignal       Scope = ll.ScopeSignal
)

// Rule grants rights at and below a path of the new tree.
type Rule struct {
	Path   string `json:"path"`
	Access Access `json:"access"`
	Cause  string `json:"cause"`
}

// Plan is a ruleset to be made. The zero value handles nothing and is refused by [Plan.Prepare].
type Plan struct {
	ABI     int       `json:"abi"`
	Handled Access    `json:"handled"`
	Scoped  Scope     `json:"scoped"`
	Rules   []Rule    `json:"rules"`
	Missing []Missing `json:"missing,omitempty"`
}

// Missing is a guarantee that the kernel's ABI version cannot give, and what stands in for it in tier full.
type Missing struct {
	What    string `json:"what"`
	NeedABI int    `json:"needABI"`
	Covered string `json:"covered"` // the layer that gives it instead; "" = nobody
}

// String prints one rule a line.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "landlock ABI %d, handles %s\n", p.ABI, p.Handled)
	for _, r := range p.Rules {
		fmt.Fprintf(&b, "allow   %s %s  # %s\n", quote(r.Path), r.Access, r.Cause)
	}
	b.WriteString("allow   standard descriptors as they were opened, and nothing else outside of the new tree\n")
	if p.Scoped&ScopeSignal != 0 {
		b.WriteString("scope   signals stay inside the sandbox\n")
	}
	if p.Scoped&ScopeAbstractUnix != 0 {
		b.WriteString("scope   abstract sockets stay inside the sandbox\n")
	}
	for _, m := range p.Missing {
		fmt.Fprintf(&b, "missing %s needs ABI %d  # %s\n", m.What, m.NeedABI, m.Covered)
	}
	return b.String()
}

// quote escapes what could forge a line of a plan.
func quote(path string) string {
	if q := strconv.Quote(path); len(q) != len(path)+2 {
		return q
	}
	return path
}

// Encode writes what the stage has to know of the Plan.
func (p Plan) Encode(w *wire.Writer) {
	w.Uint(uint64(p.Handled))
	w.Uint(uint64(p.Scoped))
	w.Uint(uint64(len(p.Rules)))
	for _, r := range p.Rules {
		w.String(r.Path)
		w.Uint(uint64(r.Access))
	}
}

// DecodePlan reads what Encode wrote; the reader's Err tells of damage.
func DecodePlan(r *wire.Reader) Plan {
	p := Plan{Handled: Access(r.Uint()), Scoped: Scope(r.Uint())}
	for range r.Len() {
		p.Rules = append(p.Rules, Rule{Path: r.String(), Access: Access(r.Uint())})
	}
	return p
}
