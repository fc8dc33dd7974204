package seccomp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// elf64 is a program for amd64 that is one page with code in it.
func elf64(code []byte) []byte {
	const base, header = 0x400000, 64 + 56
	var b bytes.Buffer
	b.Write([]byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	for _, v := range []any{
		uint16(2), uint16(62), uint32(1), uint64(base + header), uint64(64), uint64(0), uint32(0),
		uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0),
		uint32(1), uint32(5), uint64(0), uint64(base), uint64(base), uint64(header + len(code)), uint64(header + len(code)), uint64(0x1000),
	} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	b.Write(code)
	return b.Bytes()
}

// elf32 is the same for i386.
func elf32(code []byte) []byte {
	const base, header = 0x400000, 52 + 32
	var b bytes.Buffer
	b.Write([]byte{0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	for _, v := range []any{
		uint16(2), uint16(3), uint32(1), uint32(base + header), uint32(52), uint32(0), uint32(0),
		uint16(52), uint16(32), uint16(1), uint16(0), uint16(0), uint16(0),
		uint32(1), uint32(0), uint32(base), uint32(base), uint32(header + len(code)), uint32(header + len(code)), uint32(5), uint32(0x1000),
	} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	b.Write(code)
	return b.Bytes()
}

// foreignPrograms enter the kernel by its i386 gate, and end with 0 when the call worked there.
func foreignPrograms() map[string][]byte {
	int80 := []byte{
		0xb8, 20, 0, 0, 0, 0xcd, 0x80, // eax = 20 (getpid); int 0x80
		0x31, 0xff, 0x85, 0xc0, 0x7f, 5, // edi = 0; if eax > 0 skip
		0xbf, 1, 0, 0, 0, // edi = 1
		0xb8, 60, 0, 0, 0, 0x0f, 0x05, // eax = 60 (exit of amd64); syscall
	}
	socketcall := []byte{
		0x68, 0, 0, 0, 0, 0x68, 1, 0, 0, 0, 0x68, 1, 0, 0, 0, // push 0, SOCK_STREAM, AF_UNIX
		0x89, 0xe1, 0xbb, 1, 0, 0, 0, 0xb8, 102, 0, 0, 0, 0xcd, 0x80, // ecx = esp; ebx = SYS_SOCKET; eax = 102; int 0x80
		0x31, 0xdb, 0x85, 0xc0, 0x79, 5, // ebx = 0; if eax >= 0 skip
		0xbb, 1, 0, 0, 0, // ebx = 1
		0xb8, 1, 0, 0, 0, 0xcd, 0x80, // eax = 1 (exit); int 0x80
	}
	native := []byte{0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05} // exit(0) of amd64
	return map[string][]byte{"int80": elf64(int80), "socketcall": elf32(socketcall), "native": elf64(native)}
}

// The i386 gate would reach every call that has a rule by a number that has none, and socketcall hides the family
// behind a pointer.
func TestForeignProgramsAreKilled(t *testing.T) {
	if goarch != "amd64" {
		t.Skipf("the programs are amd64's and i386's: %v", errors.ErrUnsupported)
	}
	requireFilters(t)
	if role() != "" {
		confine(t, Options{AllowUnixSockets: true, AllowPtrace: true, AllowNestedNamespaces: true})
		become(t, "", role(), role())
	}
	dir := t.TempDir()
	for name, program := range foreignPrograms() {
		path := dir + "/" + name
		if err := os.WriteFile(path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := exec.CommandContext(t.Context(), path).Run(); err != nil {
			t.Logf("%s: this kernel has no i386 gate (%v): %v", name, err, errors.ErrUnsupported)
			continue
		}
		out, err := again(t, path)
		if name == "native" {
			if err != nil {
				t.Errorf("a native program under the filter: %v\n%s", err, out)
			}
			continue
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGSYS {
			t.Errorf("%s: %v, want SIGSYS\n%s", name, err, out)
		}
	}
}
