package seccomp

import (
	"bytes"
	"encoding/json"
	"fmt"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/assemble"
)

// maxProfileBytes bounds what is parsed: Docker's default profile has 18 KiB.
const maxProfileBytes = 1 << 20

// ProfileError says what is wrong with a profile, and where.
type ProfileError struct {
	Pointer string // JSON pointer; "" for the whole profile
	Err     error
}

func (e *ProfileError) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("seccomp profile: %v", e.Err)
	}
	return fmt.Sprintf("seccomp profile: %s: %v", e.Pointer, e.Err)
}

func (e *ProfileError) Unwrap() error { return e.Err }

func profileErrorf(pointer, format string, args ...any) error {
	return &ProfileError{pointer, fmt.Errorf(format, args...)}
}

// profile is linux.seccomp of the OCI runtime specification, as far as it is accepted. A pointer tells an absent
// required value from zero.
type profile struct {
	DefaultAction   string         `json:"defaultAction"`
	DefaultErrnoRet *uint          `json:"defaultErrnoRet"`
	Architectures   []string       `json:"architectures"`
	Syscalls        []profileEntry `json:"syscalls"`
}

type profileEntry struct {
	Names    []string          `json:"names"`
	Action   string            `json:"action"`
	ErrnoRet *uint             `json:"errnoRet"`
	Args     []profileArgument `json:"args"`
}

type profileArgument struct {
	Index    *uint   `json:"index"`
	Value    *uint64 `json:"value"`
	ValueTwo uint64  `json:"valueTwo"`
	Op       string  `json:"op"`
}

// parseProfile reads the JSON strictly: encoding/json alone would take unknown keys, keys in another case, and the
// last of two equal keys.
func parseProfile(data []byte) (*profile, error) {
	if len(data) > maxProfileBytes {
		return nil, profileErrorf("", "%d bytes are more than %d", len(data), maxProfileBytes)
	}
	var p *profile
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, profileErrorf("", "%w", err)
	}
	if p == nil {
		return nil, profileErrorf("", "null is no profile")
	}
	if err := checkKeys(json.NewDecoder(bytes.NewReader(data)), "", profileKeys()); err != nil {
		return nil, err
	}
	return p, nil
}

// parseAction gives the SECCOMP_RET_* value. An errno that is absent is EPERM, as in runc.
func parseAction(at, name string, errnoRet *uint) (uint32, error) {
	var action uint32
	switch specs.LinuxSeccompAction(name) {
	case specs.ActErrno:
		errno := uint(unix.EPERM)
		if errnoRet != nil {
			errno = *errnoRet
		}
		// The kernel cuts an errno at MAX_ERRNO (linux/err.h).
		if errno > 4095 {
			return 0, profileErrorf(at, "errno %d is above 4095", errno)
		}
		return unix.SECCOMP_RET_ERRNO | uint32(errno), nil
	case specs.ActKill, specs.ActKillThread:
		action = unix.SECCOMP_RET_KILL_THREAD
	case specs.ActKillProcess:
		action = unix.SECCOMP_RET_KILL_PROCESS
	case specs.ActTrap:
		action = unix.SECCOMP_RET_TRAP
	case specs.ActAllow:
		action = unix.SECCOMP_RET_ALLOW
	case specs.ActLog:
		action = unix.SECCOMP_RET_LOG
	case specs.ActTrace, specs.ActNotify:
		return 0, profileErrorf(at, "%s needs a supervisor, which a profile cannot bring", name)
	case "":
		return 0, profileErrorf(at, "no action is given")
	default:
		return 0, profileErrorf(at, "unknown action %q", name)
	}
	if errnoRet != nil {
		return 0, profileErrorf(at, "%s returns no errno, but one is given", name)
	}
	return action, nil
}

// comparisons translates the entry's arguments.
func (e *profileEntry) comparisons(at string) ([]assemble.Comparison, error) {
	var all []assemble.Comparison
	for i, arg := range e.Args {
		at := fmt.Sprintf("%s/args/%d", at, i)
		switch {
		case arg.Index == nil:
			return nil, profileErrorf(at, "no index is given")
		case *arg.Index > 5:
			return nil, profileErrorf(at+"/index", "a system call has arguments 0 to 5, not %d", *arg.Index)
		case arg.Value == nil:
			return nil, profileErrorf(at, "no value is given")
		}
		c := assemble.Comparison{Arg: int(*arg.Index), Value: *arg.Value}
		switch specs.LinuxSeccompOperator(arg.Op) {
		case specs.OpNotEqual:
			c.Op = assemble.NotEqual
		case specs.OpLessThan:
			c.Op = assemble.Less
		case specs.OpLessEqual:
			c.Op = assemble.LessOrEqual
		case specs.OpEqualTo:
			c.Op = assemble.Equal
		case specs.OpGreaterEqual:
			c.Op = assemble.GreaterOrEqual
		case specs.OpGreaterThan:
			c.Op = assemble.Greater
		case specs.OpMaskedEqual:
			c.Op, c.Mask, c.Value = assemble.MaskedEqual, *arg.Value, arg.ValueTwo
			if c.Value&^c.Mask != 0 {
				return nil, profileErrorf(at+"/valueTwo", "%#x has bits outside the mask %#x: it never fits", c.Value, c.Mask)
			}
		case "":
			return nil, profileErrorf(at, "no op is given")
		default:
			return nil, profileErrorf(at+"/op", "unknown op %q", arg.Op)
		}
		if c.Op != assemble.MaskedEqual && arg.ValueTwo != 0 {
			return nil, profileErrorf(at+"/valueTwo", "%s takes one value", arg.Op)
		}
		all = append(all, c)
	}
	return all, nil
}
