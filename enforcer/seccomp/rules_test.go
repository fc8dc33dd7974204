package seccomp

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

func TestEveryRuleHasACase(t *testing.T) {
	cased := map[string]bool{ForeignArchitecture: true, X32Call: true, UnknownCall: true} // TestForeignCalls, TestUnknownCalls
	for _, c := range append(nameCases(), argumentCases()...) {
		cased[c.row] = true
	}
	rows := map[string]bool{}
	for _, rule := range Rules() {
		rows[rule.Call()] = true
		if !cased[rule.Call()] {
			t.Errorf("no case shows the rule %s", rule)
		}
		if rule.Reason == "" {
			t.Errorf("rule %s gives no reason", rule.Call())
		}
	}
	for row := range cased {
		if !rows[row] {
			t.Errorf("a case names the row %q, which is not in the table", row)
		}
	}
}

func TestRules(t *testing.T) {
	for _, arch := range bothArches {
		machines := map[Options]*machine{}
		for _, o := range Combinations() {
			machines[o] = embeddedMachine(t, arch, o)
		}
		ran := 0
		for _, c := range append(nameCases(), argumentCases()...) {
			got, absent := machines[c.options].call(t, c.call, c.args...)
			if absent {
				continue
			}
			ran++
			if got != c.want {
				t.Errorf("%s, %s: %s%#x: %s, want %s (row %s)", arch, c.options, c.call, c.args, returnName(got), returnName(c.want), c.row)
			}
		}
		if ran < 150 {
			t.Errorf("%s: only %d cases ran", arch, ran)
		}
	}
}

// A dirty upper half of any argument must never turn a refusal into an answer that is less strict.
func TestDirtyUpperHalvesNeverLoosen(t *testing.T) {
	for _, arch := range bothArches {
		m := embeddedMachine(t, arch, Options{})
		for _, c := range argumentCases() {
			args := make([]uint64, 6)
			copy(args, c.args)
			clean, absent := m.call(t, c.call, args...)
			if absent {
				continue
			}
			for i := range 6 {
				for _, high := range []uint64{1 << 32, 1 << 63, 0xffffffff << 32} {
					d := slices.Clone(args)
					d[i] |= high
					got, _ := m.call(t, c.call, d...)
					if strictness[got&0xffff0000] > strictness[clean&0xffff0000] {
						t.Errorf("%s: %s%#x gives %s, %#x gives %s", arch, c.call, args, returnName(clean), d, returnName(got))
					}
				}
			}
		}
	}
}

func TestForeignCalls(t *testing.T) {
	foreign := map[string][]uint32{
		"amd64": {unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_AARCH64, unix.AUDIT_ARCH_ARM, 0, 0xffffffff},
		"arm64": {unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_X86_64, unix.AUDIT_ARCH_I386, 0, 0xffffffff},
	}
	for _, arch := range bothArches {
		for _, o := range Combinations() {
			m := embeddedMachine(t, arch, o)
			for _, audit := range foreign[arch] {
				for _, nr := range []uint32{0, 1, 3, 20, 39, 59, 102, 172, 1000, 0x40000000, 0xffffffff} {
					if got := m.run(t, simulated{audit: audit, nr: nr}); got != answerKill {
						t.Errorf("%s, %s: architecture %#x, call %d: %s", arch, o, audit, nr, returnName(got))
					}
				}
			}
		}
	}
	m := embeddedMachine(t, "amd64", Options{AllowPtrace: true})
	for nr := range uint32(1024) {
		if got := m.run(t, simulated{audit: m.audit, nr: 0x40000000 | nr}); got != answerKill {
			t.Errorf("x32 call %d: %s", nr, returnName(got))
		}
	}
}

// Numbers without a call behind them, newer calls, and the -1 of a cancelled call fail as on a kernel without them.
func TestUnknownCalls(t *testing.T) {
	unknown := map[string][]uint32{
		"amd64": {335, 336, 400, 423, 457, 458, 462, 463, 470, 471, 472, 500, 1000, 0x3fffffff, 0xffffffff},
		"arm64": {244, 259, 295, 400, 423, 457, 458, 462, 463, 470, 471, 472, 500, 1000, 0x40000027, 0xffffffff},
	}
	for _, arch := range bothArches {
		for _, o := range Combinations() {
			m := embeddedMachine(t, arch, o)
			for _, nr := range unknown[arch] {
				if got := m.run(t, simulated{audit: m.audit, nr: nr}); got != answerENOSYS {
					t.Errorf("%s, %s: call %d: %s", arch, o, nr, returnName(got))
				}
			}
		}
	}
}

// What ordinary programs cannot do without.
const neededCalls = `
	read write close fstat lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64
	readv writev openat openat2 newfstatat statx getdents64 readlinkat faccessat faccessat2 unlinkat renameat2 mkdirat
	symlinkat linkat fchmodat fchmodat2 fchownat utimensat ftruncate fallocate copy_file_range sendfile splice tee vmsplice
	fsync fdatasync flock fcntl dup dup3 pipe2 epoll_create1 epoll_ctl epoll_pwait eventfd2 timerfd_create signalfd4
	inotify_init1 inotify_add_watch memfd_create mremap madvise mincore mlock futex futex_waitv set_robust_list rseq
	execve execveat exit exit_group wait4 waitid kill tgkill getpid gettid getppid setsid setpgid getpgid prctl seccomp
	getrandom uname sysinfo getcwd chdir fchdir umask getrlimit prlimit64 getrusage sched_yield sched_getaffinity
	sched_setaffinity clock_gettime clock_getres nanosleep clock_nanosleep setitimer connect bind listen accept4 getsockname
	getpeername setsockopt getsockopt shutdown sendto recvfrom sendmsg recvmsg shmget shmat semget mq_open
	getuid geteuid getgid getegid setresuid setresgid getgroups setgroups capget capset getxattr setxattr listxattr
	landlock_create_ruleset landlock_add_rule landlock_restrict_self pidfd_open pidfd_send_signal close_range membarrier
	io_setup io_submit restart_syscall mknodat`

func TestNeededCallsAreAllowed(t *testing.T) {
	for _, arch := range bothArches {
		for _, o := range Combinations() {
			m := embeddedMachine(t, arch, o)
			for _, name := range strings.Fields(neededCalls) {
				if got, absent := m.call(t, name); got != answerAllow && !absent {
					t.Errorf("%s, %s: %s: %s", arch, o, name, returnName(got))
				}
			}
		}
	}
	m := embeddedMachine(t, "amd64", Options{})
	for _, name := range strings.Fields("open stat lstat access pipe dup2 fork vfork poll select unlink rename arch_prctl time") {
		if got, _ := m.call(t, name); got != answerAllow {
			t.Errorf("%s: %s", name, returnName(got))
		}
	}
}

// Numbers written out by hand, so that a wrong table is seen whatever made it.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		name         string
		amd64, arm64 int
	}{
		{"read", 0, 63}, {"openat", 257, 56}, {"socket", 41, 198}, {"clone", 56, 220}, {"clone3", 435, 435},
		{"mount", 165, 40}, {"ptrace", 101, 117}, {"io_uring_setup", 425, 425}, {"ioctl", 16, 29},
		{"fork", 57, syscalls.None}, {"open", 2, syscalls.None}, {"statmount", 457, 457}, {"unshare", 272, 97},
		{"socketcall", syscalls.None, syscalls.None},
	} {
		for arch, want := range map[string]int{"amd64": c.amd64, "arm64": c.arm64} {
			nr, status := syscalls.Number(arch, c.name)
			wantStatus := syscalls.Present
			if want == syscalls.None {
				wantStatus = syscalls.Elsewhere
			}
			if nr != want || status != wantStatus {
				t.Errorf("%s on %s: %d, %v; want %d, %v", c.name, arch, nr, status, want, wantStatus)
			}
		}
	}
	if _, status := syscalls.Number("amd64", "sokcet"); status != syscalls.Unknown {
		t.Errorf("a misspelt name is %v", status)
	}
}
