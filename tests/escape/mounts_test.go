package escape

// mountRows change the mount tree. Outside they work for every uid, in namespaces of the attempt's own; those that get no
// descriptor reach the kernel's check of it (EBADF).
func mountRows() []row {
	return []row{
		{name: "bind over a denied directory", attempt: "$A bindmount dir secret", inside: "EPERM", outside: "ok"},
		{name: "bind a denied directory elsewhere", attempt: "$A bindmount ~/.ssh dir", inside: "EPERM", outside: "ok"},
		{name: "mount tmpfs", attempt: "$A tmpfs dir", inside: "EPERM", outside: "ok"},
		{name: "unmount a denial", attempt: "$A umount secret", inside: "EPERM", outside: "EINVAL"},
		{name: "open_tree", attempt: "$A opentree .", inside: "EPERM", outside: "ok"},
		{name: "fsopen", attempt: "$A fsopen", inside: "EPERM", outside: "ok"},
		{name: "fspick", attempt: "$A fspick /", inside: "EPERM", outside: "ok"},
		{name: "fsconfig", attempt: "$A fsconfig", inside: "EPERM", outside: "EINVAL|EBADF"},
		{name: "fsmount", attempt: "$A fsmount", inside: "EPERM", outside: "EBADF"},
		{name: "move_mount", attempt: "$A movemount dir", inside: "EPERM", outside: "EBADF"},
		{name: "mount_setattr", attempt: "$A mountsetattr", inside: "EPERM", outside: "EBADF"},
		{name: "pivot_root", attempt: "$A pivotroot dir", inside: "EPERM", outside: "EINVAL"},
		{name: "chroot", attempt: "$A chroot dir", inside: "EPERM", outside: "ok"},

		{name: "unshare user", attempt: "$A unshare 0x10000000", inside: "EPERM", outside: "ok"},
		{name: "unshare mount", attempt: "$A unshare 0x00020000", inside: "EPERM", outside: "ok", user: "EPERM"},
		{name: "unshare nothing", attempt: "$A unshare 0", inside: "EPERM", outside: "ok"},
		{name: "clone user", attempt: "$A clone 0x10000000", inside: "EPERM", outside: "ok"},
		{name: "clone user with high bits", attempt: "$A clone 0xff00000010000000", inside: "EPERM", outside: "ok"},
		{name: "clone with high bits", attempt: "$A clone 0x100000000", inside: "EPERM", outside: "ok"},
		{name: "clone", attempt: "$A clone 0", inside: "ok", same: true},
		{name: "clone3 user", attempt: "$A clone3 0x10000000", inside: "ENOSYS", outside: "ok"},
		{name: "clone3", attempt: "$A clone3 0", inside: "ENOSYS", outside: "ok"},
		{name: "setns", attempt: "$A setnsnone", inside: "EPERM", outside: "EBADF"},
		{name: "setns to an outer namespace", attempt: "$A setns /proc/$PID/ns/mnt", inside: "open: ENOENT", outside: "ok", user: "EPERM"},
		{name: "setns to its own namespace", attempt: "$A setns /proc/self/ns/net", inside: "EPERM", outside: "ok", user: "EPERM"},
	}
}
