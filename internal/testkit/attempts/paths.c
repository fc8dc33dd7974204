// Names, links and descriptors of files.
#include "attempts.h"
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static int flags_of(const char *mode) {
	if (!strcmp(mode, "r"))
		return O_RDONLY;
	if (!strcmp(mode, "w"))
		return O_WRONLY;
	if (!strcmp(mode, "rw"))
		return O_RDWR;
	if (!strcmp(mode, "create"))
		return O_WRONLY | O_CREAT;
	if (!strcmp(mode, "truncate"))
		return O_WRONLY | O_TRUNC;
	if (!strcmp(mode, "append"))
		return O_WRONLY | O_APPEND;
	if (!strcmp(mode, "path"))
		return O_PATH;
	if (!strcmp(mode, "directory"))
		return O_RDONLY | O_DIRECTORY;
	if (!strcmp(mode, "temporary"))
		return O_WRONLY | O_TMPFILE;
	printf("no such mode: %s\n", mode);
	exit(2);
}

ATTEMPT(open) { return open(arg[0], flags_of(arg[1]) | O_CLOEXEC, 0644) < 0 ? -1 : 0; }

static int copy_out(int fd) {
	char buf[256];
	ssize_t n = read(fd, buf, sizeof buf);
	if (n < 0)
		return -1;
	fwrite(buf, 1, (size_t)n, stdout);
	return 1;
}

ATTEMPT(read) { return copy_out(must("open", open(arg[0], O_RDONLY))); }

// Reads a file below a descriptor that was inherited.
ATTEMPT(readat) { return copy_out(must("openat", openat((int)number(arg[0]), arg[1], O_RDONLY))); }

ATTEMPT(readfd) { return copy_out((int)number(arg[0])); }

ATTEMPT(openat2) {
	struct open_how how = {.flags = O_RDONLY, .resolve = number(arg[1])};
	return syscall(SYS_openat2, AT_FDCWD, arg[0], &how, sizeof how) < 0 ? -1 : 0;
}

ATTEMPT(handle) {
	struct file_handle *h = calloc(1, sizeof *h + MAX_HANDLE_SZ);
	int mount;
	h->handle_bytes = MAX_HANDLE_SZ;
	return name_to_handle_at(AT_FDCWD, arg[0], h, &mount, 0);
}

// The root directory of an ext4 or xfs has inode 2; a handle of it needs no path.
ATTEMPT(openhandle) {
	struct {
		struct file_handle h;
		unsigned ino[2];
	} a = {{.handle_bytes = 8, .handle_type = 1}, {2, 0}};
	int mount = must("open", open(arg[0], O_RDONLY | O_DIRECTORY));
	return open_by_handle_at(mount, &a.h, O_RDONLY) < 0 ? -1 : 0;
}

ATTEMPT(link) { return link(arg[0], arg[1]); }

ATTEMPT(linkempty) {
	int fd = must("open", open(arg[0], O_PATH));
	return linkat(fd, "", AT_FDCWD, arg[1], AT_EMPTY_PATH);
}

ATTEMPT(linkproc) {
	char name[64];
	snprintf(name, sizeof name, "/proc/self/fd/%d", must("open", open(arg[0], O_PATH)));
	return linkat(AT_FDCWD, name, AT_FDCWD, arg[1], AT_SYMLINK_FOLLOW);
}

ATTEMPT(symlink) { return symlink(arg[0], arg[1]); }
ATTEMPT(rename) { return rename(arg[0], arg[1]); }
ATTEMPT(exchange) { return renameat2(AT_FDCWD, arg[0], AT_FDCWD, arg[1], RENAME_EXCHANGE); }
ATTEMPT(whiteout) { return renameat2(AT_FDCWD, arg[0], AT_FDCWD, arg[1], RENAME_WHITEOUT); }
ATTEMPT(unlink) { return unlink(arg[0]); }
ATTEMPT(rmdir) { return rmdir(arg[0]); }
ATTEMPT(mkdir) { return mkdir(arg[0], 0755); }
ATTEMPT(truncate) { return truncate(arg[0], 0); }
ATTEMPT(chmod) { return chmod(arg[0], (mode_t)number(arg[1])); }

ATTEMPT(fallocate) { return fallocate(must("open", open(arg[0], O_WRONLY)), 0, 0, 4096); }

static void two(char **arg, int *from, int *to) {
	*from = must("open source", open(arg[0], O_RDONLY));
	*to = must("open target", open(arg[1], O_WRONLY | O_CREAT, 0644));
}

ATTEMPT(ficlone) {
	int from, to;
	two(arg, &from, &to);
	return ioctl(to, FICLONE, from);
}

ATTEMPT(copyrange) {
	int from, to;
	two(arg, &from, &to);
	return copy_file_range(from, NULL, to, NULL, 64, 0) < 0 ? -1 : 0;
}

ATTEMPT(sendfile) {
	int from, to;
	two(arg, &from, &to);
	return sendfile(to, from, NULL, 64) < 0 ? -1 : 0;
}

ATTEMPT(splice) {
	int from, to, p[2];
	two(arg, &from, &to);
	must("pipe", pipe(p));
	return splice(from, NULL, p[1], NULL, 64, 0) < 0 || splice(p[0], NULL, to, NULL, 64, 0) < 0 ? -1 : 0;
}

// A shared mapping writes without write(2).
ATTEMPT(mmapwrite) {
	int fd = must("open", open(arg[0], flags_of(arg[1])));
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -1;
	p[0] = 'X';
	return msync(p, 4096, MS_SYNC);
}

// A mapping that is made writable after it was made.
ATTEMPT(mprotectwrite) {
	char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, must("open", open(arg[0], O_RDONLY)), 0);
	return p == MAP_FAILED ? -1 : mprotect(p, 4096, PROT_READ | PROT_WRITE);
}

ATTEMPT(mknod) {
	mode_t kind = arg[1][0] == 'c' ? S_IFCHR : arg[1][0] == 'b' ? S_IFBLK : S_IFIFO;
	return mknod(arg[0], kind | 0666, arg[2] ? makedev(number(arg[2]), number(arg[3])) : 0);
}

// Fills a file until the file system says no, and prints how many KiB it took and why it ended.
ATTEMPT(fill) {
	int fd = must("open", open(arg[0], O_WRONLY | O_CREAT, 0644));
	static char block[64 << 10];
	long limit = (long)number(arg[1]), kib = 0;
	ssize_t n = 0;
	while (kib < limit && (n = write(fd, block, sizeof block)) > 0)
		kib += n >> 10;
	printf("%ld %s\n", kib, n < 0 ? strerrorname_np(errno) : "no end");
	return 1;
}

// Exchanges two names until its standard input ends, and prints "swapping" when it has done so once.
ATTEMPT(swap) {
	fcntl(0, F_SETFL, O_NONBLOCK);
	char c;
	for (long n = 0; read(0, &c, 1) != 0; n++) {
		must("exchange", renameat2(AT_FDCWD, arg[0], AT_FDCWD, arg[1], RENAME_EXCHANGE));
		if (n == 0)
			puts("swapping");
	}
	return 0;
}
