package stage

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/sandboxctl/sandboxctl/enforcer/internal/wire"
	"github.com/sandboxctl/sandboxctl/enforcer/landlock"
	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"github.com/sandboxctl/sandboxctl/enforcer/seccomp"
	"golang.org/x/sys/unix"
)

// seals are what a Spec's memory file must carry: nobody can change it after the launcher wrote it.
const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

// maxSpec bounds a Spec in bytes. An argument list may be 2 MiB, and so may the environment.
const maxSpec = 64 << 20

// WriteSpec returns a sealed memory file that holds the Spec. The caller closes it.
func WriteSpec(s *Spec) (*os.File, error) {
	data, err := s.encode()
	if err != nil {
		return nil, fmt.Errorf("encode the stage's specification: %w", err)
	}
	fd, err := unix.MemfdCreate("sandboxctl-spec", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "sandboxctl-spec")
	if _, err := f.Write(data); err != nil {
		f.Close()
		return nil, fmt.Errorf("write the stage's specification: %w", err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		f.Close()
		return nil, fmt.Errorf("seal the stage's specification: %w", err)
	}
	return f, nil
}

// receiveSpec waits for the launcher's rules. It comes as late as possible: what is done before needs none of them.
func receiveSpec(control controlSocket) (*Spec, error) {
	m, fd, ok := control.receiveDescriptor(make([]byte, maxMessage))
	if !ok {
		os.Exit(125) // the launcher has changed its mind or died
	}
	if m.Kind != Begin || fd < 0 {
		return nil, &Failure{Layer: LayerSpec, Op: "receive", Text: "this is the inner stage of sandboxctl; it is not started by hand"}
	}
	return readSpec(fd)
}

// readSpec takes the Spec from the launcher's memory file and closes it: the command must not find it.
func readSpec(fd int) (*Spec, error) {
	defer unix.Close(fd)
	have, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || have&seals != seals {
		return nil, &Failure{Layer: LayerSpec, Op: "check seals", Text: "this is the inner stage of sandboxctl; it is not started by hand"}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fail(LayerSpec, "fstat", "", err)
	}
	if st.Size > maxSpec {
		return nil, &Failure{Layer: LayerSpec, Op: "read", Text: fmt.Sprintf("%d bytes, more than %d", st.Size, maxSpec)}
	}
	data := make([]byte, st.Size)
	for n := 0; n < len(data); {
		k, err := unix.Pread(fd, data[n:], int64(n))
		if err == nil && k == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fail(LayerSpec, "read", "", err)
		}
		n += k
	}
	s, err := decodeSpec(data)
	if err != nil {
		return nil, fail(LayerSpec, "parse", "", err)
	}
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return nil, &Failure{Layer: LayerSpec, Op: "parse", Text: "no command"}
	}
	return s, nil
}

func (s *Spec) encode() ([]byte, error) {
	var w wire.Writer
	s.Mounts.Encode(&w)
	s.Landlock.Encode(&w)
	for _, b := range s.flags() {
		w.Bool(*b)
	}
	w.Strings(s.Argv)
	w.Strings(s.Env)
	w.String(s.Dir)
	w.Uint(uint64(len(s.Narrowing)))
	for _, p := range s.Narrowing {
		b, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		w.String(string(b))
	}
	return w.Bytes(), nil
}

func decodeSpec(b []byte) (*Spec, error) {
	r := wire.NewReader(b)
	s := &Spec{Mounts: mount.DecodePlan(r), Landlock: landlock.DecodePlan(r)}
	for _, b := range s.flags() {
		*b = r.Bool()
	}
	s.Argv, s.Env, s.Dir = r.Strings(), r.Strings(), r.String()
	for range r.Len() {
		var p seccomp.Program
		if err := json.Unmarshal([]byte(r.String()), &p); err != nil {
			return nil, err
		}
		s.Narrowing = append(s.Narrowing, p)
	}
	return s, r.Err()
}

// flags lists the truth values in the order of the encoding.
func (s *Spec) flags() []*bool {
	return []*bool{&s.Network, &s.Terminal, &s.Apart, &s.Seccomp.AllowUnixSockets, &s.Seccomp.AllowPtrace, &s.Seccomp.AllowNestedNamespaces}
}
