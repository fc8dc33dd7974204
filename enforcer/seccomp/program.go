package seccomp

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

// Program is a filter program for one architecture: classic BPF over struct seccomp_data. The zero value is no
// program, and [Load] refuses it. A Program is immutable and may be shared. It travels as JSON, so that one that was
// compiled from a profile can be handed to the process that loads it.
type Program struct {
	name string
	arch string
	code []unix.SockFilter
}

// instructionSize is that of struct sock_filter of linux/filter.h.
const instructionSize = 8

// maxInstructions is BPF_MAXINSNS of linux/bpf_common.h.
const maxInstructions = 4096

// Name says what the program is, for messages.
func (p Program) Name() string { return p.name }

// Arch is the architecture that the program accepts, as in GOARCH.
func (p Program) Arch() string { return p.arch }

// Len is the number of instructions.
func (p Program) Len() int { return len(p.code) }

// Instructions gives a copy of the instructions.
func (p Program) Instructions() []unix.SockFilter { return slices.Clone(p.code) }

// decode reads instructions as they are embedded: little-endian, like both architectures.
func decode(name, arch string, raw []byte) (Program, error) {
	if len(raw) == 0 || len(raw)%instructionSize != 0 || len(raw) > maxInstructions*instructionSize {
		return Program{}, fmt.Errorf("seccomp program %q: %d bytes are no program", name, len(raw))
	}
	code := make([]unix.SockFilter, len(raw)/instructionSize)
	for i := range code {
		in := raw[i*instructionSize:]
		code[i] = unix.SockFilter{
			Code: binary.LittleEndian.Uint16(in), Jt: in[2], Jf: in[3], K: binary.LittleEndian.Uint32(in[4:]),
		}
	}
	return Program{name, arch, code}, nil
}

func (p Program) encode() []byte {
	raw := make([]byte, 0, len(p.code)*instructionSize)
	for _, in := range p.code {
		raw = binary.LittleEndian.AppendUint16(raw, in.Code)
		raw = append(raw, in.Jt, in.Jf)
		raw = binary.LittleEndian.AppendUint32(raw, in.K)
	}
	return raw
}

type programJSON struct {
	Name string `json:"name"`
	Arch string `json:"arch"`
	Code string `json:"code"` // base64 of the instructions
}

// MarshalJSON implements [json.Marshaler].
func (p Program) MarshalJSON() ([]byte, error) {
	return json.Marshal(programJSON{p.name, p.arch, base64.StdEncoding.EncodeToString(p.encode())})
}

// UnmarshalJSON implements [json.Unmarshaler]. Anything that is no program is an error.
func (p *Program) UnmarshalJSON(data []byte) error {
	var in programJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("seccomp program: %w", err)
	}
	raw, err := base64.StdEncoding.DecodeString(in.Code)
	if err != nil {
		return fmt.Errorf("seccomp program %q: %w", in.Name, err)
	}
	*p, err = decode(in.Name, in.Arch, raw)
	return err
}

// String disassembles the program, one instruction a line. The targets of a jump are given by line.
func (p Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, %d instructions)\n", p.name, p.arch, len(p.code))
	atNumber := false
	for i, in := range p.code {
		fmt.Fprintf(&b, "%4d  %s", i, disassemble(i, in))
		// A comparison of the call number is easier to read with the call's name.
		if in.Code&0x07 == unix.BPF_LD {
			atNumber = in.K == 0
		}
		if name := syscalls.Name(p.arch, int(in.K)); atNumber && name != "" && in.Code&0x07 == unix.BPF_JMP && in.Code != jumpAlways {
			fmt.Fprintf(&b, "\t; %s", name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const (
	loadWord     = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	jumpAlways   = unix.BPF_JMP | unix.BPF_JA
	jumpEqual    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpGreater  = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K
	jumpNotBelow = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	jumpSet      = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	andConstant  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	returnValue  = unix.BPF_RET | unix.BPF_K
)

func disassemble(at int, in unix.SockFilter) string {
	branch := func(test string) string {
		return fmt.Sprintf("if A %s %#x goto %d else %d", test, in.K, at+1+int(in.Jt), at+1+int(in.Jf))
	}
	switch in.Code {
	case loadWord:
		return "A = " + dataField(in.K)
	case andConstant:
		return fmt.Sprintf("A &= %#x", in.K)
	case jumpAlways:
		return fmt.Sprintf("goto %d", at+1+int(in.K))
	case jumpEqual:
		return branch("==")
	case jumpGreater:
		return branch(">")
	case jumpNotBelow:
		return branch(">=")
	case jumpSet:
		return branch("&")
	case returnValue:
		return "return " + returnName(in.K)
	}
	return fmt.Sprintf("%#04x %d %d %#x", in.Code, in.Jt, in.Jf, in.K)
}

// dataField names a word of struct seccomp_data.
func dataField(offset uint32) string {
	switch {
	case offset == 0:
		return "nr"
	case offset == 4:
		return "arch"
	case offset == 8:
		return "ip.low"
	case offset == 12:
		return "ip.high"
	case offset%8 == 0 && offset < 64:
		return fmt.Sprintf("arg%d.low", (offset-16)/8)
	case offset%8 == 4 && offset < 64:
		return fmt.Sprintf("arg%d.high", (offset-20)/8)
	}
	return fmt.Sprintf("data[%d]", offset)
}

// returnName gives a value of SECCOMP_RET_* by name.
func returnName(value uint32) string {
	data := value & unix.SECCOMP_RET_DATA
	switch value & unix.SECCOMP_RET_ACTION_FULL {
	case unix.SECCOMP_RET_KILL_PROCESS:
		return "KILL_PROCESS"
	case unix.SECCOMP_RET_KILL_THREAD:
		return "KILL_THREAD"
	case unix.SECCOMP_RET_TRAP:
		return "TRAP"
	case unix.SECCOMP_RET_ERRNO:
		if name := unix.ErrnoName(unix.Errno(data)); name != "" {
			return "ERRNO " + name
		}
		return fmt.Sprintf("ERRNO %d", data)
	case unix.SECCOMP_RET_LOG:
		return "LOG"
	case unix.SECCOMP_RET_ALLOW:
		return "ALLOW"
	}
	return fmt.Sprintf("%#x", value)
}
