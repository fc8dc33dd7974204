package enforcer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/sandboxctl/sandboxctl/enforcer/stage"
	"golang.org/x/sys/unix"
)

// explain turns what a launch ran into into an error that names the cause and the way on.
func (p *Plan) explain(err error) error {
	var fork *forkError
	if errors.As(err, &fork) {
		return explainFork(fork)
	}
	var f *stage.Failure
	if !errors.As(err, &f) {
		return err
	}
	switch f.Layer {
	case stage.LayerExec:
		if d := p.judge.CanRead(f.Cause); f.Cause != "" && !d.Allowed { // not found, but a rule closes a directory of PATH
			return &ExecError{Path: f.Cause, Err: unix.EACCES, Hint: d.Explain()}
		}
		return &ExecError{Path: f.Path, Err: f.Errno, Hint: p.whyNoProgram(f)}
	case stage.LayerMounts:
		return explainMounts(f)
	case stage.LayerDir:
		return &SetupError{Err: f, Hint: "the working directory is not there inside the sandbox"}
	case stage.LayerCaps, stage.LayerNetwork:
		if f.Errno == unix.EPERM {
			return noCapabilities(f)
		}
	case stage.LayerSeccomp:
		return &FeatureError{Feature: "seccomp", Reason: "the filter could not be loaded", Err: f,
			Remedy: "an outer filter may refuse seccomp(2): run sandboxctl doctor"}
	case stage.LayerLandlock:
		return &FeatureError{Feature: "landlock", Reason: "the domain could not be entered", Err: f,
			Remedy: "run sandboxctl doctor"}
	}
	return &SetupError{Err: f}
}

// whyNoProgram names the entry that closes a program's path, when one does.
func (p *Plan) whyNoProgram(f *stage.Failure) string {
	if f.Errno != unix.EACCES && f.Errno != unix.ENOENT || !strings.Contains(f.Path, "/") {
		return ""
	}
	path := f.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if d := p.judge.CanRead(path); !d.Allowed {
		return d.Explain()
	}
	return ""
}

func explainMounts(f *stage.Failure) error {
	switch {
	case f.Errno == unix.EPERM && strings.HasSuffix(f.Op, " proc"):
		return &FeatureError{Feature: "a fresh /proc", Reason: "the kernel refuses it where the visible /proc is partly masked, as in a container",
			Remedy: `set "enableWeakerNestedSandbox": true to show the outer /proc read-only, or unmask it (docker run --security-opt systempaths=unconfined)`, Err: f}
	case f.Errno == unix.EPERM || f.Errno == unix.EACCES && f.Op == "mount MS_PRIVATE":
		return noCapabilities(f)
	case f.Errno == unix.ENOSYS:
		return &FeatureError{Feature: "the mount API", Reason: "the kernel does not have it, or an outer filter refuses it",
			Remedy: "Linux 5.12 or later is needed", Err: f}
	}
	return &SetupError{Err: f}
}

// noCapabilities is a user namespace that could be made but gives no rights, as under Ubuntu's AppArmor restriction.
func noCapabilities(f *stage.Failure) error {
	e := &FeatureError{Feature: "user namespaces", Reason: "they can be made here but give no rights in them", Err: f,
		Remedy: "an outer sandbox or a security module forbids it: run sandboxctl doctor"}
	if sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1" {
		e.Remedy = "AppArmor restricts them: give sandboxctl a profile with userns, or set kernel.apparmor_restrict_unprivileged_userns=0"
	}
	return e
}

func explainFork(f *forkError) error {
	e := &FeatureError{Feature: "user namespaces", Reason: "the kernel refuses to make one", Err: f.err}
	switch {
	case errors.Is(f.err, unix.ENOENT):
		return &SetupError{Err: f, Hint: "/proc is not mounted, or the program's file is gone"}
	case sysctl("user/max_user_namespaces") == "0":
		e.Remedy = "set user.max_user_namespaces to 10000"
	case sysctl("kernel/unprivileged_userns_clone") == "0":
		e.Remedy = "set kernel.unprivileged_userns_clone=1"
	case errors.Is(f.err, unix.ENOSPC), errors.Is(f.err, unix.EUSERS):
		e.Reason = "too many are nested or in use"
		e.Remedy = "raise user.max_user_namespaces, or run outside the other sandbox"
	case errors.Is(f.err, unix.EPERM), errors.Is(f.err, unix.EACCES), errors.Is(f.err, unix.ENOSYS), errors.Is(f.err, unix.EINVAL):
		e.Remedy = "an outer sandbox, container profile or security module forbids it: run sandboxctl doctor"
	default:
		return &SetupError{Err: f}
	}
	return e
}

func sysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
