package stage

import (
	"encoding/json"
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
	Mounts   mount.Plan      `json:"mounts"`
	Landlock landlock.Plan   `json:"landlock"`
	Seccomp  seccomp.Options `json:"seccomp"`
	// Narrowing are further filters, stacked on the embedded ones; the kernel takes the strictest answer.
	Narrowing []seccomp.Program `json:"narrowing,omitempty"`
	Network   bool              `json:"network"` // a network namespace of its own: bring its loopback up
	Argv      []wire.String     `json:"argv"`
	Env       []wire.String     `json:"env"`
	Dir       wire.String       `json:"dir"`      // working directory: absolute, free of symlinks
	Terminal  bool              `json:"terminal"` // give the command a pseudo-terminal of the sandbox's own
	// Apart says that the stage was started in a session of its own, without a controlling terminal and outside of the
	// launcher's process group: the launcher passes every signal on itself.
	Apart bool `json:"apart,omitempty"`
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
	Kind   MessageKind    `json:"kind"`
	Signal syscall.Signal `json:"signal,omitempty"` // of Signal; of Exited: what ended the command, 0 = it exited
	Code   int            `json:"code,omitempty"`   // of Exited
	// Offset of Exited is where the command left a standard input that the stage had opened anew; nil = it had not.
	Offset *int64   `json:"offset,omitempty"`
	Fail   *Failure `json:"fail,omitempty"` // of Failed
	Note   string   `json:"note,omitempty"` // of Started: a guarantee that fell away as the Plan allowed
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
	Layer Layer         `json:"layer"`
	Op    string        `json:"op"`             // the call
	Path  wire.String   `json:"path,omitempty"` // what it named
	Cause string        `json:"cause,omitempty"`
	Errno syscall.Errno `json:"errno,omitempty"`
	Text  string        `json:"text,omitempty"` // instead of an errno
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
		s += " " + string(f.Path)
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
	b, err := json.Marshal(m)
	if err != nil {
		panic("internal error: a message does not encode: " + err.Error()) // no field can fail to
	}
	return b
}

// DecodeMessage parses one packet. The sandbox's side is not trusted: unknown kinds are errors.
func DecodeMessage(b []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(b, &m); err != nil {
		return Message{}, fmt.Errorf("control message: %w", err)
	}
	if m.Kind < Started || m.Kind > Begin {
		return Message{}, fmt.Errorf("control message of unknown kind %d", m.Kind)
	}
	return m, nil
}
