package seccomp

import (
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

// attempt is a call that the filter must answer, and the kernel itself would answer otherwise. Arguments are chosen so
// that the kernel does no harm to who runs the control as root: bad addresses, numbers and descriptors.
type attempt struct {
	call string
	args [6]uintptr
	want unix.Errno
	// privileged says that the kernel gives EPERM itself to who has no capability, so that only root has a control.
	privileged bool
}

const (
	badAddress    = 1
	badDescriptor = ^uintptr(0)
	upper         = uintptr(1) << 32
)

func attempts() []attempt {
	const eperm, enosys = unix.EPERM, unix.ENOSYS
	return []attempt{
		{"mount", [6]uintptr{badAddress, badAddress, badAddress}, eperm, false},
		{"umount2", [6]uintptr{badAddress}, eperm, true},
		{"open_tree", [6]uintptr{badDescriptor, badAddress, 1}, eperm, true},
		{"move_mount", [6]uintptr{badDescriptor, badAddress, badDescriptor, badAddress}, eperm, true},
		{"fsopen", [6]uintptr{badAddress}, eperm, true},
		{"fsconfig", [6]uintptr{badDescriptor}, eperm, false},
		{"fsmount", [6]uintptr{badDescriptor}, eperm, true},
		{"fspick", [6]uintptr{badDescriptor, badAddress}, eperm, true},
		{"mount_setattr", [6]uintptr{badDescriptor, badAddress, 0, badAddress, 32}, eperm, true},
		{"pivot_root", [6]uintptr{badAddress, badAddress}, eperm, true},
		{"chroot", [6]uintptr{badAddress}, eperm, false},
		{"setns", [6]uintptr{badDescriptor}, eperm, false},
		{"unshare", [6]uintptr{0}, eperm, false},
		{"unshare", [6]uintptr{unix.CLONE_NEWUSER}, eperm, false}, // outside: EINVAL, as this process has threads
		{"clone3", [6]uintptr{badAddress, 88}, enosys, false},

		{"ptrace", [6]uintptr{unix.PTRACE_CONT, badDescriptor}, eperm, false},
		{"process_vm_readv", [6]uintptr{badDescriptor, badAddress, 1, badAddress, 1}, eperm, false},
		{"process_vm_writev", [6]uintptr{badDescriptor, badAddress, 1, badAddress, 1}, eperm, false},
		{"process_madvise", [6]uintptr{badDescriptor, 0, 0}, eperm, false},
		{"pidfd_getfd", [6]uintptr{badDescriptor, 0}, eperm, false},
		{"kcmp", [6]uintptr{badDescriptor, badDescriptor}, eperm, false},

		{"bpf", [6]uintptr{0, badAddress, 128}, eperm, true},
		{"perf_event_open", [6]uintptr{badAddress}, eperm, false},
		{"userfaultfd", [6]uintptr{0xffff}, eperm, true},
		{"io_uring_setup", [6]uintptr{1, badAddress}, enosys, false},
		{"io_uring_enter", [6]uintptr{badDescriptor}, enosys, false},
		{"io_uring_register", [6]uintptr{badDescriptor}, enosys, false},
		{"add_key", [6]uintptr{badAddress, badAddress}, eperm, false},
		{"request_key", [6]uintptr{badAddress, badAddress}, eperm, false},
		{"keyctl", [6]uintptr{0xffff}, eperm, false},

		{"init_module", [6]uintptr{0, 0, badAddress}, eperm, true},
		{"finit_module", [6]uintptr{badDescriptor, badAddress}, eperm, true},
		{"delete_module", [6]uintptr{badAddress}, eperm, true},
		{"open_by_handle_at", [6]uintptr{badDescriptor, badAddress}, eperm, true},
		{"name_to_handle_at", [6]uintptr{badDescriptor, badAddress, badAddress, badAddress}, eperm, false},
		{"fanotify_init", [6]uintptr{0xffffffff}, eperm, true},
		{"fanotify_mark", [6]uintptr{badDescriptor, 0, 0, 0, 0}, eperm, false},
		{"quotactl", [6]uintptr{0xffffffff, badAddress}, eperm, false},
		{"acct", [6]uintptr{badAddress}, eperm, true},
		{"swapon", [6]uintptr{badAddress}, eperm, true},
		{"swapoff", [6]uintptr{badAddress}, eperm, true},
		{"reboot", [6]uintptr{0, 0, 0}, eperm, true}, // without the magic numbers: EINVAL
		{"settimeofday", [6]uintptr{badAddress}, eperm, true},
		{"clock_settime", [6]uintptr{0xffff, badAddress}, eperm, false},
		{"clock_adjtime", [6]uintptr{0xffff, badAddress}, eperm, false},
		{"adjtimex", [6]uintptr{badAddress}, eperm, false},
		{"syslog", [6]uintptr{0xffff}, eperm, true},
		{"sethostname", [6]uintptr{badAddress, 1}, eperm, true},
		{"vhangup", [6]uintptr{}, eperm, true},
		{"set_mempolicy", [6]uintptr{0xffff}, eperm, false},
		{"get_mempolicy", [6]uintptr{badAddress, 0, 0, 0, 0xffff}, eperm, false},

		{"socket", [6]uintptr{unix.AF_UNIX, unix.SOCK_STREAM, 0}, eperm, false},
		{"socket", [6]uintptr{unix.AF_UNIX | upper, unix.SOCK_STREAM, 0}, eperm, false},
		{"socket", [6]uintptr{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, 0}, eperm, false},
		{"socket", [6]uintptr{unix.AF_PACKET, unix.SOCK_RAW, 0x300}, eperm, true},
		{"socket", [6]uintptr{unix.AF_PACKET | upper, unix.SOCK_RAW, 0x300}, eperm, true},
		{"socket", [6]uintptr{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, eperm, true},
		{"socket", [6]uintptr{unix.AF_INET, unix.SOCK_RAW | upper, unix.IPPROTO_ICMP}, eperm, true},
		{"socket", [6]uintptr{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, eperm, false},
		{"socket", [6]uintptr{unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_MPTCP | upper}, eperm, false},
		{"socket", [6]uintptr{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP}, eperm, false},
		{"socket", [6]uintptr{unix.AF_INET, unix.SOCK_STREAM, 256}, eperm, false}, // IPPROTO_SMC
		{"socket", [6]uintptr{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT}, eperm, false},
		{"socket", [6]uintptr{unix.AF_NETLINK | upper, unix.SOCK_RAW, unix.NETLINK_GENERIC}, eperm, false},
		{"socket", [6]uintptr{unix.AF_ALG, unix.SOCK_SEQPACKET, 0}, eperm, false},
		{"socket", [6]uintptr{unix.AF_VSOCK, unix.SOCK_STREAM, 0}, eperm, false},
		{"socket", [6]uintptr{unix.AF_KEY, unix.SOCK_RAW, 2}, eperm, true},
		{"socket", [6]uintptr{unix.AF_BLUETOOTH, unix.SOCK_RAW, 1}, eperm, true},
		{"socket", [6]uintptr{unix.AF_XDP, unix.SOCK_RAW, 0}, eperm, true},
		{"socketpair", [6]uintptr{unix.AF_UNIX, unix.SOCK_DGRAM, 0, badAddress}, eperm, false},
		{"socketpair", [6]uintptr{unix.AF_UNIX | upper, unix.SOCK_DGRAM | upper, 0, badAddress}, eperm, false},
		{"socketpair", [6]uintptr{unix.AF_UNIX, unix.SOCK_RAW, 0, badAddress}, eperm, false},
		{"sendto", [6]uintptr{badDescriptor, badAddress, 1, unix.MSG_FASTOPEN}, eperm, false},
		{"sendto", [6]uintptr{badDescriptor, badAddress, 1, unix.MSG_FASTOPEN | upper}, eperm, false},
		{"sendmsg", [6]uintptr{badDescriptor, badAddress, unix.MSG_FASTOPEN}, eperm, false},
		{"sendmmsg", [6]uintptr{badDescriptor, badAddress, 1, unix.MSG_FASTOPEN}, eperm, false},

		{"ioctl", [6]uintptr{badDescriptor, 0x5412, badAddress}, eperm, false},
		{"ioctl", [6]uintptr{badDescriptor, 0x100005412, badAddress}, eperm, false},
		{"ioctl", [6]uintptr{badDescriptor, 0x541c, badAddress}, eperm, false},
		{"personality", [6]uintptr{0x40000}, eperm, false},
		{"personality", [6]uintptr{0x40000 | upper}, eperm, false},

		{"statmount", [6]uintptr{badAddress}, enosys, false},
		{"listmount", [6]uintptr{badAddress}, enosys, false},
		{"open_tree_attr", [6]uintptr{badDescriptor, badAddress}, enosys, false},
	}
}

// issue makes the call and undoes what it did: a descriptor that it gave is closed.
func (a attempt) issue() unix.Errno {
	nr, _ := syscalls.Number(goarch, a.call)
	if a.call == "socketpair" && a.args[3] == badAddress {
		var pair [2]int32
		a.args[3] = uintptr(unsafe.Pointer(&pair))
		_, _, errno := syscall.RawSyscall6(uintptr(nr), a.args[0], a.args[1], a.args[2], a.args[3], 0, 0)
		if errno == 0 {
			unix.Close(int(pair[0]))
			unix.Close(int(pair[1]))
		}
		return errno
	}
	r, _, errno := syscall.RawSyscall6(uintptr(nr), a.args[0], a.args[1], a.args[2], a.args[3], a.args[4], a.args[5])
	if errno == 0 && a.call == "socket" {
		unix.Close(int(r))
	}
	return errno
}

func (a attempt) exists() bool {
	_, status := syscalls.Number(goarch, a.call)
	return status == syscalls.Present
}

func TestRefusedCalls(t *testing.T) {
	requireFilters(t)
	switch role() {
	case "":
		mustPass(t, "confined")
		mustPass(t, "control")
	case "confined":
		confine(t, Options{})
		for _, a := range attempts() {
			if !a.exists() {
				continue
			}
			if errno := a.issue(); errno != a.want {
				t.Errorf("%s%#x: %v, want %v", a.call, a.args, errno, a.want)
			}
		}
	case "control":
		controlled := 0
		for _, a := range attempts() {
			if !a.exists() || a.privileged && unix.Geteuid() != 0 {
				continue
			}
			errno := a.issue()
			if errno == unix.ENOSYS {
				continue // a call that this kernel was built without, or is too old for
			}
			controlled++
			if errno == a.want {
				t.Errorf("%s%#x: %v without a filter too, so its denial shows nothing", a.call, a.args, errno)
			}
		}
		if controlled < 40 {
			t.Errorf("only %d attempts have a control", controlled)
		}
	}
}
