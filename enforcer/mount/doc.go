// Package mount builds the file tree that a sandboxed command sees.
//
// [Compile] is pure: it turns rules and an evaluator into a [Plan], an ordered list of operations. [Plan.Apply] carries
// the list out in the calling thread's own mount namespace and decides nothing.
//
// The tree is a read-only clone of the host's, with nosuid and nodev. On top of it, parents before children, comes one
// mount for each place where the answer of the evaluator changes: writable trees, read-only trees inside them, re-opened
// trees inside denied ones, masks over denied files and directories. As a child is always mounted after its parent, no
// later mount uncovers an earlier denial, whatever the order of the lists in the settings.
//
// # Guarantees
//
//   - A path that the evaluator denies for reading cannot be opened, listed, entered or written: EACCES.
//   - A denied directory that holds a re-opened one shows the way there and nothing else.
//   - A path that the evaluator denies for writing is on a read-only mount: EROFS.
//   - An entry, each of its ancestors up to the writable tree's root, and each symlink that the entry was reached by
//     are mount points, which cannot be renamed, removed or replaced from inside: EBUSY.
//   - Nothing is created on the host: mount points that do not exist are made in a tmpfs of the sandbox's own.
//   - No path is followed through a symlink while mounting (openat2, RESOLVE_NO_SYMLINKS): a component that was
//     replaced by a link after the rules were derived fails the launch.
//
// # Does not guarantee
//
//   - Names that do not exist when the command starts: see docs/two-boundaries.md.
//   - Hard links that existed before, and files that a program on the host replaces while the command runs: the kernel
//     detaches a mount when its mount point is renamed over or removed from another mount namespace.
//   - Descriptors opened before; the stage sees to those.
//
// Needs Linux 5.12 (mount_setattr(2)), a mount namespace of one's own and CAP_SYS_ADMIN in the user namespace that owns it.
// Sources: mount_namespaces(7), mount_setattr(2), open_tree(2), move_mount(2), pivot_root(2).
package mount
