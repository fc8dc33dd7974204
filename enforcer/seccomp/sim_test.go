package seccomp

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

// simulated is one system call as a filter sees it (struct seccomp_data).
type simulated struct {
	audit uint32
	nr    uint32
	args  [6]uint64
}

// words lays the call out for the BPF machine of x/net, which reads its input in network order where the kernel reads
// the struct's words in the machine's: each 32-bit word is written big-endian at its own place, the low word of an
// argument first, as amd64 and arm64 have it.
func (c simulated) words() []byte {
	b := make([]byte, 64)
	put := func(offset int, value uint32) { binary.BigEndian.PutUint32(b[offset:], value) }
	put(0, c.nr)
	put(4, c.audit)
	for i, arg := range c.args {
		put(16+8*i, uint32(arg))
		put(20+8*i, uint32(arg>>32))
	}
	return b
}

// machine runs stacked programs as the kernel does.
type machine struct {
	arch  string
	audit uint32
	vms   []*bpf.VM
}

func newMachine(t testing.TB, programs ...Program) *machine {
	t.Helper()
	m := &machine{arch: programs[0].Arch(), audit: map[string]uint32{
		"amd64": 0xc000003e, "arm64": 0xc00000b7,
	}[programs[0].Arch()]}
	for _, p := range programs {
		var code []bpf.Instruction
		for _, in := range p.Instructions() {
			code = append(code, bpf.RawInstruction{Op: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K}.Disassemble())
		}
		vm, err := bpf.NewVM(code)
		if err != nil {
			t.Fatalf("%s: %v\n%s", p.Name(), err, p)
		}
		m.vms = append(m.vms, vm)
	}
	return m
}

// strictness is the order in which the kernel prefers answers, written out from seccomp(2).
var strictness = map[uint32]int{
	0x80000000: 0, // KILL_PROCESS
	0x00000000: 1, // KILL_THREAD
	0x00030000: 2, // TRAP
	0x00050000: 3, // ERRNO
	0x7ffc0000: 4, // LOG
	0x7fff0000: 5, // ALLOW
}

// run gives the kernel's answer: the program loaded last is asked first, and only a stricter answer replaces one.
func (m *machine) run(t testing.TB, c simulated) uint32 {
	t.Helper()
	answer := uint32(0x7fff0000)
	for i := len(m.vms) - 1; i >= 0; i-- {
		n, err := m.vms[i].Run(c.words())
		if err != nil {
			t.Fatalf("run %+v: %v", c, err)
		}
		rank, known := strictness[uint32(n)&0xffff0000]
		if !known {
			t.Fatalf("run %+v: the program returns %#x", c, n)
		}
		if rank < strictness[answer&0xffff0000] {
			answer = uint32(n)
		}
	}
	return answer
}

// call runs the call of that name; absent is true when the architecture has none.
func (m *machine) call(t testing.TB, name string, args ...uint64) (answer uint32, absent bool) {
	t.Helper()
	nr, status := syscalls.Number(m.arch, name)
	switch status {
	case syscalls.Unknown:
		t.Fatalf("no system call is named %q", name)
	case syscalls.Elsewhere:
		return 0, true
	}
	c := simulated{audit: m.audit, nr: uint32(nr)}
	copy(c.args[:], args)
	return m.run(t, c), false
}

// The answers by value, not by the package's own names for them.
const (
	answerAllow  = 0x7fff0000
	answerEPERM  = 0x00050000 | 1
	answerENOSYS = 0x00050000 | 38
	answerKill   = 0x80000000
)

var bothArches = []string{"amd64", "arm64"}

// embeddedPrograms reads the programs of any architecture from the source tree: the binary has its own only.
func embeddedPrograms(t testing.TB, arch string, o Options) []Program {
	t.Helper()
	programs, err := readPrograms(arch, o, func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join("programs", arch, name))
	})
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

func embeddedMachine(t testing.TB, arch string, o Options) *machine {
	t.Helper()
	return newMachine(t, embeddedPrograms(t, arch, o)...)
}

func TestSimulatorAgreesWithHandMadeProgram(t *testing.T) {
	// A load of each word that the filters use, and a return of one bit of it: a wrong byte order or place shows.
	for _, c := range []struct {
		offset uint32
		want   uint32
	}{{0, 0x11}, {4, 0xc000003e}, {16, 0x33}, {20, 0x44}, {56, 0x55}, {60, 0x66}} {
		p := Program{"hand-made", "amd64", []unix.SockFilter{
			{Code: loadWord, K: c.offset},
			{Code: jumpEqual, K: c.want, Jt: 0, Jf: 1},
			{Code: returnValue, K: answerAllow},
			{Code: returnValue, K: answerKill},
		}}
		in := simulated{audit: 0xc000003e, nr: 0x11}
		in.args[0] = 0x44<<32 | 0x33
		in.args[5] = 0x66<<32 | 0x55
		if got := newMachine(t, p).run(t, in); got != answerAllow {
			t.Errorf("offset %d: not %#x", c.offset, c.want)
		}
	}
}
