package escape

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"golang.org/x/sys/unix"
)

// A command with a terminal stays in the launcher's process group, for job control. A process group of 0 is the caller's own,
// and a PID namespace does not keep a signal to it inside.
func TestSignalsToTheGroupStayInside(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	// This shell is in the group.
	const bystander = `"$@"; echo alive`
	for _, signal := range []string{"1", "2", "9", "10", "15"} {
		t.Run(signal, func(t *testing.T) {
			line := testkit.Attempts(t) + " kill 0 " + signal
			in := run(t, w, onTerminal(t), "/bin/sh", "-c", bystander, "sh", w.Bin, "run", "-s", settings, "-c", line)
			if !strings.HasSuffix(in.Stdout, "alive\n") {
				t.Errorf("signal %s reached a process outside: it prints %q, %q", signal, in.Stdout, in.Stderr)
			}
			out := run(t, w, onTerminal(t), "/bin/sh", "-c", bystander, "sh", "/bin/sh", "-c", line)
			if strings.Contains(out.Stdout, "alive") {
				t.Errorf("control: outside signal %s does not reach the group: %q", signal, out.Stdout)
			}
		})
	}
}

// sleeper starts a process. alive reports whether it still runs.
func sleeper(t *testing.T) (alive func() bool) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return func() bool {
		ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			n, err := unix.Poll(ended, 0)
			if err != unix.EINTR {
				return n == 0
			}
		}
	}
}

// kill(-1, …) goes to every process that the caller may signal. The control has a PID namespace of its own around it.
func TestSignalsToAllStayInside(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	program := testkit.Attempts(t)
	alive := sleeper(t)
	run(t, w, standard{}, w.Bin, "run", "-s", settings, "-c", program+" kill -1 9")
	if !alive() {
		t.Fatal("a process outside was ended")
	}
	r := w.Outside("exec unshare --user --map-root-user --pid --fork sh -c 'sleep 600 & sleeper=$!; " + program + " kill -1 9; wait $sleeper; echo $?'")
	if r.Stdout != "ok\n137\n" {
		t.Errorf("control: %q, %q, want a process that was killed", r.Stdout, r.Stderr)
	}
}
