package mount

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/enforcer/internal/wire"
)

// Kind says what an [Op] puts at its target. The zero value is no operation and fails to apply.
type Kind uint8

const (
	Root    Kind = iota + 1 // the read-only or writable clone of the host's tree that becomes /
	Bind                    // a clone of the host's tree at the same path
	Mask                    // an object without any permission bit, in the place of a denied one
	Way                     // a tmpfs that holds only the directories on the way to re-opened ones
	Link                    // a symlink mounted on itself, so that it cannot be replaced
	Symlink                 // a symlink made in a tmpfs of ours, as the host has it
	Tmpfs                   // an empty, writable tmpfs with a size
	Proc                    // a procfs of the sandbox's PID namespace
	Dev                     // a minimal /dev with its own devpts
)

var kindNames = [...]string{"none", "root", "bind", "mask", "way", "link", "symlink", "tmpfs", "proc", "dev"}

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// String returns the kind's name in plans.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Op is one step of building the tree.
type Op struct {
	Kind   Kind   `json:"kind"`
	Target string `json:"target"` // absolute, in the new tree, free of symlinks in every component but the last of Link and Symlink
	Write  bool   `json:"write,omitempty"`
	Dir    bool   `json:"dir,omitempty"`
	// Create says that the mount point lies in a tmpfs of ours and has to be made there first.
	Create bool `json:"create,omitempty"`
	// Optional says that a target that is missing is passed over: there is nothing to hide.
	Optional bool   `json:"optional,omitempty"`
	Size     uint64 `json:"size,omitempty"` // bytes, of a Tmpfs; 0 = the kernel's default, half of the memory
	Text     string `json:"text,omitempty"` // what a Symlink says
	// HostProc lets a Proc fall back to the host's when the kernel refuses a fresh one (EPERM, a container's masked /proc).
	HostProc bool `json:"hostProc,omitempty"`
	// Root says, for a Proc, that the command runs as uid 0, to whom /proc opens more.
	Root bool `json:"root,omitempty"`
	// Console is the terminal that the command inherits, by its name on the host: a Dev shows it as /dev/console, so that
	// ttyname(3) finds a name for it. "" = none.
	Console string `json:"console,omitempty"`
	Cause   string `json:"cause"` // the settings entry, or the reason of a built-in step
}

// String prints the operation as one line of a plan.
func (o Op) String() string {
	mode := ""
	switch {
	case o.Kind == Root || o.Kind == Bind:
		mode = " ro"
		if o.Write {
			mode = " rw"
		}
	case o.Kind == Tmpfs && o.Size > 0:
		mode = fmt.Sprintf(" %d bytes", o.Size)
	}
	return fmt.Sprintf("%-7s %s%s  # %s", o.Kind, quote(o.Target), mode, o.Cause)
}

// quote leaves plain paths as they are and escapes those that could forge a line of a plan or a terminal sequence.
func quote(path string) string {
	for _, r := range path {
		if r < ' ' || r == 0x7f || r == '\ufffd' || r == '#' {
			return fmt.Sprintf("%q", path)
		}
	}
	return path
}

// Plan is the ordered list of operations; the first is a Root, or a Way when / itself is denied.
// The zero value is refused by [Plan.Apply].
type Plan struct {
	Ops []Op `json:"ops"`
	// Nested makes the new tree the root of the namespace itself, so that the command can make user namespaces of its own. The
	// price: there is no base, see [Plan.Apply].
	Nested bool `json:"nested,omitempty"`
}

// String prints one operation a line, in the order of application.
func (p Plan) String() string {
	var b strings.Builder
	for _, o := range p.Ops {
		b.WriteString(o.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// WritableRoots lists the targets of writable trees, in order, without those inside another: what a second layer has to open.
func (p Plan) WritableRoots() []string {
	var roots []string
	for _, o := range p.Ops {
		if !(o.Write && (o.Kind == Bind || o.Kind == Root) || o.Kind == Tmpfs) {
			continue
		}
		inside := func(root string) bool { return below(o.Target, root) }
		if !slices.ContainsFunc(roots, inside) {
			roots = append(roots, o.Target)
		}
	}
	return roots
}

// Encode writes the Plan for the stage.
func (p Plan) Encode(w *wire.Writer) {
	w.Bool(p.Nested)
	w.Uint(uint64(len(p.Ops)))
	for _, o := range p.Ops {
		w.Uint(uint64(o.Kind))
		w.String(o.Target)
		for _, b := range o.flags() {
			w.Bool(*b)
		}
		w.Uint(o.Size)
		w.String(o.Text)
		w.String(o.Console)
		w.String(o.Cause)
	}
}

// DecodePlan reads what Encode wrote; the reader's Err tells of damage.
func DecodePlan(r *wire.Reader) Plan {
	p := Plan{Nested: r.Bool()}
	for range r.Len() {
		o := Op{Kind: Kind(r.Uint()), Target: r.String()}
		for _, b := range o.flags() {
			*b = r.Bool()
		}
		o.Size, o.Text, o.Console, o.Cause = r.Uint(), r.String(), r.String(), r.String()
		p.Ops = append(p.Ops, o)
	}
	return p
}

// flags lists the truth values in the order of the encoding.
func (o *Op) flags() []*bool {
	return []*bool{&o.Write, &o.Dir, &o.Create, &o.Optional, &o.HostProc, &o.Root}
}
