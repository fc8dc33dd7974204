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

// Domains are rulesets that are made and not yet entered.
type Domains struct {
	rulesets []int // outermost first
}

// Prepare makes the rulesets. It is called while the thread still has the capabilities that opening the paths may need.
// Paths are those of the thread's own root; none may be a symlink. The caller enters the Domains or closes them.
//
// There are two, one inside the other; what is done has to be allowed by both.
//
// The outer one speaks of where a file is: base is a directory above the new root (see mount.Plan.Apply), and whatever is
// reached through it has every right. A file on the host's own mounts, which only an inherited descriptor leads to, has the
// rights of that descriptor. Rules belong to inodes, so that the rules of the inner domain alone would also hold for
// the host's view of a writable tree, and could not take anything away from a file in it. base < 0 leaves it out.
//
// The inner one is the Plan.
func (p Plan) Prepare(base int) (*Domains, error) {
	if p.Handled == 0 {
		return nil, ErrEmptyPlan
	}
	d := &Domains{}
	if base >= 0 {
		if err := d.add(p.Handled, 0, func(rs int) error { return allow(rs, base, p.Handled, "the new tree") }); err != nil {
			d.Close()
			return nil, err
		}
	}
	err := d.add(p.Handled, p.Scoped, func(rs int) error {
		for _, r := range p.Rules {
			if err := addRule(rs, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// add makes a ruleset, lets rules fill it, and adds the standard descriptors.
func (d *Domains) add(handled Access, scoped Scope, rules func(rs int) error) error {
	rs, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: uint64(handled), Scoped: uint64(scoped)}, 0)
	if err != nil {
		return fmt.Errorf("landlock_create_ruleset: %w", err)
	}
	d.rulesets = append(d.rulesets, rs)
	if err := rules(rs); err != nil {
		return err
	}
	for fd := range 3 {
		if err := addDescriptor(rs, fd, handled); err != nil {
			return err
		}
	}
	return nil
}

// Enter puts the calling OS thread into the domains and closes them. The caller has locked its goroutine to the thread and set
// no_new_privs. On error the thread may be half restricted and must not start the command.
func (d *Domains) Enter() error {
	defer d.Close()
	for _, rs := range d.rulesets {
		if err := ll.LandlockRestrictSelf(rs, 0); err != nil {
			return fmt.Errorf("landlock_restrict_self: %w", err)
		}
	}
	return nil
}

// Close lets go of the rulesets.
func (d *Domains) Close() {
	for _, rs := range d.rulesets {
		unix.Close(rs)
	}
	d.rulesets = nil
}

func allow(rs, fd int, a Access, name string) error {
	if err := ll.LandlockAddPathBeneathRule(rs, &ll.PathBeneathAttr{AllowedAccess: uint64(a), ParentFd: fd}, 0); err != nil {
		return fmt.Errorf("landlock_add_rule %s %s: %w", name, a, err)
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
	return allow(rs, fd, access, r.Path)
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
	err = allow(rs, fd, a&handled, fmt.Sprintf("descriptor %d", fd))
	if errors.Is(err, unix.EBADFD) { // a file of a kernel-internal file system, which Landlock does not restrict
		return nil
	}
	return err
}
