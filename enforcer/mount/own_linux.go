package mount

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

type option struct{ key, value string }

// newFS makes a file system and returns it as a detached mount.
func newFS(op Op, kind string, attr int, options ...option) (int, error) {
	ctx, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, failFS(op, "fsopen", kind, err)
	}
	defer unix.Close(ctx)
	for _, o := range options {
		if err := unix.FsconfigSetString(ctx, o.key, o.value); err != nil {
			return -1, failFS(op, "fsconfig "+o.key, kind, err)
		}
	}
	if err := unix.FsconfigCreate(ctx); err != nil {
		return -1, failFS(op, "fsconfig", kind, err)
	}
	fd, err := unix.Fsmount(ctx, unix.FSMOUNT_CLOEXEC, attr)
	if err != nil {
		return -1, failFS(op, "fsmount", kind, err)
	}
	return fd, nil
}

func failFS(op Op, call, kind string, err error) error {
	e := fail(op, call, op.Target, err).(*Error)
	e.Detail = kind
	return e
}

func newTmpfs(op Op, size uint64, mode string) (int, error) {
	o := []option{{"mode", mode}, {"nr_inodes", strconv.Itoa(maxInodes)}}
	if size > 0 {
		o = append(o, option{"size", strconv.FormatUint(size, 10)})
	}
	return newFS(op, "tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, o...)
}

// maxInodes bounds the kernel memory that empty files can take, about 1 KiB each.
const maxInodes = 1 << 20

func (b *builder) mountTmpfs(op Op) error {
	fd, err := newTmpfs(op, op.Size, "1777")
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return b.attachAt(op, fd)
}

// procCover hides or closes a part of /proc that is the host's.
type procCover struct {
	name string
	kind Kind // Mask, or Bind for read-only
	dir  bool
	root bool // the file's permissions close it to every uid but 0
}

// procCovers: what is written by uid 0 without any capability, by ownership alone (/proc/sys/kernel/core_pattern names a
// program that the host runs as root), and what shows the host's memory, timers and devices or the user's keys.
// /proc/kcore asks for a capability itself.
var procCovers = []procCover{
	{"sys", Bind, true, true}, {"sysrq-trigger", Bind, false, true}, {"irq", Bind, true, true}, {"bus", Bind, true, true},
	{"fs", Bind, true, true},
	{"kpagecgroup", Mask, false, true}, {"kpagecount", Mask, false, true}, {"kpageflags", Mask, false, true},
	{"timer_list", Mask, false, true},
	{"keys", Mask, false, false},
}

// mountProc mounts a procfs for the PID namespace. The kernel refuses it (EPERM) where the visible /proc has parts
// mounted over, as in containers, since a fresh one would show them ("mount too revealing", fs/namespace.c).
func (b *builder) mountProc(op Op) error {
	attr := unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	// hidepid as a property of the mount, not of the PID namespace: Linux 5.8; earlier kernels say EINVAL.
	fd, err := newFS(op, "proc", attr, option{"hidepid", "invisible"})
	if err != nil {
		fd, err = newFS(op, "proc", attr)
	}
	if err != nil && op.HostProc && isPerm(err) {
		return b.mountHostProc(op)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := b.attachAt(op, fd); err != nil {
		return err
	}
	return b.coverProc(op)
}

func (b *builder) coverProc(op Op) error {
	for _, c := range procCovers {
		if c.root && !op.Root {
			continue
		}
		o := Op{Kind: c.kind, Target: op.Target + "/" + c.name, Dir: c.dir, Cause: "belongs to the host"}
		var err error
		if c.kind == Mask {
			err = b.mount(o)
		} else {
			err = b.closeProc(o)
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

// closeProc mounts a part of the new /proc read-only on itself.
func (b *builder) closeProc(o Op) error {
	src, err := openIn(o, b.root, o.Target, 0)
	if err != nil {
		return err
	}
	defer unix.Close(src)
	fd, err := b.clone(o, src, "", false, false)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return b.attach(o, fd, src, "")
}

// mountHostProc shows the host's procfs read-only. Other processes are visible in it; what they hold (environment,
// descriptors, root) stays closed, as the Landlock domain forbids access that ptrace would allow.
func (b *builder) mountHostProc(op Op) error {
	o := op
	o.Kind = Bind
	src, err := b.openHost(o, "/proc", 0)
	if err != nil {
		return err
	}
	defer unix.Close(src)
	return b.mountClone(o, src, "", false, false)
}

// devices are the files of the host's /dev that a command gets. Each is bound by itself: a file system that is mounted
// in a user namespace cannot hold working device files.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

var devLinks = []struct{ name, text string }{
	{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
	{"ptmx", "pts/ptmx"},
}

func (b *builder) mountDev(op Op) error {
	dev, err := newFS(op, "tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, option{"mode", "0755"}, option{"size", "64k"})
	if err != nil {
		return err
	}
	defer unix.Close(dev)
	if err := b.attachAt(op, dev); err != nil {
		return err
	}
	for _, name := range devices {
		if err := b.bindDevice(op, dev, "/dev/"+name, name); err != nil {
			return err
		}
	}
	if op.Console != "" {
		// A terminal of another devpts, as in a container, has no name to find here either.
		if err := b.bindDevice(op, dev, op.Console, "console"); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	for _, l := range devLinks {
		if err := unix.Symlinkat(l.text, dev, l.name); err != nil {
			return fail(op, "symlink", op.Target+"/"+l.name, err)
		}
	}
	if err := b.mountDevFS(op, dev, "pts", "devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC,
		option{"ptmxmode", "0666"}, option{"mode", "0620"}); err != nil {
		return err
	}
	if err := b.mountDevFS(op, dev, "shm", "tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV,
		option{"mode", "1777"}, option{"size", strconv.FormatUint(op.Size, 10)}, option{"nr_inodes", strconv.Itoa(maxInodes)}); err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(dev, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fail(op, "mount_setattr", op.Target, err)
	}
	return nil
}

func (b *builder) bindDevice(op Op, dev int, host, name string) error {
	o := op
	o.Target = host
	src, err := b.openHost(o, o.Target, 0)
	if err != nil {
		return err
	}
	defer unix.Close(src)
	o.Kind = Mask // a single file, not a tree
	// Read-only keeps the mode and the times of the host's file; a device can be written to all the same (may_open() and
	// do_dentry_open() exempt special files).
	fd, err := b.clone(o, src, "", false, true)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Mknodat(dev, name, unix.S_IFREG|0o644, 0); err != nil {
		return fail(op, "mknod", o.Target, err)
	}
	target, err := openIn(o, dev, name, 0)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return b.attach(op, fd, target, "")
}

func (b *builder) mountDevFS(op Op, dev int, name, kind string, attr int, options ...option) error {
	if err := unix.Mkdirat(dev, name, 0o755); err != nil {
		return fail(op, "mkdir", op.Target+"/"+name, err)
	}
	fd, err := newFS(op, kind, attr, options...)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	target, err := openIn(op, dev, name, 0)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return b.attach(op, fd, target, "")
}

func isPerm(err error) bool {
	e, ok := err.(*Error)
	return ok && e.Errno == unix.EPERM
}
