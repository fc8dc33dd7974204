package seccomp

import (
	"fmt"
	"strings"
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

		{"setpriority(which = PRIO_PGRP)", "setpriority", []uint64{1, 0, 7}, answerEPERM, Options{}},
		{"setpriority(which = PRIO_PGRP)", "setpriority", []uint64{1 | dirty, 0, 7}, answerEPERM, Options{true, true, true}},
		{"setpriority(which = PRIO_PGRP)", "setpriority", []uint64{0, 0, 7}, answerAllow, Options{}},
		{"ioprio_set(which = IOPRIO_WHO_PGRP)", "ioprio_set", []uint64{2, 0, 0x6000}, answerEPERM, Options{}},
		{"ioprio_set(which = IOPRIO_WHO_PGRP)", "ioprio_set", []uint64{2 | dirty, 0, 0x6000}, answerEPERM, Options{}},
		{"ioprio_set(which = IOPRIO_WHO_PGRP)", "ioprio_set", []uint64{1, 0, 0x6000}, answerAllow, Options{}},
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
