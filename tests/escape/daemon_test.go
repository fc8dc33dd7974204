package escape

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"golang.org/x/sys/unix"
)

// A process that has let go of its parent and its session, and ignores every signal it can, ends with the command.
func TestDaemonsEndWithTheCommand(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	attempt := func(mark string) string {
		// The brackets keep the pattern from finding the command line of grep and of this shell.
		pattern := "[" + mark[:1] + "]" + mark[1:]
		return fmt.Sprintf("%s daemon %s; until grep -qs '%s' /proc/[0-9]*/cmdline; do :; done; echo there", testkit.Attempts(t), mark, pattern)
	}
	mark := fmt.Sprintf("daemon-inside-%d", os.Getpid())
	if r := inside(t, w, standard{}, settings, attempt(mark)); r.Stdout != "ok\nthere\n" {
		t.Fatalf("the daemon did not start: %q, %q", r.Stdout, r.Stderr)
	}
	if pids := withMark(t, mark); len(pids) > 0 {
		t.Errorf("processes %v outlive the command", pids)
	}
	mark = fmt.Sprintf("daemon-outside-%d", os.Getpid())
	w.Outside(attempt(mark))
	pids := withMark(t, mark)
	if len(pids) != 1 {
		t.Errorf("control: outside %d processes stay, want 1", len(pids))
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

// withMark finds the processes of this machine that have the mark as an argument.
func withMark(t *testing.T, mark string) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, f := range files {
		args, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended meanwhile
		}
		for _, arg := range bytes.Split(args, []byte{0}) {
			if string(arg) != mark {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}
