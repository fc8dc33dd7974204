package field

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"golang.org/x/sys/unix"
)

// lacking starts sandboxctl where system calls are refused, as by an older kernel or an outer sandbox. Each refusal is
// NR=ERRNO or NR&MASK=ERRNO, see the attempt "refuse".
func lacking(t *testing.T, w *testkit.World, refusals []string, args ...string) outcome {
	t.Helper()
	all := append([]string{"refuse"}, refusals...)
	all = append(append(all, "--", w.Bin), args...)
	return outcome{t, strings.Join(all, " "), runProgram(t, w, testkit.Attempts(t), all...)}
}

// A layer that could not be applied was reported as applied, and the command ran without it.
func TestMissingLayerStartsNothing(t *testing.T) {
	testkit.Attempts(t)
	refuse := func(err unix.Errno, calls ...int) []string {
		var out []string
		for _, nr := range calls {
			out = append(out, fmt.Sprintf("%d=%d", nr, int(err)))
		}
		return out
	}
	const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	type lack struct {
		name     string
		refusals []string
		says     []string
	}
	var lacks []lack
	for _, err := range []unix.Errno{unix.ENOSYS, unix.EOPNOTSUPP, unix.E2BIG, unix.EPERM, unix.EACCES, unix.EINVAL} {
		name := unix.ErrnoName(err)
		lacks = append(lacks,
			lack{"Landlock " + name, refuse(err, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF), []string{"andlock"}},
			lack{"Landlock rules " + name, refuse(err, unix.SYS_LANDLOCK_ADD_RULE), []string{"andlock"}},
			lack{"Landlock restriction " + name, refuse(err, unix.SYS_LANDLOCK_RESTRICT_SELF), []string{"andlock"}},
			lack{"mount " + name, refuse(err, unix.SYS_MOUNT), []string{"mount"}},
			lack{"open_tree " + name, refuse(err, unix.SYS_OPEN_TREE), []string{"open_tree"}},
			lack{"move_mount " + name, refuse(err, unix.SYS_MOVE_MOUNT), []string{"mount"}},
			lack{"mount_setattr " + name, refuse(err, unix.SYS_MOUNT_SETATTR), []string{"mount"}},
			lack{"fsopen " + name, refuse(err, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG), []string{"fs"}},
			lack{"pivot_root " + name, refuse(err, unix.SYS_PIVOT_ROOT), []string{"pivot_root"}},
			lack{"seccomp " + name, refuse(err, unix.SYS_SECCOMP, unix.SYS_PRCTL), []string{""}},
			lack{"seccomp alone " + name, refuse(err, unix.SYS_SECCOMP), []string{"seccomp"}},
			lack{"namespaces " + name, []string{fmt.Sprintf("%d&%d=%d", unix.SYS_CLONE, namespaces, int(err)), fmt.Sprintf("%d&%d=%d", unix.SYS_UNSHARE, namespaces, int(err)), fmt.Sprintf("%d=%d", unix.SYS_CLONE3, int(unix.ENOSYS))}, []string{"namespace", "start the stage"}},
			lack{"mount namespace " + name, []string{fmt.Sprintf("%d&%d=%d", unix.SYS_CLONE, unix.CLONE_NEWNS, int(err)), fmt.Sprintf("%d=%d", unix.SYS_CLONE3, int(unix.ENOSYS))}, []string{"namespace", "start the stage"}},
		)
	}
	for _, l := range lacks {
		t.Run(l.name, func(t *testing.T) {
			w := newWorld(t)
			w.Mkdir("outside")
			settings := w.Settings(testkit.Base())
			line := "touch " + w.Path("outside") + "/x; echo RAN"
			o := lacking(t, w, l.refusals, "run", "-s", settings, "-c", line)
			wantAbsent(t, w, "outside/x")
			if o.Code == 0 {
				// Another way to the same thing is fine, when it confines.
				o.prints("RAN\n").says(readOnly)
				t.Logf("it runs confined without %s", l.name)
				return
			}
			o.refuses().saysOneOf(l.says...)
			// What kernels and outer sandboxes answer where they lack it; the other errnos tell of the call alone.
			if strings.HasSuffix(l.name, "ENOSYS") || strings.HasSuffix(l.name, "EPERM") {
				o.says(";")
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		w := newWorld(t)
		w.Mkdir("outside")
		line := "touch " + w.Path("outside") + "/x; echo RAN"
		lacking(t, w, nil, "run", "-s", w.Settings(testkit.Base()), "-c", line).code(0).prints("RAN\n").says(readOnly)
		outside(t, w, line).prints("RAN\n")
		if _, ok := w.Read("outside/x"); !ok {
			t.Error("outside the file is not made")
		}
	})
}

// The same where the caller has no rights to give away, or may make no user namespace.
func TestCallerWithoutRightsStartsNothingUnconfined(t *testing.T) {
	testkit.NeedProgram(t, "setpriv")
	w := newWorld(t)
	w.Mkdir("outside")
	settings := w.Settings(testkit.Base())
	line := "touch " + w.Path("outside") + "/x; echo RAN"
	for _, options := range []string{"--bounding-set -all --no-new-privs", "--no-new-privs", "--bounding-set -all"} {
		if os.Geteuid() != 0 && strings.Contains(options, "bounding") {
			continue // an ordinary user has no bounding set to give away
		}
		o := outcome{t, options, w.Outside("setpriv " + options + " " + w.Bin + " run -s " + settings + " -c " + quote(line))}
		wantAbsent(t, w, "outside/x")
		if o.Code != 0 {
			o.refuses("namespace", ";")
			continue
		}
		o.prints("RAN\n").says(readOnly)
	}
}

// doctor says the same as run does, in its exit status.
func TestDoctorAgreesWithRun(t *testing.T) {
	w := newWorld(t)
	start(t, w, "doctor").code(0)
	for _, nr := range []int{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_SECCOMP} {
		refusal := []string{fmt.Sprintf("%d=%d", nr, int(unix.ENOSYS))}
		if o := lacking(t, w, refusal, "doctor"); o.Code == 0 || !strings.Contains(o.Stdout, "no ") {
			t.Errorf("without system call %d doctor ends with %d: %s", nr, o.Code, o.Stdout)
		}
		lacking(t, w, refusal, "run", "--", "true").code(refused)
	}
}

// A container whose /proc has entries covered may not mount another one: "Mount too revealing". CAP_SYS_ADMIN does not help.
func TestContainerWithCoveredProc(t *testing.T) {
	testkit.NeedProgram(t, "bwrap")
	w := newWorld(t)
	const covered = "bwrap --unshare-user --unshare-pid --dev-bind / / --proc /proc --dev-bind /dev/null /proc/cmdline "
	command := func(settings string) string {
		return w.Bin + " run -q -s " + settings + " -c 'echo ok; ls -d /proc/self; touch " + w.Path("x") + "'"
	}
	settings := w.Settings(testkit.Base())
	outcome{t, "covered", w.Outside(covered + command(settings))}.refuses("/proc", "container", "enableWeakerNestedSandbox")
	weaker := w.Settings(testkit.Base(), map[string]any{"enableWeakerNestedSandbox": true})
	outcome{t, "covered, with the key that the message names", w.Outside(covered + command(weaker))}.prints("ok\n/proc/self\n").says(readOnly)
	outcome{t, "control: not covered", w.Outside("bwrap --unshare-user --dev-bind / / " + command(settings))}.prints("ok\n/proc/self\n").says(readOnly)
	wantAbsent(t, w, "x")
}

// Started by root, the command could take the sandbox apart with the usual tools.
func TestUsualToolsTakeNothingApart(t *testing.T) {
	testkit.NeedProgram(t, "setpriv")
	w := newWorld(t)
	w.Write("home/p/secret/k", secret)
	settings := w.Settings(testkit.FS{DenyRead: []string{"./secret"}, AllowWrite: []string{"."}})
	for _, line := range []string{
		"umount $PWD/secret", "umount -l $PWD/secret", "mount -o remount,bind,rw /", "mount -o remount,rw /", "mount --bind / $PWD", "mount -t tmpfs none $PWD",
		"touch /x", "mknod $PWD/b b 254 0", "mknod $PWD/c c 1 1", "unshare -m true", "unshare -Ur true", "nsenter -t 1 -m true", "chroot / true",
		"dmesg", "hostname x", "ip link set lo down", "su -c true", "setpriv --reuid 65534 true", "chown 65534 $PWD/secret", "setcap cap_sys_admin+ep /bin/true",
	} {
		o := inside(t, w, settings, line+" 2>&1 >/dev/null && echo WORKS; cat secret/k")
		o.never("WORKS").never("TOP")
	}
	inside(t, w, settings, "grep '^Cap' /proc/self/status | cut -f2 | sort -u; grep NoNewPrivs /proc/self/status | cut -f2").prints("0000000000000000\n1\n")
	inside(t, w, settings, "setpriv --dump | grep -c 'Inheritable capabilities: .none\\|Ambient capabilities: .none\\|Capability bounding set: .none'").prints("3\n")
	if os.Geteuid() == 0 {
		outside(t, w, "touch /x-sandboxctl-field && rm /x-sandboxctl-field && unshare -m true && chroot / true && echo works").prints("works\n")
	}
}
