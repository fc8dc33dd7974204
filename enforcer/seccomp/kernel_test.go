package seccomp

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const goarch = runtime.GOARCH

// cloned makes a child by clone with flags; the child ends at once. It is made by a raw call, as fork is, and does
// nothing but end.
func cloned(flags uintptr) unix.Errno {
	args := [6]uintptr{flags | uintptr(unix.SIGCHLD)}
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, args[0], 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(int(pid), &status, 0, nil); err != unix.EINTR {
			return 0
		}
	}
}

func TestCloneFlags(t *testing.T) {
	requireFilters(t)
	namespaces := []uintptr{unix.CLONE_NEWNS, unix.CLONE_NEWCGROUP, unix.CLONE_NEWUTS, unix.CLONE_NEWIPC,
		unix.CLONE_NEWUSER, unix.CLONE_NEWPID, unix.CLONE_NEWNET}
	switch role() {
	case "":
		for _, as := range []string{"confined", "nested", "control"} {
			mustPass(t, as)
		}
	case "confined":
		confine(t, Options{})
		for _, flag := range namespaces {
			for _, flags := range []uintptr{flag, flag | unix.CLONE_NEWUSER, flag | upper} {
				if errno := cloned(flags); errno != unix.EPERM {
					t.Errorf("clone(%#x): %v", flags, errno)
				}
			}
		}
		for _, flags := range []uintptr{upper, upper << 1, 1 << 63} {
			if errno := cloned(flags); errno != unix.EPERM {
				t.Errorf("clone(%#x): %v", flags, errno)
			}
		}
		if errno := cloned(0); errno != 0 {
			t.Errorf("fork: %v", errno)
		}
	case "nested":
		confine(t, Options{AllowNestedNamespaces: true})
		if errno := cloned(upper); errno != unix.EPERM {
			t.Errorf("clone(%#x): %v", upper, errno)
		}
		outside := cloned(unix.CLONE_NEWUSER) // EPERM here is the kernel's, where user namespaces are off
		if outside != 0 && unix.Geteuid() == 0 {
			t.Errorf("clone(CLONE_NEWUSER): %v", outside)
		}
	case "control":
		if errno := cloned(upper); errno != 0 { // the kernel drops the upper half
			t.Errorf("clone(%#x): %v", upper, errno)
		}
		for _, flag := range namespaces {
			if errno := cloned(flag); errno != 0 && unix.Geteuid() == 0 {
				t.Errorf("clone(%#x): %v", flag, errno)
			}
		}
	}
}

func TestX32CallKills(t *testing.T) {
	if goarch != "amd64" {
		t.Skip("x32 is amd64's: ", errors.ErrUnsupported)
	}
	requireFilters(t)
	getpid := func() unix.Errno {
		_, _, errno := syscall.RawSyscall(0x40000000|unix.SYS_GETPID, 0, 0, 0)
		return errno
	}
	switch role() {
	case "":
		mustDie(t, "confined")
		mustPass(t, "control")
	case "confined":
		confine(t, Options{AllowUnixSockets: true, AllowPtrace: true, AllowNestedNamespaces: true})
		t.Errorf("went on after an x32 call: %v", getpid())
	case "control":
		if errno := getpid(); errno != 0 && errno != unix.ENOSYS {
			t.Errorf("getpid by x32: %v", errno)
		}
	}
}

// What a program needs must work for real, beside what is refused.
func TestAllowedCalls(t *testing.T) {
	requireFilters(t)
	if role() == "" {
		mustPass(t, "confined")
		return
	}
	confine(t, Options{})
	for _, c := range []struct{ domain, kind, protocol int }{
		{unix.AF_INET, unix.SOCK_STREAM, 0},
		{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK, unix.IPPROTO_TCP},
		{unix.AF_INET6, unix.SOCK_STREAM, 0},
		{unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDP},
		{unix.AF_NETLINK, unix.SOCK_RAW | unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE},
	} {
		fd, err := unix.Socket(c.domain, c.kind, c.protocol)
		if err != nil && !errors.Is(err, unix.EAFNOSUPPORT) { // a kernel without IPv6
			t.Errorf("socket(%d, %d, %d): %v", c.domain, c.kind, c.protocol, err)
			continue
		}
		unix.Close(fd)
	}
	for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_SEQPACKET | unix.SOCK_CLOEXEC} {
		pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
		if err != nil {
			t.Errorf("socketpair(%d): %v", kind, err)
			continue
		}
		if _, err := unix.SendmsgN(pair[0], []byte("x"), unix.UnixRights(pair[1]), nil, 0); err != nil {
			t.Errorf("send a descriptor: %v", err)
		}
	}
	if fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC); err != nil {
		t.Errorf("memfd_create: %v", err)
	} else {
		unix.Close(fd)
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_PERSONALITY, 0xffffffff, 0, 0); errno != 0 {
		t.Errorf("personality(0xffffffff): %v", errno)
	}
	var action, other unix.Utsname
	if err := unix.Uname(&action); err != nil || action == other {
		t.Errorf("uname: %v", err)
	}
}

// Under a filter of the child's own that hands a refused call to a listener, the refusal stays: the kernel prefers an
// error to a notification. Were it otherwise the call would hang here, as nobody answers.
func TestListenerOfTheChildDoesNotOverrule(t *testing.T) {
	requireFilters(t)
	listen := func() unix.Errno {
		code := []unix.SockFilter{
			{Code: loadWord, K: 0},
			{Code: jumpEqual, K: unix.SYS_PTRACE, Jt: 0, Jf: 1},
			{Code: returnValue, K: unix.SECCOMP_RET_USER_NOTIF},
			{Code: returnValue, K: unix.SECCOMP_RET_ALLOW},
		}
		prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
		_, _, errno := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
			uintptr(unsafe.Pointer(&prog)))
		return errno
	}
	if role() == "" {
		mustPass(t, "confined")
		return
	}
	confine(t, Options{})
	if errno := listen(); errno != 0 {
		t.Fatalf("a filter of the child's own: %v", errno)
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0); errno != unix.EPERM {
		t.Errorf("ptrace: %v", errno)
	}
}

// A whole Go program, its threads, collector and children, starts and runs under the filter.
func TestGoRuntimeUnderTheFilter(t *testing.T) {
	requireFilters(t)
	switch role() {
	case "":
		mustPass(t, "launcher")
	case "launcher":
		confine(t, Options{})
		become(t, "inside", "/proc/self/exe", os.Args...)
	case "inside":
		status, err := os.ReadFile("/proc/self/status")
		if err != nil || !strings.Contains(string(status), "\nSeccomp:\t2\n") {
			t.Fatalf("not under a filter: %v\n%s", err, status)
		}
		var group sync.WaitGroup
		for range 32 {
			group.Go(func() {
				runtime.LockOSThread() // each on a thread of its own, which clone makes
				defer runtime.UnlockOSThread()
				garbage := make([][]byte, 0, 100)
				for range 100 {
					garbage = append(garbage, make([]byte, 10000))
				}
				runtime.KeepAlive(garbage)
			})
		}
		group.Wait()
		runtime.GC()
		if out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "echo $((40+2)) | cat").CombinedOutput(); err != nil || string(out) != "42\n" {
			t.Errorf("a shell with a pipe: %v %q", err, out)
		}
		if _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != unix.EPERM {
			t.Errorf("socket(AF_UNIX) after exec: %v", err)
		}
	}
}
