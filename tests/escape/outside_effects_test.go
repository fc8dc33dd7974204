package escape

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"golang.org/x/sys/unix"
)

// The device files are the host's own. The attempt sets the mode that is there already, so that it changes nothing even
// where it works.
func TestDeviceFilesKeepTheirMode(t *testing.T) {
	testkit.NeedFull(t)
	w := testkit.NewWorld(t)
	settings := w.Settings(testkit.Base())
	for _, dev := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"} {
		st, err := os.Stat(dev)
		if err != nil {
			t.Fatal(err)
		}
		attempt := fmt.Sprintf("chmod %o %s", st.Mode().Perm(), dev)
		if r := inside(t, w, standard{}, settings, attempt); r.Code == 0 {
			t.Errorf("%s: %q works inside", dev, attempt)
		}
		// An ordinary user does not own the device, so that the attempt fails outside too.
		if r := w.Outside(attempt); (r.Code == 0) != (os.Geteuid() == 0) {
			t.Errorf("control: %q outside as uid %d: code %d", attempt, os.Geteuid(), r.Code)
		}
		if r := w.Shell(settings, "[ -r "+dev+" ] && : > "+dev); r.Code != 0 && dev != "/dev/tty" {
			t.Errorf("%s cannot be used: %q", dev, r.Stderr)
		}
	}
}

// The command shares the launcher's process group, whose other members are outside.
func TestPrioritiesOutsideStay(t *testing.T) {
	testkit.NeedFull(t)
	for _, attempt := range []string{"renice -n 7 -g 0", "ionice -c 3 -P 0"} {
		t.Run(attempt, func(t *testing.T) {
			w := testkit.NewWorld(t)
			settings := w.Settings(testkit.Base())
			try := func(name string, args ...string) (nice, io int) {
				t.Helper()
				bystander := exec.Command("sleep", "60")
				bystander.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				if err := bystander.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()
				run(t, w, standard{attr: &syscall.SysProcAttr{Setpgid: true, Pgid: bystander.Process.Pid}}, name, args...)
				return priorities(t, bystander.Process.Pid)
			}
			nice0, io0 := priorities(t, os.Getpid())
			if nice, io := try(w.Bin, "run", "-s", settings, "-c", attempt); nice != nice0 || io != io0 {
				t.Errorf("a process outside has nice %d and I/O priority %#x, want %d and %#x", nice, io, nice0, io0)
			}
			if nice, io := try("/bin/sh", "-c", attempt); nice == nice0 && io == io0 {
				t.Errorf("control: outside nothing changes")
			}
		})
	}
}

func priorities(t *testing.T, pid int) (nice, io int) {
	t.Helper()
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
	if err != nil {
		t.Fatal(err)
	}
	const whoProcess = 1 // IOPRIO_WHO_PROCESS
	prio, _, errno := unix.Syscall(unix.SYS_IOPRIO_GET, whoProcess, uintptr(pid), 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	return 20 - raw, int(prio) // the raw system call gives 20 - nice, see getpriority(2)
}

// A limit of 0 does not stop a core_pattern that begins with "|": the kernel starts that program, as root and outside of
// every namespace, whatever the limit, but for the value 1 (fs/coredump.c; core(5)).
func TestNoCoreReachesAProgramOfTheHost(t *testing.T) {
	testkit.NeedFull(t)
	w := testkit.NewWorld(t)
	const attempt = `grep "^Max core" /proc/self/limits`
	r := inside(t, w, standard{}, w.Settings(testkit.Base()), attempt)
	var soft, hard string
	if _, err := fmt.Sscanf(r.Stdout, "Max core file size %s %s", &soft, &hard); err != nil {
		t.Fatalf("%q: %v", r.Stdout, err)
	}
	if soft != "1" || hard != "1" {
		t.Errorf("RLIMIT_CORE is %s:%s, want 1:1", soft, hard)
	}
}
