package seccomp

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func allowAll(t testing.TB) Program {
	return compiled(t, goarch, `{"defaultAction":"SCMP_ACT_ALLOW"}`)
}

// loadError fails the test unless err is a LoadError of that program and count.
func loadError(t *testing.T, err error, program string, loaded int) {
	t.Helper()
	var load *LoadError
	if !errors.As(err, &load) || load.Program != program || load.Loaded != loaded {
		t.Errorf("%v (%T), want a LoadError of program %q with %d loaded", err, err, program, loaded)
	}
}

func TestLoadRefusesWhatIsNoProgram(t *testing.T) {
	foreign := map[string]string{"amd64": "arm64", "arm64": "amd64"}[goarch]
	for _, c := range []struct {
		name     string
		programs []Program
		program  string
		says     string
	}{
		{"none", nil, "", "no program was given"},
		{"zero value", []Program{allowAll(t), {}}, "", "the program is empty"},
		{"other architecture", []Program{compiled(t, foreign, `{"defaultAction":"SCMP_ACT_ALLOW"}`)}, "profile", "the program is for " + foreign},
		{"too long", []Program{{"long", goarch, make([]unix.SockFilter, 4097)}}, "long", "4097 instructions"},
	} {
		err := Load(c.programs...)
		loadError(t, err, c.program, 0)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestLoadNeedsNoNewPrivs(t *testing.T) {
	requireFilters(t)
	switch role() {
	case "":
		// As root a filter could be loaded without; who starts this may have the bit set already.
		if set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || set == 1 {
			t.Skipf("no_new_privs is set already: %v", errors.ErrUnsupported)
		}
		mustPass(t, "without")
	case "without":
		err := Load(allowAll(t))
		loadError(t, err, "", 0)
		if !errors.Is(err, ErrNoNewPrivs) {
			t.Errorf("%v", err)
		}
		loadHere(t, allowAll(t)) // with the bit, as a control
	}
}

func TestLoadSaysWhichProgramTheKernelRefused(t *testing.T) {
	requireFilters(t)
	if role() == "" {
		mustPass(t, "child")
		return
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	err := Load(allowAll(t), Program{"broken", goarch, []unix.SockFilter{{Code: 0xffff}}})
	loadError(t, err, "broken", 1)
	if !errors.Is(err, unix.EINVAL) || errors.Is(err, ErrNotSupported) {
		t.Errorf("%v: want EINVAL, and not that filters are not supported", err)
	}
}

// A filter belongs to the thread that loads it.
func TestLoadConfinesTheCallingThread(t *testing.T) {
	requireFilters(t)
	if role() == "" {
		mustPass(t, "child")
		return
	}
	try := func() unix.Errno {
		_, _, errno := syscall.RawSyscall(unix.SYS_UNSHARE, 0, 0, 0)
		return errno
	}
	confine(t, Options{})
	if errno := try(); errno != unix.EPERM {
		t.Errorf("unshare on the confined thread: %v", errno)
	}
	other := make(chan unix.Errno)
	go func() { other <- try() }()
	if errno := <-other; errno != 0 {
		t.Errorf("unshare on another thread: %v", errno)
	}
}

func TestProbe(t *testing.T) {
	// seccomp(2) fails with an errno by a filter outside, as in a sandbox that has one.
	outside := func(errno string) Program {
		return compiled(t, goarch, `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["seccomp"],"action":"SCMP_ACT_ERRNO","errnoRet":`+errno+`}]}`)
	}
	switch role() {
	case "":
		requireFilters(t)
		for _, as := range []string{"38", "22", "1"} {
			mustPass(t, as)
		}
	case "38", "22":
		loadHere(t, outside(role()))
		var missing *FeatureError
		if err := Probe(); !errors.Is(err, ErrNotSupported) || !errors.Is(err, errors.ErrUnsupported) || !errors.As(err, &missing) {
			t.Errorf("seccomp(2) gives %s: %v is not ErrNotSupported", role(), err)
		}
		err := Load(allowAll(t))
		loadError(t, err, "profile", 0)
		if !errors.Is(err, ErrNotSupported) {
			t.Errorf("load: %v", err)
		}
	case "1":
		loadHere(t, outside("1"))
		if err := Probe(); err == nil || errors.Is(err, ErrNotSupported) || !errors.Is(err, unix.EPERM) {
			t.Errorf("seccomp(2) gives EPERM: %v; it should be unclear", err)
		}
		err := Load(allowAll(t))
		loadError(t, err, "profile", 0)
		if !errors.Is(err, unix.EPERM) {
			t.Errorf("load: %v", err)
		}
	}
}

// A user's profile on top takes away, with its own errno, and gives nothing back.
func TestProfileInTheKernel(t *testing.T) {
	requireFilters(t)
	if role() == "" {
		mustPass(t, "child")
		return
	}
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/before", 0o700); err != nil {
		t.Fatal(err)
	}
	confine(t, Options{}, compiled(t, goarch, `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[
		{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":30},
		{"names":["unshare"],"action":"SCMP_ACT_ALLOW"},
		{"names":["dup3"],"action":"SCMP_ACT_ERRNO","errnoRet":95,"args":[{"index":1,"value":4294967396,"op":"SCMP_CMP_GE"}]}]}`))
	if err := unix.Mkdirat(unix.AT_FDCWD, dir+"/after", 0o700); err != unix.EROFS {
		t.Errorf("mkdirat: %v", err)
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_UNSHARE, 0, 0, 0); errno != unix.EPERM {
		t.Errorf("unshare: %v", errno)
	}
	// A profile compares 64 bits, as libseccomp does.
	if _, _, errno := syscall.RawSyscall(unix.SYS_DUP3, badDescriptor, 100, 0); errno != unix.EBADF {
		t.Errorf("dup3 below the bound: %v", errno)
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_DUP3, badDescriptor, upper+100, 0); errno != unix.EOPNOTSUPP {
		t.Errorf("dup3 at the bound: %v", errno)
	}
}

// BenchmarkLoad loads the strictest programs on a thread that ends afterwards.
func BenchmarkLoad(b *testing.B) {
	if err := Probe(); err != nil {
		b.Skip(err)
	}
	programs, err := Programs(Options{})
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error)
	for range b.N {
		b.StopTimer()
		go func() {
			runtime.LockOSThread()
			if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
				done <- err
				return
			}
			b.StartTimer()
			err := Load(programs...)
			b.StopTimer()
			done <- err
		}()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrograms(b *testing.B) {
	for b.Loop() {
		if _, err := Programs(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
