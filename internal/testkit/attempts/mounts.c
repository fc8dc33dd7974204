// Changes to the mount tree, each after an attempt to get namespaces in which they are allowed.
#include "attempts.h"
#include <sys/mount.h>

ATTEMPT(bindmount) {
	own_namespaces();
	return mount(arg[0], arg[1], NULL, MS_BIND | MS_REC, NULL);
}

ATTEMPT(tmpfs) {
	own_namespaces();
	return mount("none", arg[0], "tmpfs", 0, NULL);
}

ATTEMPT(umount) {
	own_namespaces();
	return umount2(arg[0], MNT_DETACH);
}

ATTEMPT(opentree) {
	own_namespaces();
	return syscall(SYS_open_tree, AT_FDCWD, arg[0], OPEN_TREE_CLONE | AT_RECURSIVE) < 0 ? -1 : 0;
}

ATTEMPT(fsopen) {
	own_namespaces();
	return syscall(SYS_fsopen, "tmpfs", 0) < 0 ? -1 : 0;
}

ATTEMPT(fspick) {
	own_namespaces();
	return syscall(SYS_fspick, AT_FDCWD, arg[0], 0) < 0 ? -1 : 0;
}

// These three get a descriptor that is none: whoever answers EBADF has looked at it.
ATTEMPT(fsconfig) { return (int)syscall(SYS_fsconfig, -1, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0); }
ATTEMPT(fsmount) {
	own_namespaces();
	return (int)syscall(SYS_fsmount, -1, 0, 0);
}
ATTEMPT(movemount) {
	own_namespaces();
	return (int)syscall(SYS_move_mount, -1, "", AT_FDCWD, arg[0], 4 /* MOVE_MOUNT_F_EMPTY_PATH */);
}

ATTEMPT(mountsetattr) {
	own_namespaces();
	struct mount_attr a = {.attr_clr = MOUNT_ATTR_RDONLY};
	return (int)syscall(SYS_mount_setattr, -1, "", AT_EMPTY_PATH, &a, sizeof a);
}

ATTEMPT(pivotroot) {
	own_namespaces();
	return (int)syscall(SYS_pivot_root, arg[0], arg[0]);
}

// A second root inside, with the working directory left outside of it: `..` leads past the first one.
ATTEMPT(chroot) {
	own_namespaces();
	return chroot(arg[0]);
}

// Climbs past the first root from a working directory that the second one does not hold, and reads there.
ATTEMPT(climb) {
	own_namespaces();
	must("chroot", chroot(arg[0]));
	for (int i = 0; i < 64; i++)
		must("chdir", chdir(".."));
	char buf[256];
	int fd = must("open", open(arg[1], O_RDONLY));
	fwrite(buf, 1, (size_t)must("read", read(fd, buf, sizeof buf)), stdout);
	return 1;
}
