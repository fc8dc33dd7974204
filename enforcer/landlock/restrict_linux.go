package landlock

import (
	"errors"
	"fmt"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// ErrNotSupported says that this kernel has no Landlock, or was started without it.
var ErrNotSupported = errors.New("landlock is not supported by this kernel, or is switched off (lsm= boot parameter)")

// ErrEmptyPlan refuses to restrict to a Plan that handles nothing: it would succeed and enforce nothing.
var ErrEmptyPlan = errors.New("internal error: the landlock plan handles no access right")

// ABI returns the kernel's ABI version, from 1. The error is [ErrNotSupported] when there is none (ENOSYS, EOPNOTSUPP);
// any other error means that it could not be told.
func ABI() (int, error) {
	v, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
		return 0, ErrNotSupported
	case err != nil:
		return 0, fmt.Errorf("landlock_create_ruleset: %w", err)
	case v < 1:
		return 0, fmt.Errorf("landlock_create_ruleset: version %d", v)
	}
	return v, nil
}

// Restrict puts the calling OS thread into a domain made of the Plan. The caller has locked its goroutine to the thread
// and set no_new_privs. Paths are those of the thread's own root; none may be a symlink.
//
// On error the thread is not restricted and must not start the command.
func (p Plan) Restrict() error {
	if p.Handled == 0 {
		return ErrEmptyPlan
	}
	rs, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: uint64(p.Handled), Scoped: uint64(p.Scoped)}, 0)
	if err != nil {
		return fmt.Errorf("landlock_create_ruleset: %w", err)
	}
	defer unix.Close(rs)
	for _, r := range p.Rules {
		if err := addRule(rs, r); err != nil {
			return err
		}
	}
	for fd := range 3 {
		if err := addDescriptor(rs, fd, p.Handled); err != nil {
			return err
		}
	}
	if err := ll.LandlockRestrictSelf(rs, 0); err != nil {
		return fmt.Errorf("landlock_restrict_self: %w", err)
	}
	return nil
}

func addRule(rs int, r Rule) error {
	fd, err := unix.Open(r.Path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("open %s for a landlock rule: %w", r.Path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("stat %s for a landlock rule: %w", r.Path, err)
	}
	access := r.Access
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileOnly // the kernel refuses rights of directories on a file (EINVAL)
	}
	if err := ll.LandlockAddPathBeneathRule(rs, &ll.PathBeneathAttr{AllowedAccess: uint64(access), ParentFd: fd}, 0); err != nil {
		return fmt.Errorf("landlock_add_rule %s %s: %w", r.Path, access, err)
	}
	return nil
}

// addDescriptor lets a standard descriptor's file be opened again, as /dev/stdin and /dev/stderr do, with the rights
// that the descriptor has and no others. Pipes, sockets and the like need no rule.
func addDescriptor(rs, fd int, handled Access) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil // closed: nothing to open again
	}
	kind := st.Mode & unix.S_IFMT
	if kind != unix.S_IFREG && kind != unix.S_IFCHR {
		return nil
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return fmt.Errorf("flags of descriptor %d: %w", fd, err)
	}
	var a Access
	switch flags & unix.O_ACCMODE {
	case unix.O_RDONLY:
		a = ReadFile
	case unix.O_WRONLY:
		a = WriteFile
	case unix.O_RDWR:
		a = ReadFile | WriteFile
	}
	if kind == unix.S_IFCHR {
		a |= Ioctl
	}
	err = ll.LandlockAddPathBeneathRule(rs, &ll.PathBeneathAttr{AllowedAccess: uint64(a & handled), ParentFd: fd}, 0)
	// EBADFD: a file of a kernel-internal file system, which Landlock does not restrict.
	if err != nil && !errors.Is(err, unix.EBADFD) {
		return fmt.Errorf("landlock_add_rule descriptor %d: %w", fd, err)
	}
	return nil
}
