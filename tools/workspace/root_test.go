package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

func TestNewRootRefuses(t *testing.T) {
	root, outside, j, _ := place(t)
	build(t, root, outside, "f = x", "loop -> loop")
	for name, c := range map[string]struct {
		path  string
		judge workspace.Judge
	}{
		"no judge": {root, nil}, "relative": {"work", j}, "empty": {"", j}, "missing": {root + "/none", j},
		"a file": {root + "/f", j}, "loop": {root + "/loop", j}, "magic link": {"/proc/self/cwd", j},
	} {
		ws, err := workspace.NewRoot(c.path, c.judge)
		var setup *outcome.SetupError
		if ws != nil || !errors.As(err, &setup) || setup.Code != outcome.CodeInvalidConfig {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ws, err := workspace.NewRoot(root, j); err != nil {
		t.Errorf("control: %v", err)
	} else {
		ws.Close()
	}
}

const withoutOpenat2 = "WORKSPACE_TEST_WITHOUT_OPENAT2"

func TestMain(m *testing.M) {
	if root := os.Getenv(withoutOpenat2); root != "" {
		os.Exit(runWithoutOpenat2(root))
	}
	os.Exit(m.Run())
}

// On a kernel without openat2 there is no root at all.
func TestNoOpenat2(t *testing.T) {
	root, _, _, _ := place(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), withoutOpenat2+"="+root)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "refused: E_SANDBOX_UNSUPPORTED_ENV") {
		t.Errorf("%v: %s", err, out)
	}
}

// runWithoutOpenat2 opens the root, takes openat2 away with a seccomp filter, and tries again.
func runWithoutOpenat2(root string) int {
	runtime.LockOSThread()
	j := &judge{root: root}
	ws, err := workspace.NewRoot(root, j)
	if err != nil {
		fmt.Println("control:", err)
		return 1
	}
	ws.Close()
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // seccomp_data.nr
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: unix.SYS_OPENAT2},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0x00050000 | uint32(unix.ENOSYS)}, // SECCOMP_RET_ERRNO
		{Code: unix.BPF_RET | unix.BPF_K, K: 0x7fff0000},                       // SECCOMP_RET_ALLOW
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		fmt.Println("no_new_privs:", err)
		return 1
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, 2, uintptr(unsafe.Pointer(&filter)), 0, 0); err != nil {
		fmt.Println("seccomp:", err)
		return 1
	}
	_, err = workspace.NewRoot(root, j)
	var setup *outcome.SetupError
	if !errors.As(err, &setup) || !errors.Is(err, unix.ENOSYS) {
		fmt.Println("not refused:", err)
		return 1
	}
	fmt.Println("refused:", setup.Code)
	return 0
}

func TestNothingLeaks(t *testing.T) {
	root, outside, j, ws := place(t)
	j.closed = []string{"private", "id_rsa"}
	build(t, root, outside, closedLayout...)
	before := openDescriptors(t)
	for _, v := range verbs() {
		for _, path := range []string{"a", "d", ".", "d/out", "d/in", "private/p", "private/sub/../k", "d/dots", "none/x", "n", "d/inner", "loop"} {
			_, _ = v.do(ws, path)
		}
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors, were %d", after, before)
	}
	left, err := filepath.Glob(filepath.Join(root, ".sandboxctl*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
