package seccomp

import (
	"errors"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controllingTerminal makes a pseudo-terminal the controlling one of this process, which leads a session.
func controllingTerminal(t *testing.T) int {
	t.Helper()
	// Open to the end of the process: closed before, it would hang up on the session that this process leads.
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := unix.Open("/dev/pts/"+strconv.Itoa(number), unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetInt(slave, unix.TIOCSCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return slave
}

func push(fd int, op uintptr) unix.Errno {
	line := []byte("x\n")
	for i := range line {
		if _, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, uintptr(fd), op, uintptr(unsafe.Pointer(&line[i]))); errno != 0 {
			return errno
		}
	}
	return 0
}

func waiting(t *testing.T, fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNothingIsTypedIntoTheTerminal(t *testing.T) {
	requireFilters(t)
	session := func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
	switch role() {
	case "":
		mustPass(t, "confined", session)
		mustPass(t, "control", session)
	case "confined":
		fd := controllingTerminal(t)
		confine(t, Options{})
		for _, op := range []uintptr{0x5412, 0x100005412, 0xffffffff00005412, 0x541c, 0x10000541c} {
			if errno := push(fd, op); errno != unix.EPERM {
				t.Errorf("ioctl(%#x): %v", op, errno)
			}
		}
		if n := waiting(t, fd); n != 0 {
			t.Errorf("%d bytes were typed", n)
		}
	case "control":
		fd := controllingTerminal(t)
		for _, op := range []uintptr{0x5412, 0x100005412} {
			errno := push(fd, op)
			if errno == unix.EIO { // dev.tty.legacy_tiocsti is 0, and no capability
				t.Logf("the kernel has no TIOCSTI for this user: %v", errors.ErrUnsupported)
				return
			}
			if errno != 0 {
				t.Errorf("ioctl(%#x): %v", op, errno)
			}
		}
		if n := waiting(t, fd); n != 4 {
			t.Errorf("%d bytes were typed, want 4", n)
		}
	}
}
