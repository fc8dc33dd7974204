// Namespaces, and the memory, descriptors and signals of other processes.
#include "attempts.h"
#include <linux/kcmp.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

static char secret[] = "MEMORYSECRET";

// Stands outside: lets everyone of its uid trace it (Yama), and waits.
ATTEMPT(bystander) {
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	printf("ready %p\n", (void *)secret);
	for (;;)
		pause();
}

ATTEMPT(setns) { return setns(must("open", open(arg[0], O_RDONLY)), 0); }
ATTEMPT(setnsnone) { return setns(-1, 0); }
ATTEMPT(unshare) { return unshare((int)number(arg[0])); }

static int ended(long pid) {
	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return -1;
	return waitpid((pid_t)pid, NULL, __WALL) < 0 ? -1 : 0;
}

// The flags as given, in all 64 bits.
ATTEMPT(clone) { return ended(syscall(SYS_clone, number(arg[0]) | SIGCHLD, 0, 0, 0, 0)); }

ATTEMPT(clone3) {
	struct clone_args a = {.flags = number(arg[0]), .exit_signal = SIGCHLD};
	return ended(syscall(SYS_clone3, &a, sizeof a));
}

ATTEMPT(kill) { return kill((pid_t)strtol(arg[0], NULL, 10), (int)number(arg[1])); }

ATTEMPT(pidfdsignal) {
	int fd = must("pidfd_open", syscall(SYS_pidfd_open, number(arg[0]), 0));
	return (int)syscall(SYS_pidfd_send_signal, fd, number(arg[1]), NULL, 0);
}

ATTEMPT(pidfdgetfd) {
	int fd = must("pidfd_open", syscall(SYS_pidfd_open, number(arg[0]), 0));
	return syscall(SYS_pidfd_getfd, fd, 0, 0) < 0 ? -1 : 0;
}

ATTEMPT(vmread) {
	char buf[sizeof secret] = "";
	struct iovec local = {buf, sizeof buf - 1}, remote = {(void *)number(arg[1]), sizeof buf - 1};
	if (process_vm_readv((pid_t)number(arg[0]), &local, 1, &remote, 1, 0) < 0)
		return -1;
	puts(buf);
	return 1;
}

ATTEMPT(vmwrite) {
	char c = 'm';
	struct iovec local = {&c, 1}, remote = {(void *)number(arg[1]), 1};
	return process_vm_writev((pid_t)number(arg[0]), &local, 1, &remote, 1, 0) < 0 ? -1 : 0;
}

ATTEMPT(procmem) {
	char name[64], buf[sizeof secret] = "";
	snprintf(name, sizeof name, "/proc/%s/mem", arg[0]);
	int fd = must("open", open(name, O_RDONLY));
	must("pread", pread(fd, buf, sizeof buf - 1, (off_t)number(arg[1])));
	puts(buf);
	return 1;
}

ATTEMPT(ptrace) { return ptrace(PTRACE_SEIZE, (pid_t)number(arg[0]), NULL, NULL) < 0 ? -1 : 0; }

// A child of one's own, as a debugger does.
ATTEMPT(tracechild) {
	pid_t child = must("fork", fork());
	if (child == 0) {
		for (;;)
			pause();
	}
	int r = ptrace(PTRACE_SEIZE, child, NULL, NULL) < 0 ? -1 : 0, e = errno;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	errno = e;
	return r;
}

ATTEMPT(kcmp) { return syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 0, 0) < 0 ? -1 : 0; }

ATTEMPT(prlimit) {
	struct rlimit l;
	return prlimit((pid_t)number(arg[0]), RLIMIT_NOFILE, NULL, &l);
}

ATTEMPT(dumpable) { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }

// The descriptors from 3 on, or "none".
ATTEMPT(descriptors) {
	int any = 0;
	for (int fd = 3; fd < 256; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		printf(any ? " %d" : "%d", fd);
		any = 1;
	}
	puts(any ? "" : "none");
	return 1;
}

// A process that lets go of its parent, session and terminal, and stays: its second argument is its mark.
ATTEMPT(daemon) {
	if (must("fork", fork()) > 0)
		return 0;
	setsid();
	if (must("fork", fork()) > 0)
		_exit(0);
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	execl("/proc/self/exe", "attempts", "bystander", arg[0], NULL);
	_exit(1);
}

ATTEMPT(ids) {
	printf("%d %d\n", geteuid(), getegid());
	return 1;
}

// A program without a name in any file system.
ATTEMPT(memfdexec) {
	int self = must("open", open("/proc/self/exe", O_RDONLY));
	int fd = must("memfd_create", memfd_create("x", 0));
	char buf[64 << 10];
	for (ssize_t n; (n = must("read", read(self, buf, sizeof buf))) > 0;)
		must("write", write(fd, buf, (size_t)n));
	char *argv[] = {"attempts", "ids", NULL}, *env[] = {NULL};
	return fexecve(fd, argv, env);
}
