package enforcer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"github.com/sandboxctl/sandboxctl/enforcer/landlock"
	"github.com/sandboxctl/sandboxctl/enforcer/seccomp"
	"github.com/sandboxctl/sandboxctl/enforcer/stage"
	"golang.org/x/sys/unix"
)

// State is what a probe found. The zero value is that it could not be told, which is never read as absent or present.
type State uint8

// States.
const (
	Unknown State = iota
	Absent
	Present
)

// String returns the word that tables show.
func (s State) String() string {
	switch s {
	case Absent:
		return "no"
	case Present:
		return "yes"
	}
	return "unclear"
}

// MarshalText writes the word of String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Check is one kernel feature that was tried.
type Check struct {
	Name   string `json:"name"`
	How    string `json:"how"`   // the system calls that were tried
	Gives  string `json:"gives"` // what it is for
	State  State  `json:"state"`
	Detail string `json:"detail,omitempty"` // a version, or why not and the way on
	Needed bool   `json:"needed"`           // by tier full
}

// Report is what a host can enforce.
type Report struct {
	Tier   string  `json:"tier"`
	Checks []Check `json:"checks"`
}

// Full reports whether everything that tier full needs is there.
func (r Report) Full() bool { return r.Tier == TierFull.String() }

// Probe tries every kernel feature that a launch uses, in a child with namespaces of its own. It changes nothing and takes
// some ten milliseconds. The error tells of a probe that could not be carried out, not of a missing feature.
func Probe(ctx context.Context) (Report, error) {
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	if !entered.Load() {
		return Report{}, ErrNoStage
	}
	r := Report{Tier: "none"}
	inside, err := probeNamespaces()
	var missing *FeatureError
	if err != nil && !errors.As(err, &missing) {
		return Report{}, err
	}
	r.Checks = append(r.Checks, namespaceChecks(inside, missing)...)
	r.Checks = append(r.Checks, openat2Check(), landlockCheck(), scopeCheck(), seccompCheck())
	for _, c := range r.Checks {
		if c.Needed && c.State != Present {
			return r, nil
		}
	}
	r.Tier = TierFull.String()
	return r, nil
}

func namespaceChecks(inside []stage.Attempt, missing *FeatureError) []Check {
	checks := []Check{{Name: "namespaces", How: "clone(CLONE_NEWUSER|NEWNS|NEWPID|NEWNET|NEWIPC|NEWUTS|NEWCGROUP)",
		Gives: "a tree, processes and a network of the command's own", State: Present, Needed: true}}
	if missing != nil {
		checks[0].State, checks[0].Detail = Absent, missing.Error()
	}
	rows := []Check{
		{Name: "private mounts", How: "mount(MS_PRIVATE) in the user namespace", Gives: "rights inside the namespace", Needed: true},
		{Name: "mount API", How: "open_tree, mount_setattr", Gives: "read-only views, writable trees", Needed: true},
		{Name: "whole tree", How: "procfs, devpts, tmpfs, move_mount, pivot_root", Gives: "/proc, /dev and /tmp of the command's own", Needed: true},
		{Name: "loopback", How: "ioctl(SIOCSIFFLAGS) on lo", Gives: "127.0.0.1 of the command's own", Needed: true},
	}
	for _, row := range rows {
		for _, a := range inside {
			if a.Name == row.Name {
				row.State = Present
				if a.Fail != nil {
					row.State, row.Detail = Absent, (&Plan{}).explain(a.Fail).Error()
				}
			}
		}
		checks = append(checks, row)
	}
	return checks
}

func openat2Check() Check {
	c := Check{Name: "openat2", How: "openat2(RESOLVE_BENEATH)", Gives: "paths that cannot be swapped", Needed: true, State: Present}
	fd, err := unix.Openat2(unix.AT_FDCWD, ".", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH})
	if err != nil {
		c.State, c.Detail = Absent, err.Error()
		return c
	}
	unix.Close(fd)
	return c
}

func landlockCheck() Check {
	c := Check{Name: "landlock", How: "landlock_create_ruleset(VERSION)", Gives: "descriptors cannot be reopened with more rights", Needed: true}
	abi, err := landlock.ABI()
	switch {
	case err == nil:
		c.State, c.Detail = Present, fmt.Sprintf("ABI %d", abi)
	case errors.Is(err, landlock.ErrNotSupported):
		c.State, c.Detail = Absent, err.Error()
	default:
		c.Detail = err.Error()
	}
	return c
}

func scopeCheck() Check {
	c := Check{Name: "landlock scopes", How: "landlock_create_ruleset(VERSION) >= 6", Gives: "signals stay inside", State: Absent,
		Detail: "the command gets a session of its own instead, without job control"}
	if abi, err := landlock.ABI(); err == nil && abi >= 6 {
		c.State, c.Detail = Present, ""
	}
	return c
}

func seccompCheck() Check {
	c := Check{Name: "seccomp", How: "seccomp(SECCOMP_SET_MODE_FILTER)", Gives: "dangerous system calls are refused", Needed: true}
	err := seccomp.Probe()
	switch {
	case err == nil:
		c.State = Present
	case errors.Is(err, seccomp.ErrNotSupported):
		c.State, c.Detail = Absent, err.Error()
	default:
		c.Detail = err.Error()
	}
	return c
}

// probeNamespaces starts a child in the namespaces of tier full and returns what it could do there.
func probeNamespaces() ([]stage.Attempt, error) {
	uids, gids, err := idMaps()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		w.Close()
		return nil, err
	}
	defer null.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{stage.ProbeArgv0}, &syscall.ProcAttr{
		Files: []uintptr{null.Fd(), w.Fd(), null.Fd()},
		Sys:   &syscall.SysProcAttr{Cloneflags: namespaces, UidMappings: uids, GidMappings: gids, AmbientCaps: stageCaps},
	})
	w.Close()
	if err != nil {
		return nil, explainFork(&forkError{err: err})
	}
	out, readErr := io.ReadAll(io.LimitReader(r, 1<<20))
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if readErr != nil {
		return nil, readErr
	}
	var attempts []stage.Attempt
	if err := json.Unmarshal(out, &attempts); err != nil {
		return nil, fmt.Errorf("the probe did not answer (%s): %w", describe(status), err)
	}
	return attempts, nil
}

func describe(s syscall.WaitStatus) string {
	if s.Signaled() {
		return "killed by " + unix.SignalName(s.Signal())
	}
	return fmt.Sprintf("status %d", s.ExitStatus())
}
