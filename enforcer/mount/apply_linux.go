package mount

import (
	"errors"
	"path"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Apply builds the tree and makes it the root of the calling process, whose mount namespace must be a new one. The caller
// has locked its goroutine to the thread. On error the namespace is half built and the process must end.
//
// It returns a descriptor of the base: a directory above the new root that no process can reach by name, and that no
// path on the host's own mounts leads through. A Landlock rule on it speaks of the new tree alone. The caller closes it.
// With Nested there is none (-1).
//
// Errors are of type [*Error], or [ErrEmptyPlan].
func (p Plan) Apply() (base int, err error) {
	if len(p.Ops) == 0 || p.Ops[0].Target != "/" {
		return -1, ErrEmptyPlan
	}
	b := builder{host: -1, root: -1, scratch: -1}
	defer b.close()
	steps := []func(Plan) error{
		b.isolate,    // before anything is mounted, or the host would see it
		b.newRoot,    // before the scratch lies on the host's /, or the clone would have it too
		b.newScratch, // and the new root is attached to it
		b.mounts,     // in Plan order: parents before children, so that no mount uncovers a denial
		b.finishWays, // after every mount point inside them is made
		b.pivot,      // last: until here sources are opened in the host's tree
	}
	for _, step := range steps {
		if err := step(p); err != nil {
			return -1, err
		}
	}
	if p.Nested {
		return -1, nil
	}
	base, b.scratch = b.scratch, -1
	return base, nil
}

// ErrEmptyPlan refuses a Plan that does not begin with the root: the zero value grants nothing.
var ErrEmptyPlan = errors.New("internal error: the mount plan does not begin with the root")

// builder holds the descriptors of a tree under construction. Mount points and sources are named by descriptors that
// openat2(2) gave, never by a path string that could mean something else a moment later.
type builder struct {
	host    int   // / of the host, under everything that is attached later
	scratch int   // a tmpfs with the mask objects, and the directory that the new tree is attached to
	root    int   // / of the new tree
	ways    []int // to be made read-only at the end
}

func (b *builder) close() {
	for _, fd := range append(b.ways, b.host, b.scratch, b.root) {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

func (b *builder) isolate(Plan) error {
	op := Op{Kind: Root, Target: "/", Cause: "mounts stay in this namespace"}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fail(op, "mount MS_PRIVATE", "/", err)
	}
	var err error
	if b.host, err = unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return fail(op, "open", "/", err)
	}
	return nil
}

// Names in the scratch file system.
const (
	maskFile = "f"
	maskDir  = "d"
	rootDir  = "r"
)

// newScratch attaches a tmpfs on the host's root, inside this namespace only, and the new tree to it. It holds the mask
// objects, as a mount can be cloned from only when it is attached.
func (b *builder) newScratch(Plan) error {
	op := Op{Kind: Mask, Target: "/", Cause: "objects that stand in for denied ones"}
	fd, err := newFS(op, "tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC, option{"mode", "0700"}, option{"size", "64k"})
	if err != nil {
		return err
	}
	b.scratch = fd
	if err := unix.Mkdirat(fd, maskDir, 0); err != nil {
		return fail(op, "mkdir", maskDir, err)
	}
	if err := unix.Mknodat(fd, maskFile, unix.S_IFREG, 0); err != nil {
		return fail(op, "mknod", maskFile, err)
	}
	if err := unix.Mkdirat(fd, rootDir, 0o755); err != nil {
		return fail(op, "mkdir", rootDir, err)
	}
	if err := b.attach(op, fd, unix.AT_FDCWD, "/"); err != nil {
		return err
	}
	target, err := openIn(op, b.scratch, rootDir, unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return b.attach(op, b.root, target, "")
}

func (b *builder) newRoot(p Plan) error {
	op := p.Ops[0]
	var err error
	switch op.Kind {
	case Root:
		b.root, err = b.clone(op, b.host, "", op.Write, false)
	case Way:
		b.root, err = b.newWay(op)
	default:
		return ErrEmptyPlan
	}
	return err
}

func (b *builder) mounts(p Plan) error {
	for _, op := range p.Ops[1:] {
		if err := b.mount(op); err != nil {
			if op.Optional && errors.Is(err, unix.ENOENT) {
				continue
			}
			return err
		}
	}
	return nil
}

func (b *builder) mount(op Op) error {
	switch op.Kind {
	case Bind:
		src, err := b.openHost(op, op.Target, 0)
		if err != nil {
			return err
		}
		defer unix.Close(src)
		return b.mountClone(op, src, "", op.Write, true)
	case Mask:
		name := maskFile
		if op.Dir {
			name = maskDir
		}
		return b.mountClone(op, b.scratch, name, false, false)
	case Link:
		src, err := b.openHost(op, op.Target, unix.O_NOFOLLOW)
		if err != nil {
			return err
		}
		defer unix.Close(src)
		return b.mountClone(op, src, "", false, false)
	case Symlink:
		return b.makeSymlink(op)
	case Way:
		fd, err := b.newWay(op)
		if err != nil {
			return err
		}
		b.ways = append(b.ways, fd)
		return b.attachAt(op, fd)
	case Tmpfs:
		return b.mountTmpfs(op)
	case Proc:
		return b.mountProc(op)
	case Dev:
		return b.mountDev(op)
	}
	return fail(op, "mount", op.Target, unix.EINVAL)
}

// mountClone puts a clone of a source on the operation's target.
func (b *builder) mountClone(op Op, dir int, name string, write, devices bool) error {
	fd, err := b.clone(op, dir, name, write, false)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return b.attachAt(op, fd)
}

// clone returns a detached copy of the mount tree at name below dir (name "" = dir itself), nosuid and, but for single
// device files, nodev.
func (b *builder) clone(op Op, dir int, name string, write, device bool) (int, error) {
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_SYMLINK_NOFOLLOW)
	attrFlags := uint(unix.AT_EMPTY_PATH)
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	if op.Kind == Root || op.Kind == Bind {
		flags |= unix.AT_RECURSIVE
		attrFlags |= unix.AT_RECURSIVE
	}
	fd, err := unix.OpenTree(dir, name, flags)
	if err != nil {
		return -1, fail(op, "open_tree", op.Target, err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID}
	if !device {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if !write {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(fd, "", attrFlags, &attr); err != nil {
		unix.Close(fd)
		return -1, fail(op, "mount_setattr", op.Target, err)
	}
	return fd, nil
}

// newWay is read-only only at the end (finishWays): until then its owner, who may be no more than an ordinary user, makes
// mount points in it.
func (b *builder) newWay(op Op) (int, error) {
	return newFS(op, "tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, option{"mode", "0755"}, option{"size", "1m"})
}

func (b *builder) finishWays(p Plan) error {
	ways := b.ways
	if p.Ops[0].Kind == Way {
		ways = append(ways, b.root)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	for _, fd := range ways {
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &attr); err != nil {
			return fail(Op{Kind: Way}, "mount_setattr", "", err)
		}
	}
	return nil
}

// pivot makes the scratch file system the root of the namespace, lets go of the host's tree, and makes the new tree, which
// hangs in it, the root of the process.
//
// A process whose root is not its namespace's cannot make user namespaces (user_namespaces(7)). With Plan.Nested the new
// tree itself becomes the root of the namespace, in a second step: at the first one two mounts lie on the host's /, and
// only one of them would go.
func (b *builder) pivot(p Plan) error {
	if err := pivotTo(b.scratch); err != nil {
		return err
	}
	if p.Nested {
		return pivotTo(b.root)
	}
	op := Op{Kind: Root, Target: "/", Cause: "the new tree becomes the root"}
	if err := unix.Fchdir(b.root); err != nil {
		return fail(op, "fchdir", "/", err)
	}
	if err := unix.Chroot("."); err != nil {
		return fail(op, "chroot", "/", err)
	}
	return nil
}

// pivotTo makes the mount at fd the root of the namespace and detaches the old root. That one is private already, so that
// the host does not see the unmount; stacking it on the new root's own / needs no directory for it (pivot_root(2), NOTES).
// Preconditions: nothing is mounted on the / of the old root, or it would be detached in its place.
func pivotTo(fd int) error {
	op := Op{Kind: Root, Target: "/", Cause: "the old tree goes away"}
	if err := unix.Fchdir(fd); err != nil {
		return fail(op, "fchdir", "/", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fail(op, "pivot_root", "/", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fail(op, "umount2", "/", err)
	}
	return nil
}

// openHost opens a path in the host's tree. A symlink on the way is an error: every path was resolved when the rules were
// derived, so that a link means that somebody has changed the tree since.
func (b *builder) openHost(op Op, p string, flags uint64) (int, error) {
	return openIn(op, b.host, p, flags)
}

// attachAt moves a detached mount onto the operation's target in the new tree.
func (b *builder) attachAt(op Op, fd int) error {
	if op.Create {
		if err := b.makeMountPoint(op); err != nil {
			return err
		}
	}
	var flags uint64
	if op.Kind == Link {
		flags = unix.O_NOFOLLOW
	}
	target, err := openIn(op, b.root, op.Target, flags)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return b.attach(op, fd, target, "")
}

func (b *builder) attach(op Op, fd, dir int, name string) error {
	flags := unix.MOVE_MOUNT_F_EMPTY_PATH
	if name == "" {
		flags |= unix.MOVE_MOUNT_T_EMPTY_PATH
	}
	if err := unix.MoveMount(fd, "", dir, name, flags); err != nil {
		return fail(op, "move_mount", op.Target, err)
	}
	return nil
}

// makeMountPoint makes the directories on the way to a target, and a directory or an empty file there. It works only in
// a tmpfs of ours: anything else is read-only or, being the host's, is never created in (Op.Create is not set).
func (b *builder) makeMountPoint(op Op) error {
	dir, err := b.makeParents(op)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	base := path.Base(op.Target)
	if op.Dir {
		err = unix.Mkdirat(dir, base, 0o755)
	} else {
		err = unix.Mknodat(dir, base, unix.S_IFREG|0o444, 0)
	}
	if err != nil && err != unix.EEXIST {
		return fail(op, "make mount point", op.Target, err)
	}
	return nil
}

func (b *builder) makeSymlink(op Op) error {
	dir, err := b.makeParents(op)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := unix.Symlinkat(op.Text, dir, path.Base(op.Target)); err != nil && err != unix.EEXIST {
		return fail(op, "symlink", op.Target, err)
	}
	return nil
}

// makeParents walks to the directory that holds the target, making what is missing, and returns it.
func (b *builder) makeParents(op Op) (int, error) {
	fd, err := unix.Dup(b.root)
	if err != nil {
		return -1, fail(op, "dup", "/", err)
	}
	for _, name := range strings.Split(strings.Trim(path.Dir(op.Target), "/"), "/") {
		if name == "" {
			continue
		}
		next, err := openIn(op, fd, name, unix.O_DIRECTORY)
		if errors.Is(err, unix.ENOENT) {
			if err := unix.Mkdirat(fd, name, 0o755); err != nil {
				unix.Close(fd)
				return -1, fail(op, "mkdir", op.Target, err)
			}
			next, err = openIn(op, fd, name, unix.O_DIRECTORY)
		}
		unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

// openIn opens an absolute path as if dir were /, without following any symlink.
func openIn(op Op, dir int, p string, flags uint64) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC | flags,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(dir, p, &how)
		// EAGAIN: a rename went on elsewhere while the kernel resolved within a root (openat2(2)).
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil {
			return -1, fail(op, "openat2", p, err)
		}
		return fd, nil
	}
}

func fail(op Op, call, p string, err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		errno = unix.EIO
	}
	return &Error{Call: call, Op: op, Path: p, Errno: errno}
}
