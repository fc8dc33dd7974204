package escape

import (
	"fmt"
	"os"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// processRows reach for other processes: outer ones ($PID is one of the same uid), and the sandbox's own PID 1.
func processRows() []row {
	return []row{
		{name: "signal an outer process", attempt: "$A kill $PID 0", inside: "ESRCH", outside: "ok"},
		{name: "signal an outer process by descriptor", attempt: "$A pidfdsignal $PID 0", inside: "pidfd_open: ESRCH", outside: "ok"},
		{name: "read PID 1", attempt: "$A vmread $INIT $ADDRESS", inside: "EPERM", outside: "MEMORYSECRET"},
		{name: "trace PID 1", attempt: "$A ptrace $INIT", inside: "EPERM", outside: "ok"},
		{name: "take a descriptor of PID 1", attempt: "$A pidfdgetfd $INIT", inside: "EPERM", outside: "ok"},
		{name: "signal PID 1", attempt: "$A kill $INIT 9", inside: "EPERM", outside: "ok"},
		{name: "signal PID 1 by descriptor", attempt: "$A pidfdsignal $INIT 9", inside: "EPERM", outside: "ok"},
		{name: "read an outer process", attempt: "$A vmread $PID $ADDRESS", inside: "EPERM", outside: "MEMORYSECRET"},
		{name: "write an outer process", attempt: "$A vmwrite $PID $ADDRESS", inside: "EPERM", outside: "ok"},
		{name: "read an outer process's memory file", attempt: "$A procmem $PID $ADDRESS", inside: "open: ENOENT", outside: "MEMORYSECRET"},
		{name: "take a descriptor of an outer process", attempt: "$A pidfdgetfd $PID", inside: "pidfd_open: ESRCH", outside: "ok"},
		{name: "take a descriptor of an own process", attempt: "$A pidfdgetfd $$", inside: "EPERM", outside: "ok"},
		{name: "trace an outer process", attempt: "$A ptrace $PID", inside: "EPERM", outside: "ok"},
		{name: "trace a child", attempt: "$A tracechild", inside: "EPERM", outside: "ok"},
		{name: "compare processes", attempt: "$A kcmp", inside: "EPERM", outside: "ok|ENOSYS|EOPNOTSUPP"},
		{name: "limits of an outer process", attempt: "$A prlimit $PID", inside: "ESRCH", outside: "ok"},
		{name: "be dumpable", attempt: "$A dumpable", inside: "ok", same: true},
		{name: "a program in memory", attempt: "$A memfdexec", inside: ids(), same: true},

		{name: "capabilities", attempt: `grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)" /proc/self/status | grep -vc 0000000000000000`, inside: "0", outside: anything},
		{name: "no new privileges", attempt: "grep NoNewPrivs /proc/self/status | tail -c 2", inside: "1", outside: "0"},
		{name: "seccomp mode", attempt: "grep Seccomp: /proc/self/status | tail -c 2", inside: "2", outside: "0"},
		{name: "a set-user-ID copy", attempt: "./suid ids", inside: ids(), outside: "65534 0", onlyFor: "root", before: suidCopy},
		{name: "a set-user-ID program of the system", attempt: "passwd -S | wc -w", inside: "0|2", outside: anything, user: anything, onlyFor: "user", needs: []string{"passwd"}},

		{name: "every process", attempt: "ls /proc | grep -c '^[0-9]'", inside: "2|3|4", outside: anything},
		{name: "a fork", attempt: "(echo ok)", inside: "ok", same: true},
	}
}

func ids() string { return fmt.Sprintf("%d %d", os.Geteuid(), os.Getegid()) }

// suidCopy makes a program that runs as somebody else, as only root can.
func suidCopy(t *testing.T, w *testkit.World) {
	b, err := os.ReadFile(testkit.Attempts(t))
	if err != nil {
		t.Fatal(err)
	}
	path := w.Write("home/p/suid", string(b))
	if err := os.Chown(path, 65534, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
}
