package stage

import (
	"fmt"
	"syscall"

	"github.com/sandboxctl/sandboxctl/enforcer/internal/wire"
	"github.com/sandboxctl/sandboxctl/enforcer/landlock"
	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"github.com/sandboxctl/sandboxctl/enforcer/seccomp"
)

// Argv0 is the name under which the stage is re-executed. It shows in /proc/1/cmdline of the sandbox.
const Argv0 = "sandboxctl-stage"

// ControlFD is the descriptor that the launcher hands over.
const ControlFD = 3 // one end of a SOCK_SEQPACKET pair

// Spec is everything that the stage has to know. It is data: the launcher has decided it all.
type Spec struct {
	Mounts   mount.Plan
	Landlock landlock.Plan
	Seccomp  seccomp.Options
	// Narrowing are further filters, stacked on the embedded ones; the kernel takes the strictest answer.
	Narrowing []seccomp.Program
	Network   bool // a network namespace of its own: bring its loopback up
	Argv      []string
	Env       []string
	Dir       string // working directory: absolute, free of symlinks
	Terminal  bool   // give the command a pseudo-terminal of the sandbox's own
	// Apart says that the stage was started in a session of its own, without a controlling terminal and outside of the
	// launcher's process group: the launcher passes every signal on itself.
	Apart bool
}

// The protocol. Each packet is one Message.
//
//	launcher                          stage
//	    │                               │ comes up while the launcher derives the rules
//	    │───── Begin + descriptor ─────▶│ a sealed memory file with the Spec; builds the tree, opens the terminal
//	    │◀──── Terminal + descriptor ───│ only with Spec.Terminal
//	    │◀──── Started ─────────────────│ the command is running …
//	    │◀──── Failed ──────────────────│ … or nothing was started; the stage exits
//	    │───── Signal n ───────────────▶│ any number of times
//	    │◀──── Exited ──────────────────│ the stage exits, and the kernel kills what is left
//
// A closed socket is the other side's death. A launcher that is gone takes the sandbox with it.
type Message struct {
	Kind   MessageKind
	Signal syscall.Signal // of Signal; of Exited: what ended the command, 0 = it exited
	Code   int            // of Exited
	// Offset of Exited is where the command left a standard input that the stage had opened anew; -1 = it had not.
	Offset int64
	Fail   *Failure // of Failed
}

// MessageKind tells messages apart. The zero value is refused.
type MessageKind uint8

// Kinds of message.
const (
	Started MessageKind = iota + 1
	Failed
	Exited
	Signal
	Terminal
	Begin
)

// Failure is a step that did not succeed. It is an error that unwraps to the errno.
type Failure struct {
	Layer Layer
	Op    string // the call
	Path  string // what it named; "" = nothing
	Cause string // whom it served; "" = nobody in particular
	Errno syscall.Errno
	Text  string // instead of an errno
}

// Layer names the part of a launch that failed. The zero value is none.
type Layer string

// Layers, in the order of the launch.
const (
	LayerSpec     Layer = "spec"
	LayerProcess  Layer = "process"
	LayerMounts   Layer = "mounts"
	LayerNetwork  Layer = "network"
	LayerTerminal Layer = "terminal"
	LayerDir      Layer = "working directory"
	LayerCaps     Layer = "capabilities"
	LayerLandlock Layer = "landlock"
	LayerSeccomp  Layer = "seccomp"
	LayerExec     Layer = "exec"
)

func (f *Failure) Error() string {
	s := fmt.Sprintf("%s: %s", f.Layer, f.Op)
	if f.Path != "" {
		s += " " + f.Path
	}
	switch {
	case f.Text != "":
		s += ": " + f.Text
	case f.Errno != 0:
		s += ": " + f.Errno.Error()
	}
	if f.Cause != "" {
		s += ", for " + f.Cause
	}
	return s
}

func (f *Failure) Unwrap() error {
	if f.Errno == 0 {
		return nil
	}
	return f.Errno
}

// maxMessage bounds a packet in bytes; a longer one is cut by the kernel and then fails to parse.
const maxMessage = 16 << 10

// Encode returns the message as one packet.
func (m Message) Encode() []byte {
	var w wire.Writer
	w.Uint(uint64(m.Kind))
	w.Uint(uint64(m.Signal))
	w.Uint(uint64(m.Code))
	w.Uint(uint64(m.Offset + 1))
	w.Bool(m.Fail != nil)
	if f := m.Fail; f != nil {
		w.Strings([]string{string(f.Layer), clip(f.Op), clip(f.Path), clip(f.Cause), clip(f.Text)})
		w.Uint(uint64(f.Errno))
	}
	return w.Bytes()
}

// clip keeps a packet below maxMessage, whatever the length of a path.
func clip(s string) string {
	if len(s) > maxText {
		return s[:maxText] + "…"
	}
	return s
}

const maxText = 3000

// DecodeMessage parses one packet. The sandbox's side is not trusted: what is not a message is an error.
func DecodeMessage(b []byte) (Message, error) {
	r := wire.NewReader(b)
	m := Message{Kind: MessageKind(r.Uint()), Signal: syscall.Signal(r.Uint()), Code: int(r.Uint()), Offset: int64(r.Uint()) - 1}
	if r.Bool() {
		s := append(r.Strings(), "", "", "", "", "")
		m.Fail = &Failure{Layer: Layer(s[0]), Op: s[1], Path: s[2], Cause: s[3], Text: s[4], Errno: syscall.Errno(r.Uint())}
	}
	if err := r.Err(); err != nil {
		return Message{}, fmt.Errorf("control message: %w", err)
	}
	if m.Kind < Started || m.Kind > Begin {
		return Message{}, fmt.Errorf("control message of unknown kind %d", m.Kind)
	}
	if m.Signal > maxSignal || m.Code > 255 {
		return Message{}, fmt.Errorf("control message with signal %d and code %d", m.Signal, m.Code)
	}
	return m, nil
}
