package policy

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"golang.org/x/sys/unix"
)

// ending is what may come of a run where something is missing. There is no third.
type ending uint8

const (
	refusal  ending = iota // exit status 125 and one line, nothing started
	confined               // every guarantee still holds: probes shows it
)

// host is a place to run in that lacks something.
type host struct {
	name    string
	wrapper []string // what starts the run; REFUSE is the program that refuses system calls
	want    ending
	says    string // pattern for the line of a refusal: cause and remedy
}

func hosts() []host {
	bare := confined
	if os.Geteuid() == 0 {
		bare = refusal // a root without CAP_SETFCAP may not map uid 0 (user_namespaces(7), since Linux 5.12)
	}
	out := []host{
		{name: "no capabilities and no new privileges", wrapper: []string{"setpriv", "--bounding-set", "-all", "--no-new-privs"}, want: bare, says: `user namespaces: .*; `},
		{name: "no new privileges", wrapper: []string{"setpriv", "--no-new-privs"}, want: confined},
	}
	for _, kind := range []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		script := fmt.Sprintf(`echo 0 > /proc/sys/user/max_%s_namespaces && exec "$@"`, kind)
		out = append(out, host{name: "no more " + kind + " namespaces", want: refusal, says: `namespaces: .*max_`,
			wrapper: []string{"unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"}})
	}
	type refused struct {
		name  string
		calls []uintptr
		mask  uintptr // of the first argument
		errs  []unix.Errno
		want  ending
		says  string
	}
	landlock := []uintptr{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF}
	for _, r := range []refused{
		{name: "landlock", calls: landlock, errs: []unix.Errno{unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM}, says: `landlock.*; `},
		{name: "landlock_add_rule", calls: landlock[1:2], errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `landlock`},
		{name: "landlock_restrict_self", calls: landlock[2:], errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `landlock`},
		{name: "seccomp", calls: []uintptr{unix.SYS_SECCOMP}, errs: []unix.Errno{unix.ENOSYS, unix.EINVAL, unix.EPERM, unix.EACCES}, says: `seccomp.*; `},
		{name: "prctl", calls: []uintptr{unix.SYS_PRCTL}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `prctl|namespaces`},
		{name: "capset", calls: []uintptr{unix.SYS_CAPSET}, errs: []unix.Errno{unix.EPERM}, says: `capset|namespaces`},
		{name: "mount", calls: []uintptr{unix.SYS_MOUNT}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `mount`},
		{name: "umount2", calls: []uintptr{unix.SYS_UMOUNT2}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `umount2`},
		{name: "open_tree", calls: []uintptr{unix.SYS_OPEN_TREE}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `open_tree`},
		{name: "move_mount", calls: []uintptr{unix.SYS_MOVE_MOUNT}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `move_mount`},
		{name: "mount_setattr", calls: []uintptr{unix.SYS_MOUNT_SETATTR}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `mount_setattr`},
		{name: "fsopen", calls: []uintptr{unix.SYS_FSOPEN}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `fsopen`},
		{name: "fsconfig", calls: []uintptr{unix.SYS_FSCONFIG}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `fsconfig`},
		{name: "fsmount", calls: []uintptr{unix.SYS_FSMOUNT}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `fsmount`},
		{name: "pivot_root", calls: []uintptr{unix.SYS_PIVOT_ROOT}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `pivot_root`},
		{name: "chroot", calls: []uintptr{unix.SYS_CHROOT}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `chroot`},
		{name: "openat2", calls: []uintptr{unix.SYS_OPENAT2}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `openat2`},
		{name: "clone with CLONE_NEWUSER", calls: []uintptr{unix.SYS_CLONE}, mask: unix.CLONE_NEWUSER, errs: []unix.Errno{unix.EPERM, unix.ENOSPC, unix.EINVAL, unix.ENOSYS}, says: `user namespaces.*; |user namespaces.*: .*: `},
		{name: "clone with CLONE_NEWPID", calls: []uintptr{unix.SYS_CLONE}, mask: unix.CLONE_NEWPID, errs: []unix.Errno{unix.EPERM, unix.EINVAL}, says: `namespaces`},
		{name: "unshare with CLONE_NEWUSER", calls: []uintptr{unix.SYS_UNSHARE}, mask: unix.CLONE_NEWUSER, errs: []unix.Errno{unix.EPERM}, want: confined},
		{name: "close_range", calls: []uintptr{unix.SYS_CLOSE_RANGE}, errs: []unix.Errno{unix.ENOSYS, unix.EPERM}, says: `close_range`},
		{name: "memfd_create", calls: []uintptr{unix.SYS_MEMFD_CREATE}, errs: []unix.Errno{unix.ENOSYS}, says: `memfd_create`},
		{name: "setrlimit", calls: []uintptr{unix.SYS_PRLIMIT64}, errs: []unix.Errno{unix.EPERM}, says: `RLIMIT_CORE`},
	} {
		for _, errno := range r.errs {
			wrapper := []string{"REFUSE", "refuse"}
			for _, nr := range r.calls {
				call := strconv.Itoa(int(nr))
				if r.mask != 0 {
					call += fmt.Sprintf("&%#x", r.mask)
				}
				wrapper = append(wrapper, fmt.Sprintf("%s=%d", call, int(errno)))
			}
			out = append(out, host{name: r.name + " gives " + unix.ErrnoName(errno), wrapper: append(wrapper, "--"), want: r.want, says: r.says})
		}
	}
	return out
}

// probes try one thing that each guarantee forbids.
const probes = "$A read d/f; $A open ~/out append; $A open .git/hooks/new create; $A kill 1 0; $A tcp 127.0.0.1 $PORT; " +
	"$A addkey; $A socket 1 1 0; $A descriptors; [ -e /proc/$PID/comm ] && echo seen; grep -c CapEff:.0000000000000000 /proc/self/status; $A open a append"

const (
	allDenied = "open: EACCES\nEROFS\nEROFS\nEPERM\nECONNREFUSED\nEPERM\nEPERM\nnone\n1\nok"
	// What the control must show at least: the same probes where nothing confines.
	wroteIt, sawIt = "p/d/f\nok\nok\n", "\nseen\n"
)

// Where a layer cannot be had, nothing runs; where it can, everything holds.
func TestNothingRunsUnconfined(t *testing.T) {
	testkit.NeedFull(t)
	port := hostServer(t)
	for _, h := range hosts() {
		t.Run(h.name, func(t *testing.T) {
			w := newWorld(t)
			const policy = `{"filesystem": {"denyRead": ["./d"], "allowWrite": ["."]}}`
			wrapper := strings.Split(strings.ReplaceAll(strings.Join(h.wrapper, "\x00"), "REFUSE", testkit.Attempts(t)), "\x00")
			pid := strconv.Itoa(unix.Getpid())
			line := "A=" + testkit.Attempts(t) + "; PORT=" + port + "; PID=" + pid + "; " + probes
			r := w.Outside("exec " + quoted(append(wrapper, w.Bin, "run", "-q", "-s", settingsFile(t, w, policy), "-c", line)))
			switch {
			case h.want == confined:
				if r.Code != 0 || strings.TrimSpace(r.Stdout) != allDenied {
					t.Errorf("code %d, it prints %q, want %q; stderr %q", r.Code, r.Stdout, allDenied, r.Stderr)
				}
			case r.Code != refused || r.Stdout != "" || !oneLine(r.Stderr):
				t.Errorf("code %d, stdout %q, stderr %q, want %d and one line", r.Code, r.Stdout, r.Stderr, refused)
			case !regexp.MustCompile(h.says).MatchString(r.Stderr):
				t.Errorf("the line %q does not match %q", r.Stderr, h.says)
			}
			t.Logf("%s", r.Stderr)

			// The control: the wrapper lets programs start, and stops none of the probes that need no more rights than the caller's.
			c := w.Outside("exec " + quoted(append(wrapper, "/bin/sh", "-c", line)))
			for _, want := range []string{wroteIt, sawIt} {
				if !strings.Contains(c.Stdout, want) {
					t.Errorf("control: in the wrapper the probes print %q, without %q; stderr %q", c.Stdout, want, c.Stderr)
				}
			}
		})
	}
}
