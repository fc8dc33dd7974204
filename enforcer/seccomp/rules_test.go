package seccomp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

// Calls that are refused whatever their arguments, with their answers, stated by hand.
const (
	namesEPERM = `
		mount umount2 open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr pivot_root chroot setns unshare
		ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp
		bpf perf_event_open userfaultfd add_key request_key keyctl
		kexec_load kexec_file_load init_module finit_module delete_module create_module query_module get_kernel_syms
		open_by_handle_at name_to_handle_at fanotify_init fanotify_mark quotactl quotactl_fd acct swapon swapoff reboot
		settimeofday clock_settime clock_adjtime adjtimex syslog lookup_dcookie sethostname setdomainname iopl ioperm vhangup
		mbind get_mempolicy set_mempolicy set_mempolicy_home_node migrate_pages move_pages
		uselib ustat sysfs _sysctl nfsservctl getpmsg putpmsg afs_syscall tuxcall security vserver`
	namesENOSYS = `
		clone3 io_uring_setup io_uring_enter io_uring_register open_tree_attr statmount listmount listns
		lsm_get_self_attr lsm_set_self_attr lsm_list_modules`
)

// ruleCase is a call that shows a row of the table at work under the strictest options.
type ruleCase struct {
	row     string // Rule.Call()
	call    string
	args    []uint64
	want    uint32
	options Options
}

const dirty = 1 << 32 // a bit of the upper half, which the kernel drops from an int

// argumentCases show the rows with conditions, in both directions where there are two.
func argumentCases() []ruleCase {
	unixSockets := Options{AllowUnixSockets: true}
	nested := Options{AllowNestedNamespaces: true}
	cases := []ruleCase{
		{"socket(domain = AF_UNIX)", "socket", []uint64{1, 1, 0}, answerEPERM, Options{}},
		{"socket(domain = AF_UNIX)", "socket", []uint64{1 | dirty, 1, 0}, answerEPERM, Options{}},
		{"socket(domain = AF_UNIX)", "socket", []uint64{1, 2, 0}, answerEPERM, Options{}},
		{"socket(domain = AF_UNIX)", "socket", []uint64{1, 1 | 0x80000, 0}, answerEPERM, Options{}},
		{"socket(domain = AF_UNIX)", "socket", []uint64{1, 2, 0}, answerAllow, unixSockets},
		{"socket(domain = AF_UNIX)", "socket", []uint64{1 | dirty, 5, 1}, answerAllow, unixSockets},
		{"socket", "socket", []uint64{0, 1, 0}, answerEPERM, Options{}},
		{"socket", "socket", []uint64{3, 1, 0}, answerEPERM, Options{}},
		{"socket", "socket", []uint64{15, 3, 2}, answerEPERM, Options{}},               // AF_KEY
		{"socket", "socket", []uint64{17, 3, 0x300}, answerEPERM, Options{}},           // AF_PACKET
		{"socket", "socket", []uint64{17 | dirty, 3, 0x300}, answerEPERM, Options{}},   //
		{"socket", "socket", []uint64{31, 3, 1}, answerEPERM, Options{}},               // AF_BLUETOOTH
		{"socket", "socket", []uint64{38, 5, 0}, answerEPERM, Options{}},               // AF_ALG
		{"socket", "socket", []uint64{40, 1, 0}, answerEPERM, Options{}},               // AF_VSOCK
		{"socket", "socket", []uint64{43, 1, 0}, answerEPERM, Options{}},               // AF_SMC
		{"socket", "socket", []uint64{44, 3, 0}, answerEPERM, Options{}},               // AF_XDP
		{"socket", "socket", []uint64{0xffffffff, 1, 0}, answerEPERM, unixSockets},     //
		{"socket", "socket", []uint64{38, 5, 0}, answerEPERM, unixSockets},             //
		{"socket", "socket", []uint64{2, 3, 1}, answerEPERM, Options{}},                // raw ICMP
		{"socket", "socket", []uint64{2, 3 | dirty, 1}, answerEPERM, Options{}},        //
		{"socket", "socket", []uint64{2, 3 | 0x80800, 255}, answerEPERM, Options{}},    // with SOCK_CLOEXEC|SOCK_NONBLOCK
		{"socket", "socket", []uint64{10, 3, 58}, answerEPERM, Options{}},              // raw ICMPv6
		{"socket", "socket", []uint64{2, 2, 1}, answerEPERM, Options{}},                // ping socket
		{"socket", "socket", []uint64{2, 1, 262}, answerEPERM, Options{}},              // MPTCP
		{"socket", "socket", []uint64{10, 1, 262}, answerEPERM, Options{}},             //
		{"socket", "socket", []uint64{2, 1, 262 | dirty}, answerEPERM, Options{}},      //
		{"socket", "socket", []uint64{2, 1, 132}, answerEPERM, Options{}},              // SCTP
		{"socket", "socket", []uint64{2, 5, 132}, answerEPERM, Options{}},              //
		{"socket", "socket", []uint64{2, 1, 256}, answerEPERM, Options{}},              // SMC
		{"socket", "socket", []uint64{2, 6, 33}, answerEPERM, Options{}},               // DCCP
		{"socket", "socket", []uint64{2, 2, 136}, answerEPERM, Options{}},              // UDP-Lite
		{"socket", "socket", []uint64{16, 3, 15}, answerEPERM, Options{}},              // NETLINK_KOBJECT_UEVENT
		{"socket", "socket", []uint64{16, 3, 12}, answerEPERM, Options{}},              // NETLINK_NETFILTER
		{"socket", "socket", []uint64{16 | dirty, 3, 12 | dirty}, answerEPERM, nested}, //
		{"socket(domain = AF_NETLINK, protocol = NETLINK_ROUTE)", "socket", []uint64{16, 3, 0}, answerAllow, Options{}},
		{"socket(domain = AF_NETLINK, protocol = NETLINK_ROUTE)", "socket", []uint64{16, 2 | 0x80000, dirty}, answerAllow, Options{}},

		{"socketpair(domain = AF_UNIX, type & 0xf = SOCK_STREAM)", "socketpair", []uint64{1, 1, 0}, answerAllow, Options{}},
		{"socketpair(domain = AF_UNIX, type & 0xf = SOCK_STREAM)", "socketpair", []uint64{1, 1 | 0x80800, 0}, answerAllow, Options{}},
		{"socketpair(domain = AF_UNIX, type & 0xf = SOCK_SEQPACKET)", "socketpair", []uint64{1, 5, 0}, answerAllow, Options{}},
		{"socketpair(domain = AF_UNIX, type & 0xf = SOCK_DGRAM)", "socketpair", []uint64{1, 2, 0}, answerAllow, unixSockets},
		{"socketpair(type & 0xf = SOCK_DGRAM)", "socketpair", []uint64{1, 2, 0}, answerEPERM, Options{}},
		{"socketpair(type & 0xf = SOCK_DGRAM)", "socketpair", []uint64{1, 2 | dirty, 0}, answerEPERM, Options{}},
		{"socketpair(type & 0xf = SOCK_DGRAM)", "socketpair", []uint64{1 | dirty, 2 | 0x80000, 0}, answerEPERM, Options{}},
		{"socketpair", "socketpair", []uint64{1, 3, 0}, answerEPERM, Options{}}, // SOCK_RAW is a datagram pair
		{"socketpair", "socketpair", []uint64{1, 3, 0}, answerEPERM, unixSockets},
		{"socketpair", "socketpair", []uint64{30, 1, 0}, answerEPERM, Options{}}, // AF_TIPC
		{"socketpair", "socketpair", []uint64{30 | dirty, 5, 0}, answerEPERM, unixSockets},

		{"sendto(flags & 0x20000000 = MSG_FASTOPEN)", "sendto", []uint64{3, 0, 0, 0x20000000, 0, 16}, answerEPERM, Options{}},
		{"sendto(flags & 0x20000000 = MSG_FASTOPEN)", "sendto", []uint64{3, 0, 0, 0x20004040 | dirty, 0, 16}, answerEPERM, unixSockets},
		{"sendto(flags & 0x20000000 = MSG_FASTOPEN)", "sendto", []uint64{3, 0, 0, 0x4040, 0, 16}, answerAllow, Options{}},
		{"sendmsg(flags & 0x20000000 = MSG_FASTOPEN)", "sendmsg", []uint64{3, 0, 0x20000000}, answerEPERM, Options{}},
		{"sendmsg(flags & 0x20000000 = MSG_FASTOPEN)", "sendmsg", []uint64{3, 0, 0x20000000 | dirty}, answerEPERM, Options{}},
		{"sendmsg(flags & 0x20000000 = MSG_FASTOPEN)", "sendmsg", []uint64{3, 0, 0x40}, answerAllow, Options{}},
		{"sendmmsg(flags & 0x20000000 = MSG_FASTOPEN)", "sendmmsg", []uint64{3, 0, 1, 0x20000000}, answerEPERM, Options{}},
		{"sendmmsg(flags & 0x20000000 = MSG_FASTOPEN)", "sendmmsg", []uint64{3, 0, 1, 0x20000000 | dirty}, answerEPERM, Options{}},
		{"sendmmsg(flags & 0x20000000 = MSG_FASTOPEN)", "sendmmsg", []uint64{3, 0, 0x20000000, 0}, answerAllow, Options{}},

		{"ioctl(op = TIOCSTI)", "ioctl", []uint64{0, 0x5412}, answerEPERM, Options{}},
		{"ioctl(op = TIOCSTI)", "ioctl", []uint64{0, 0x100005412}, answerEPERM, Options{}},
		{"ioctl(op = TIOCSTI)", "ioctl", []uint64{0, 0x5413}, answerAllow, Options{}}, // TIOCGWINSZ
		{"ioctl(op = TIOCSTI)", "ioctl", []uint64{0x5412, 0x5401, 0x5412}, answerAllow, Options{}},
		{"ioctl(op = TIOCLINUX)", "ioctl", []uint64{0, 0x541c}, answerEPERM, Options{}},
		{"ioctl(op = TIOCLINUX)", "ioctl", []uint64{0, 0xffffffff0000541c}, answerEPERM, Options{true, true, true}},

		{"clone(flags > 32 bits)", "clone", []uint64{0x200000011}, answerEPERM, Options{}}, // CLONE_INTO_CGROUP
		{"clone(flags > 32 bits)", "clone", []uint64{0x100000011}, answerEPERM, nested},
		{"clone(flags > 32 bits)", "clone", []uint64{0x8000000010000011}, answerEPERM, nested},
		{"clone(flags > 32 bits)", "clone", []uint64{0x11}, answerAllow, Options{}},     // fork
		{"clone(flags > 32 bits)", "clone", []uint64{0x3d0f00}, answerAllow, Options{}}, // a thread of the C library
		{"clone(flags > 32 bits)", "clone", []uint64{0x50f00}, answerAllow, Options{}},  // a thread of Go
		{"clone(flags > 32 bits)", "clone", []uint64{0x4111}, answerAllow, Options{}},   // vfork
		{"clone(flags > 32 bits)", "clone", []uint64{0xffffffff &^ 0x7e020000}, answerAllow, Options{}},

		{"personality(persona = PER_LINUX)", "personality", []uint64{0}, answerAllow, Options{}},
		{"personality(persona = PER_LINUX32)", "personality", []uint64{8}, answerAllow, Options{}},
		{"personality(persona = UNAME26)", "personality", []uint64{0x20000}, answerAllow, Options{}},
		{"personality(persona = PER_LINUX32|UNAME26)", "personality", []uint64{0x20008}, answerAllow, Options{}},
		{"personality(persona = 0xffffffff)", "personality", []uint64{0xffffffff}, answerAllow, Options{}},
		{"personality", "personality", []uint64{0x40000}, answerEPERM, Options{}},  // ADDR_NO_RANDOMIZE
		{"personality", "personality", []uint64{0x400000}, answerEPERM, Options{}}, // READ_IMPLIES_EXEC
		{"personality", "personality", []uint64{0x40000 | dirty}, answerEPERM, Options{true, true, true}},
		{"personality", "personality", []uint64{dirty}, answerEPERM, Options{}},
		{"personality", "personality", []uint64{0xffffffffffffffff}, answerEPERM, Options{}},
	}
	for _, domain := range []struct {
		name  string
		value uint64
	}{{"AF_INET", 2}, {"AF_INET6", 10}} {
		prefix := "socket(domain = " + domain.name + ", type & 0xf = "
		for _, c := range []struct {
			row                   string
			kind, protocol, wrong uint64
		}{
			{"SOCK_STREAM, protocol = 0)", 1, 0, 17}, {"SOCK_STREAM, protocol = IPPROTO_TCP)", 1, 6, 2},
			{"SOCK_DGRAM, protocol = 0)", 2, 0, 6}, {"SOCK_DGRAM, protocol = IPPROTO_UDP)", 2, 17, 115},
		} {
			cases = append(cases,
				ruleCase{prefix + c.row, "socket", []uint64{domain.value, c.kind, c.protocol}, answerAllow, Options{}},
				ruleCase{prefix + c.row, "socket", []uint64{domain.value, c.kind | 0x80800, c.protocol}, answerAllow, Options{}},
				ruleCase{prefix + c.row, "socket", []uint64{domain.value | dirty, c.kind | dirty, c.protocol | dirty}, answerAllow, Options{}},
				ruleCase{prefix + c.row, "socket", []uint64{domain.value, c.kind, c.wrong}, answerEPERM, Options{}})
		}
	}
	for name, bit := range map[string]uint64{
		"CLONE_NEWNS": 0x20000, "CLONE_NEWCGROUP": 0x2000000, "CLONE_NEWUTS": 0x4000000, "CLONE_NEWIPC": 0x8000000,
		"CLONE_NEWUSER": 0x10000000, "CLONE_NEWPID": 0x20000000, "CLONE_NEWNET": 0x40000000,
	} {
		row := fmt.Sprintf("clone(flags & %#x = %s)", bit, name)
		cases = append(cases,
			ruleCase{row, "clone", []uint64{bit | 0x11}, answerEPERM, Options{}},
			ruleCase{row, "clone", []uint64{bit | 0x11 | dirty}, answerEPERM, nested},
			ruleCase{row, "clone", []uint64{bit | 0x10000000 | 0x11}, answerEPERM, Options{true, true, false}},
			ruleCase{row, "clone", []uint64{bit | 0x11}, answerAllow, nested})
	}
	return cases
}

// nameCases make a case for each name above, and lift those that an option lifts.
func nameCases() []ruleCase {
	var cases []ruleCase
	for _, name := range strings.Fields(namesEPERM) {
		cases = append(cases, ruleCase{name, name, nil, answerEPERM, Options{}})
	}
	for _, name := range strings.Fields(namesENOSYS) {
		cases = append(cases, ruleCase{name, name, nil, answerENOSYS, Options{}},
			ruleCase{name, name, nil, answerENOSYS, Options{true, true, true}})
	}
	for _, name := range []string{"ptrace", "process_vm_readv", "process_vm_writev"} {
		cases = append(cases, ruleCase{name, name, nil, answerAllow, Options{AllowPtrace: true}},
			ruleCase{name, name, nil, answerEPERM, Options{AllowUnixSockets: true, AllowNestedNamespaces: true}})
	}
	for _, name := range []string{"unshare", "chroot"} {
		cases = append(cases, ruleCase{name, name, nil, answerAllow, Options{AllowNestedNamespaces: true}},
			ruleCase{name, name, nil, answerEPERM, Options{AllowUnixSockets: true, AllowPtrace: true}})
	}
	for _, name := range []string{"mount", "umount2", "pivot_root", "setns", "kcmp", "pidfd_getfd", "process_madvise"} {
		cases = append(cases, ruleCase{name, name, nil, answerEPERM, Options{true, true, true}})
	}
	return cases
}

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
