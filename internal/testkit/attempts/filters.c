// Filters of the attempt's own: on top of what is there, and around a program that is to be started without something.
#include "attempts.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static long load(struct sock_filter *code, unsigned short n, unsigned flags) {
	struct sock_fprog prog = {n, code};
	must("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

// Key rings have no use inside and work outside for every uid.
static long add_key(void) { return syscall(SYS_add_key, "user", "attempt", "x", 1, -2); }

// A filter that allows everything lifts no other one.
ATTEMPT(ownfilter) {
	struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	must("seccomp", load(all, 1, 0));
	return add_key() < 0 ? -1 : 0;
}

// A listener that tells the kernel to go on with a call which another filter refuses.
ATTEMPT(ownlistener) {
	struct sock_filter notify[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_add_key, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	int result[2], listener = must("seccomp", load(notify, 4, SECCOMP_FILTER_FLAG_NEW_LISTENER));
	must("pipe", pipe(result));
	if (must("fork", fork()) == 0) {
		int e = add_key() < 0 ? errno : 0;
		_exit(write(result[1], &e, sizeof e) != sizeof e);
	}
	struct pollfd fds[] = {{.fd = listener, .events = POLLIN}, {.fd = result[0], .events = POLLIN}};
	for (;;) {
		must("poll", poll(fds, 2, -1));
		if (fds[1].revents) {
			must("read", read(result[0], &errno, sizeof errno));
			return errno ? -1 : 0;
		}
		struct seccomp_notif n = {0};
		must("receive", ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n));
		struct seccomp_notif_resp r = {.id = n.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
		must("send", ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r));
	}
}

// refuse NR[&MASK]=ERRNO... -- PROGRAM ARGUMENT...: starts a program for which calls are refused, as an outer sandbox
// or an older kernel would. With MASK only when the first argument has one of its bits.
ATTEMPT(refuse) {
	struct sock_filter code[256];
	unsigned short n = 0;
	for (; *arg && strcmp(*arg, "--"); arg++) {
		char *end;
		unsigned long nr = strtoul(*arg, &end, 0), mask = *end == '&' ? strtoul(end + 1, &end, 0) : 0;
		if (*end != '=' || n > 240) {
			puts("refuse: want NR[&MASK]=ERRNO");
			exit(2);
		}
		unsigned err = SECCOMP_RET_ERRNO | (unsigned)number(end + 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, mask ? 3 : 1);
		if (mask) {
			code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
			code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (unsigned)mask, 0, 1);
		}
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, err);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	must("seccomp", load(code, n, 0));
	execvp(arg[1], arg + 1);
	return -1;
}
