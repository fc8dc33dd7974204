package fault

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// rounds is how often each process is killed.
const rounds = 60

func TestKilledLaunchersLeaveNothing(t *testing.T) {
	kill(t, func(launcher int) { _ = syscall.Kill(launcher, syscall.SIGKILL) })
}

func TestKilledStagesLeaveNothing(t *testing.T) {
	kill(t, func(launcher int) {
		for _, child := range children(launcher) {
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
	})
}

// kill starts launchers and lets f kill something of each after 0 to 20 ms.
func kill(t *testing.T, f func(launcher int)) {
	testkit.NeedFull(t)
	w := testkit.NewWorld(t)
	w.Mkdir("home/p/.git/hooks")
	w.Write("home/p/secret/k", "TOP")
	settings := w.Settings(testkit.FS{AllowWrite: []string{"."}, DenyRead: []string{"./secret"}})
	before, mounts := testkit.Tree(t, w.Root), mountCount(t)
	ran := 0
	for i := range rounds {
		marker := fmt.Sprintf("%d.%d", 100000+os.Getpid(), i)
		cmd := exec.Command(w.Bin, "run", "--settings", settings, "--", "sh", "-c", "sleep "+marker+" & sleep "+marker)
		cmd.Dir, cmd.Env = w.P, w.Env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		delay := time.NewTimer(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		<-delay.C
		if len(withArgument(t, marker)) > 1 { // more than the launcher: the command runs
			ran++
		}
		f(cmd.Process.Pid)
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(testkit.RunTimeout):
			// Where there was no stage yet, the launcher runs on: it ends as its command would.
			_ = cmd.Process.Kill()
			<-ended
			t.Errorf("round %d: the launcher did not end", i)
		case <-notKilled(cmd.Process.Pid):
			_ = cmd.Process.Kill()
			<-ended
		}
		waitGone(t, marker)
	}
	if after := testkit.Tree(t, w.Root); after != before {
		t.Errorf("files changed from\n%s\nto\n%s", before, after)
	}
	if n := mountCount(t); n != mounts {
		t.Errorf("%d mounts before, %d after", mounts, n)
	}
	if ran == 0 {
		t.Error("no round killed a running command: the delays are too short to show anything")
	}
}

// notKilled fires when a launcher still has a sandbox a while after the kill, because there was nothing to kill at that moment.
func notKilled(pid int) <-chan time.Time {
	if len(children(pid)) == 0 {
		return time.After(2 * time.Second)
	}
	return time.After(5 * time.Second)
}

// children lists the child processes of all threads of a process.
func children(pid int) []int {
	var out []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(field); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// withArgument lists the processes whose arguments hold a text.
func withArgument(t *testing.T, text string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(text)) {
			out = append(out, f)
		}
	}
	return out
}

func waitGone(t *testing.T, marker string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		left := withArgument(t, marker)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes stay: %v", left)
		}
	}
}

func mountCount(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

func TestManyRunsAtOnce(t *testing.T) {
	testkit.NeedFull(t)
	w := testkit.NewWorld(t)
	settings := w.Settings(testkit.FS{AllowWrite: []string{"."}})
	before, mounts := testkit.Tree(t, w.Root), mountCount(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	failed := map[string]int{}
	for i := range 200 {
		wg.Go(func() {
			cmd := exec.Command(w.Bin, "run", "--settings", settings, "--", "sh", "-c", "echo $((6 * 7))")
			cmd.Dir, cmd.Env = w.P, w.Env
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != "42\n" {
				mu.Lock()
				failed[fmt.Sprintf("run %d: %v: %s", i, err, out)]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for what := range failed {
		t.Error(what)
	}
	if after := testkit.Tree(t, w.Root); after != before {
		t.Errorf("files changed from\n%s\nto\n%s", before, after)
	}
	if n := mountCount(t); n != mounts {
		t.Errorf("%d mounts before, %d after", mounts, n)
	}
}
