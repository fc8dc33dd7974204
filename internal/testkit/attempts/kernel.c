// Calls into parts of the kernel that no ordinary program needs. Arguments are such that a kernel which looks at them
// changes nothing.
#include "attempts.h"
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <sys/acct.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/quota.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>

static int fd_result(long r) { return r < 0 ? -1 : 0; }

ATTEMPT(iouring) {
	struct io_uring_params p = {0};
	return fd_result(syscall(SYS_io_uring_setup, 1, &p));
}
ATTEMPT(iouringenter) { return fd_result(syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0)); }
ATTEMPT(iouringregister) { return fd_result(syscall(SYS_io_uring_register, -1, 0, NULL, 0)); }

#ifdef __x86_64__
// getpid of the 32-bit table, reached from a 64-bit program.
ATTEMPT(int80) {
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory", "cc", "r8", "r9", "r10", "r11");
	return r > 0 ? 0 : -1;
}

// socketcall(SYS_SOCKET): makes sockets past every rule on socket. A pointer above 4 GiB gives EFAULT where it is reached.
ATTEMPT(socketcall) {
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(102L), "b"(1L), "c"(0L) : "memory", "cc", "r8", "r9", "r10", "r11");
	errno = (int)-r;
	return r < 0 ? -1 : 0;
}

ATTEMPT(x32) { return fd_result(syscall(0x40000000 | SYS_getpid)); }
#endif

ATTEMPT(personality) { return fd_result(personality(ADDR_NO_RANDOMIZE)); }

ATTEMPT(bpf) {
	union bpf_attr a = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
	return fd_result(syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof a));
}
ATTEMPT(perf) { return fd_result(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)); }
ATTEMPT(userfaultfd) { return fd_result(syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */)); }
ATTEMPT(kexec) { return (int)syscall(SYS_kexec_load, 0, 0, NULL, ~0UL); }
ATTEMPT(kexecfile) { return (int)syscall(SYS_kexec_file_load, -1, -1, 0, NULL, ~0UL); }
ATTEMPT(initmodule) { return (int)syscall(SYS_init_module, NULL, 0, ""); }
ATTEMPT(finitmodule) { return (int)syscall(SYS_finit_module, -1, "", 0); }
ATTEMPT(deletemodule) { return (int)syscall(SYS_delete_module, "none_of_this_name", O_NONBLOCK); }

ATTEMPT(addkey) { return fd_result(syscall(SYS_add_key, "user", "attempt", "x", 1, -2 /* process keyring */)); }
ATTEMPT(requestkey) { return fd_result(syscall(SYS_request_key, "user", "none_of_this_name", NULL, 0)); }
ATTEMPT(keyctl) { return fd_result(syscall(SYS_keyctl, 0 /* GET_KEYRING_ID */, -2, 1)); }

ATTEMPT(quotactl) { return (int)syscall(SYS_quotactl, QCMD(Q_SYNC, USRQUOTA), NULL, 0, NULL); }
ATTEMPT(acct) { return acct("/nonexistent/accounting"); }
ATTEMPT(swapon) { return swapon("/nonexistent/swap", 0); }
ATTEMPT(syslog) { return fd_result(klogctl(10 /* size of the buffer */, NULL, 0)); }
ATTEMPT(reboot) { return (int)syscall(SYS_reboot, 0, 0, 0, NULL); }
ATTEMPT(fanotify) { return fd_result(syscall(SYS_fanotify_init, FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY)); }

ATTEMPT(clocksettime) {
	struct timespec t = {0};
	return clock_settime(CLOCK_MONOTONIC, &t); // EINVAL: nobody can set this clock
}
ATTEMPT(settimeofday) {
	struct timeval t = {0, -1};
	return (int)syscall(SYS_settimeofday, &t, NULL);
}
ATTEMPT(adjtimex) {
	struct timex t = {.modes = 0};
	return fd_result(adjtimex(&t));
}
ATTEMPT(sethostname) {
	if (unshare(CLONE_NEWUSER | CLONE_NEWUTS))
		errno = 0;
	return sethostname("attempt", 7);
}
ATTEMPT(mempolicy) { return (int)syscall(SYS_set_mempolicy, 0, NULL, 0); }

// An ioctl on standard input with the command as given, in all 64 bits. The character is a space.
ATTEMPT(terminal) {
	char c = ' ';
	return (int)syscall(SYS_ioctl, 0, number(arg[0]), &c);
}

// IPC objects: the first of each pair makes one and prints its name, the second looks for it.
ATTEMPT(shmmake) { return must("shmget", shmget((key_t)number(arg[0]), 4096, IPC_CREAT | IPC_EXCL | 0666)) < 0; }
ATTEMPT(shm) { return fd_result(shmget((key_t)number(arg[0]), 0, 0)); }
ATTEMPT(shmremove) { return shmctl(must("shmget", shmget((key_t)number(arg[0]), 0, 0)), IPC_RMID, NULL); }
ATTEMPT(semmake) { return must("semget", semget((key_t)number(arg[0]), 1, IPC_CREAT | IPC_EXCL | 0666)) < 0; }
ATTEMPT(sem) { return fd_result(semget((key_t)number(arg[0]), 0, 0)); }
ATTEMPT(semremove) { return semctl(must("semget", semget((key_t)number(arg[0]), 0, 0)), 0, IPC_RMID); }
ATTEMPT(msgmake) { return must("msgget", msgget((key_t)number(arg[0]), IPC_CREAT | IPC_EXCL | 0666)) < 0; }
ATTEMPT(msg) { return fd_result(msgget((key_t)number(arg[0]), 0)); }
ATTEMPT(msgremove) { return msgctl(must("msgget", msgget((key_t)number(arg[0]), 0)), IPC_RMID, NULL); }
ATTEMPT(mqmake) { return fd_result(mq_open(arg[0], O_CREAT | O_EXCL | O_RDWR, 0666, NULL)); }
ATTEMPT(mq) { return fd_result(mq_open(arg[0], O_RDONLY)); }
ATTEMPT(mqremove) { return mq_unlink(arg[0]); }
