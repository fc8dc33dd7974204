package escape

import (
	"fmt"
	"os"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// ipcRows look for objects that a process outside made. The names are of this test process.
func ipcRows() []row {
	key := fmt.Sprintf("%#x", 0x5b000000+os.Getpid())
	queue := fmt.Sprintf("/sandboxctl-attempt-%d", os.Getpid())
	rows := []row{
		{name: "shared memory of a host process", attempt: "$A shm " + key, before: made("shmmake", "shmremove", key)},
		{name: "semaphores of a host process", attempt: "$A sem " + key, before: made("semmake", "semremove", key)},
		{name: "message queue of a host process", attempt: "$A msg " + key, before: made("msgmake", "msgremove", key)},
		{name: "POSIX message queue of a host process", attempt: "$A mq " + queue, before: made("mqmake", "mqremove", queue)},
	}
	for i := range rows {
		rows[i].inside, rows[i].outside = "ENOENT", "ok"
	}
	return append(rows,
		row{name: "shared memory of its own", attempt: "$A shmmake " + key + "; $A shm " + key + "; $A shmremove " + key, inside: "ok\nok\nok", same: true},
		row{name: "POSIX shared memory of a host process", attempt: "cat /dev/shm/sandboxctl-attempt-*", inside: "", outside: "SECRET",
			before: func(t *testing.T, _ *testkit.World) {
				f, err := os.CreateTemp("/dev/shm", "sandboxctl-attempt-*")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.Remove(f.Name()) })
				defer f.Close()
				if _, err := f.WriteString(secret); err != nil {
					t.Fatal(err)
				}
			}})
}

// made makes an object outside, and removes it.
func made(makeIt, removeIt, name string) func(t *testing.T, w *testkit.World) {
	return func(t *testing.T, w *testkit.World) {
		program := testkit.Attempts(t)
		if r := w.Outside(program + " " + makeIt + " " + name); r.Stdout != "ok\n" {
			t.Fatalf("%s %s: %s", makeIt, name, r.Stdout)
		}
		t.Cleanup(func() {
			if r := w.Outside(program + " " + removeIt + " " + name); r.Stdout != "ok\n" {
				t.Errorf("%s %s: %s", removeIt, name, r.Stdout)
			}
		})
	}
}
