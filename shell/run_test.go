package shell_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"github.com/sandboxctl/sandboxctl/shell"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

func TestStatuses(t *testing.T) {
	w := newWorld(t, writable)
	for command, want := range map[string]int{
		"exit 0": 0, "exit 1": 1, "exit 125": 125, "exit 255": 255, "kill -9 $$": 137, "kill -TERM $$": 143, "kill -SEGV $$": 139,
		"/nowhere/program": 127, "echo x > f; ./f": 126, "-x": 127, "sh -c 'kill -9 $$'": 137, "sh -c 'exit 3' | cat": 0,
	} {
		r := w.run(t, command)
		if r.TimedOut || r.ExitCode == nil || *r.ExitCode != want {
			t.Errorf("%s: %+v; want %d", command, r, want)
		}
		if !strings.HasSuffix(r.Preview, "Exit code: "+strconv.Itoa(want)+"\n") {
			t.Errorf("%s: the output ends with %q", command, r.Preview)
		}
	}
}

func TestTheResultAsItIsSent(t *testing.T) {
	w := newWorld(t, writable)
	got, err := json.Marshal(w.run(t, "printf 'a\\nb'; echo >&2 c"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(got, &m); err != nil {
		t.Fatal(err)
	}
	id, _ := m["callId"].(string)
	delete(m, "callId")
	left, _ := json.Marshal(m)
	if want := `{"byteLength":18,"exitCode":0,"lineCount":3,"preview":"a\nbc\nExit code: 0\n","timedOut":false}`; string(left) != want || id == "" {
		t.Errorf("got %s, want %s", got, want)
	}
	a, err := w.store.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	if n := a.Handle().ByteLength; n != 18 {
		t.Errorf("the artifact has %d bytes", n)
	}
	timedOut, _ := json.Marshal(shell.Result{TimedOut: true})
	if !strings.Contains(string(timedOut), `"exitCode":null`) {
		t.Errorf("a timeout is sent as %s", timedOut)
	}
}

func TestBothStreamsInTheOrderOfTheirArrival(t *testing.T) {
	w := newWorld(t, writable)
	r := w.run(t, "i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done")
	var want strings.Builder
	for i := range 200 {
		n := strconv.Itoa(i)
		want.WriteString("o" + n + "\ne" + n + "\n")
	}
	if got := r.Preview; got != want.String()+"Exit code: 0\n" {
		t.Errorf("got %q", got)
	}
}

func TestStandardInputIsEmpty(t *testing.T) {
	w := newWorld(t, writable)
	if r := w.run(t, "cat; read x; echo rc=$?"); r.Preview != "rc=1\nExit code: 0\n" {
		t.Errorf("got %q", r.Preview)
	}
}

func TestDirectories(t *testing.T) {
	w := newWorld(t, `{"filesystem": {"allowWrite": ["./in"], "denyRead": ["./closed"]}}`)
	for _, d := range []string{"in", "closed"} {
		if err := os.Mkdir(filepath.Join(w.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w2 := newWorld(t, writable)
	at := func(dir, command string) (shell.Result, error) {
		return w.Run(t.Context(), shell.Request{Command: command, Dir: dir})
	}
	if r, err := at("", "pwd"); err != nil || r.Preview != w.dir+"\nExit code: 0\n" {
		t.Errorf("no directory: %q, %v", r.Preview, err)
	}
	if r, err := at(w.dir+"/in", "pwd; touch ../x 2>/dev/null || echo no; touch y && echo yes"); err != nil || r.Preview != w.dir+"/in\nno\nyes\nExit code: 0\n" {
		t.Errorf("a directory below widens or narrows: %q, %v", r.Preview, err)
	}
	for dir, want := range map[string]outcome.Outcome{
		"/": outcome.PathRejected, w2.dir: outcome.PathRejected, w.dir + "2": outcome.PathRejected, w.dir + "/../x": outcome.PathRejected, "in": outcome.PathRejected, w.dir + "/in\x00": outcome.PathRejected,
		w.dir + "/closed": outcome.IOFailure, w.dir + "/missing": outcome.IOFailure,
	} {
		_, err := at(dir, "true")
		if e := outcome.Of(err, ""); e == nil || e.Outcome != want || strings.Contains(e.Error(), w.dir) {
			t.Errorf("%s: %v; want %v", dir, err, want)
		}
	}
}

func TestCommandsThatAreRefused(t *testing.T) {
	w := newWorld(t, writable)
	for name, r := range map[string]shell.Request{
		"empty": {}, "blank": {Command: " \n\t"}, "NUL": {Command: "echo \x00"}, "too long": {Command: strings.Repeat("x", shell.MaxCommand+1)},
		"negative time": {Command: "true", Timeout: -1}, "too long a time": {Command: "true", Timeout: shell.MaxTimeout + 1},
	} {
		if _, err := w.Run(t.Context(), r); outcome.Of(err, "") == nil || outcome.Of(err, "").Outcome != outcome.InvalidArguments {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r := w.run(t, ": "+strings.Repeat("x", shell.MaxCommand-2)); *r.ExitCode != 0 {
		t.Errorf("the longest command: %+v", r)
	}
	if n := w.store.Usage(); n > 1<<20 {
		t.Errorf("%d bytes are kept of commands that never ran", n)
	}
}

func TestTheTimeLimit(t *testing.T) {
	w := newWorld(t, writable)
	begin := time.Now()
	r, err := w.Run(t.Context(), shell.Request{Command: "echo begun; sleep 60", Timeout: 300 * time.Millisecond})
	if err != nil || !r.TimedOut || r.ExitCode != nil || r.Preview != "begun\n[timed out after 0.3s]\n" {
		t.Errorf("got %+v, %v", r, err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	short := newWorld(t, `{"sandboxctl": {"limits": {"wallSeconds": 0.5}}}`)
	if r := short.run(t, "sleep 60"); !r.TimedOut || r.Preview != "[timed out after 0.5s]\n" {
		t.Errorf("the settings' limit: %+v", r)
	}
	if r, err := short.Run(t.Context(), shell.Request{Command: "sleep 60", Timeout: 250 * time.Millisecond}); err != nil || r.Preview != "[timed out after 0.25s]\n" {
		t.Errorf("the request's limit below the settings': %+v, %v", r, err)
	}
}

// processesWith counts the processes of this machine that have a marker among their arguments.
func processesWith(t testing.TB, marker string) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), marker) {
			n++
		}
	}
	return n
}

func TestEverythingStartedIsGone(t *testing.T) {
	w := newWorld(t, writable)
	marker := "86398." + strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		name, command string
		timeout       time.Duration
		preview       string
		within        time.Duration
	}{
		{"a background process that holds the pipe", "sleep " + marker + " & echo done", 0, "done\nExit code: 0\n", time.Second},
		{"one of its own session", "setsid sleep " + marker + " >/dev/null 2>&1 & echo done", 0, "done\nExit code: 0\n", time.Second},
		{"one that ignores signals", "(trap '' TERM HUP INT; sleep " + marker + ") & echo done", 0, "done\nExit code: 0\n", time.Second},
		{"one that was orphaned", "sh -c '(sleep " + marker + " &) &'; echo done", 0, "done\nExit code: 0\n", time.Second},
		{"a limit", "setsid sleep " + marker + " & sleep " + marker, 400 * time.Millisecond, "[timed out after 0.4s]\n", 10 * time.Second},
		{"a limit, and signals are ignored", "trap '' TERM; sleep " + marker + "; sleep " + marker, 400 * time.Millisecond, "[timed out after 0.4s]\n", 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Now()
			r, err := w.Run(t.Context(), shell.Request{Command: c.command, Timeout: c.timeout})
			took := time.Since(begin)
			if err != nil || r.Preview != c.preview {
				t.Errorf("got %q, %v; want %q", r.Preview, err, c.preview)
			}
			if n := processesWith(t, marker); n != 0 {
				t.Errorf("%d processes are left", n)
			}
			if took > c.within+3*time.Second { // the machine may be busy; what hangs, hangs for a day
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	w := newWorld(t, writable)
	marker := "86397." + strconv.Itoa(os.Getpid())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for processesWith(t, marker) == 0 && ctx.Err() == nil {
			<-tick.C
		}
		cancel()
	}()
	_, err := w.Run(ctx, shell.Request{Command: "seq 1 100000; sleep " + marker})
	if n := w.store.Usage(); n != 0 {
		t.Errorf("%d bytes of the output are kept", n)
	}
	if e := outcome.Of(err, ""); e == nil || e.Outcome != outcome.Aborted {
		t.Errorf("got %v", err)
	}
	if n := processesWith(t, marker); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if _, err := w.Run(ctx, shell.Request{Command: "true"}); outcome.Of(err, "") == nil || outcome.Of(err, "").Outcome != outcome.Aborted {
		t.Errorf("with a context that had ended: %v", err)
	}
}

func TestAfterCloseNothingRuns(t *testing.T) {
	w := newWorld(t, writable)
	w.run(t, "true")
	if err := w.enforcer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context(), shell.Request{Command: "true"}); outcome.Of(err, "") == nil || outcome.Of(err, "").Outcome != outcome.SessionClosed {
		t.Errorf("a closed enforcer: %v", err)
	}
	w = newWorld(t, writable)
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context(), shell.Request{Command: "true"}); outcome.Of(err, "") == nil || outcome.Of(err, "").Outcome != outcome.SessionClosed {
		t.Errorf("a closed store: %v", err)
	}
}

func TestGit(t *testing.T) {
	git := testkit.NeedProgram(t, "git")
	w := newWorld(t, writable)
	if out, err := exec.Command(git, "-C", w.dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := w.run(t, "echo x > f && git add f && git -c user.name=n -c user.email=e commit -qm first && git log --oneline | wc -l && git status --short | wc -l")
	if *r.ExitCode != 0 || r.Preview != "1\n0\nExit code: 0\n" {
		t.Errorf("got %q", r.Preview)
	}
}

func TestPreviews(t *testing.T) {
	for _, c := range []struct {
		size    *int
		command string
		check   func(string) bool
	}{
		{nil, "seq 1 100000", func(p string) bool {
			return len(p) <= 8<<10 && len(p) > 7<<10 && strings.HasPrefix(p, "1\n2\n") && strings.HasSuffix(p, "\n100000\nExit code: 0\n") && strings.Contains(p, "left out")
		}},
		{new(0), "seq 1 100000", func(p string) bool { return p == "" }},
		{new(100), "seq 1 100000", func(p string) bool { return len(p) <= 100 && p != "" }},
		{new(13), "true", func(p string) bool { return p == "Exit code: 0\n" }},
		{nil, "head -c 100000 /dev/zero", func(p string) bool {
			return len(p) <= 8<<10 && utf8.ValidString(p) && strings.HasSuffix(p, "\nExit code: 0\n")
		}},
		{nil, `printf '\303\251%.0s' $(seq 1 5000)`, func(p string) bool { return len(p) <= 8<<10 && utf8.ValidString(p) && !strings.Contains(p, "\ufffd") }},
		{nil, `printf '\377\376x'`, func(p string) bool { return utf8.ValidString(p) && strings.HasSuffix(p, "x\nExit code: 0\n") }},
	} {
		w := newWorld(t, writable, func(o *shell.Options) { o.PreviewBytes = c.size })
		if r := w.run(t, c.command); !c.check(r.Preview) {
			t.Errorf("%s with %v: %d bytes, %.60q … %.60q", c.command, c.size, len(r.Preview), r.Preview, r.Preview[max(0, len(r.Preview)-60):])
		}
	}
}

func TestMemoryDoesNotGrowWithOutput(t *testing.T) {
	w := newWorld(t, writable)
	for name, c := range map[string]struct {
		command      string
		bytes, lines int64
	}{
		"many lines":            {"yes | head -c 300000000", 300_000_000, 150_000_000},
		"one line":              {"head -c 200000000 /dev/zero | tr '\\0' x", 200_000_000 + 1, 1},
		"both streams at once":  {"(yes | head -c 50000000) & (yes | head -c 50000000) >&2; wait", 100_000_000, 50_000_000},
		"NUL and other garbage": {"head -c 50000000 /dev/urandom", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			debug.FreeOSMemory()
			before := heap()
			r := w.run(t, c.command)
			trailer := int64(len("Exit code: 0\n"))
			if c.bytes > 0 && (r.ByteLength != c.bytes+trailer || r.LineCount != c.lines+1 || r.KeptBytes != 0) {
				t.Errorf("%+v; want %d bytes in %d lines", r, c.bytes+trailer, c.lines+1)
			}
			if after := heap(); after > before+16<<20 {
				t.Errorf("the heap grew by %d bytes", after-before)
			}
			if err := w.store.Remove(r.CallID); err != nil {
				t.Error(err)
			}
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys - m.HeapReleased
}

func TestOutputBeyondTheBoundIsCountedAndTheCommandNotStopped(t *testing.T) {
	w := newWorld(t, writable, func(o *shell.Options) { o.MaxOutputBytes = 1 << 20 })
	r := w.run(t, "seq 1 1000000; touch done")
	if *r.ExitCode != 0 || r.ByteLength != 6_888_896+13 || r.LineCount != 1_000_001 || r.KeptBytes == 0 || r.KeptBytes > 1<<20 {
		t.Errorf("got %+v", r)
	}
	if !strings.HasPrefix(r.Preview, "1\n2\n") || !strings.HasSuffix(r.Preview, "\n1000000\nExit code: 0\n") {
		t.Errorf("beginning or end are lost: %.40q … %q", r.Preview, r.Preview[max(0, len(r.Preview)-60):])
	}
	if _, err := os.Stat(filepath.Join(w.dir, "done")); err != nil {
		t.Errorf("the command did not run to its end: %v", err)
	}
	if r := w.run(t, "seq 1 1000"); r.KeptBytes != 0 {
		t.Errorf("control: %+v", r)
	}
}

func TestOptionsThatWillNotDo(t *testing.T) {
	w := newWorld(t, writable)
	good := shell.Options{Enforcer: w.enforcer, Root: w.dir, Spools: w.store}
	if _, err := shell.New(good); err != nil {
		t.Fatalf("control: %v", err)
	}
	for name, change := range map[string]func(*shell.Options){
		"no enforcer":      func(o *shell.Options) { o.Enforcer = nil },
		"no store":         func(o *shell.Options) { o.Spools = nil },
		"no root":          func(o *shell.Options) { o.Root = "" },
		"relative root":    func(o *shell.Options) { o.Root = "x" },
		"unclean root":     func(o *shell.Options) { o.Root += "/" },
		"negative bound":   func(o *shell.Options) { o.MaxOutputBytes = -1 },
		"negative preview": func(o *shell.Options) { o.PreviewBytes = new(-1) },
	} {
		o := good
		change(&o)
		if _, err := shell.New(o); err == nil || !strings.HasPrefix(err.Error(), string(outcome.CodeInvalidConfig)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACommandCannotBeAnOptionOfTheShell(t *testing.T) {
	w := newWorld(t, writable)
	if r := w.run(t, "-c 'touch PWNED'"); *r.ExitCode != 127 {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "PWNED")); err == nil {
		t.Error("the rest was run")
	}
}

// BenchmarkTrue compares a command line with the same in a sandbox alone.
func BenchmarkTrue(b *testing.B) {
	w := newWorld(b, writable)
	b.Run("shell", func(b *testing.B) {
		for b.Loop() {
			w.run(b, "true")
		}
	})
	b.Run("sandbox", func(b *testing.B) {
		for b.Loop() {
			x, err := w.enforcer.Run(b.Context(), enforcer.Operation{Argv: []string{"/bin/sh", "-c", "true"}})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := x.Wait(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A process outside of the sandbox that was handed the descriptor must not hold a command open.
func TestADescriptorThatWasPassedOut(t *testing.T) {
	testkit.NeedProgram(t, "python3")
	w := newWorld(t, `{"filesystem": {"allowWrite": ["."]}, "network": {"allowAllUnixSockets": true}}`)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(w.dir, "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	got := make(chan int, 1)
	go func() {
		defer close(got)
		conn, err := listener.AcceptUnix()
		if err != nil {
			return
		}
		defer conn.Close()
		oob := make([]byte, 128)
		_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
		if err != nil {
			return
		}
		messages, err := unix.ParseSocketControlMessage(oob[:n])
		if err != nil || len(messages) != 1 {
			return
		}
		if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
			got <- fds[0]
		}
	}()
	begin := time.Now()
	r := w.run(t, `python3 -c 'import socket,array
s=socket.socket(socket.AF_UNIX); s.connect("s"); s.sendmsg([b"x"],[(socket.SOL_SOCKET,socket.SCM_RIGHTS,array.array("i",[1]))])
s.recv(1)'; echo sent`)
	fd, ok := <-got
	if !ok {
		t.Fatalf("the descriptor did not come out, which the test is about: %q", r.Preview)
	}
	defer unix.Close(fd)
	if r.Preview != "sent\nExit code: 0\n" {
		t.Errorf("got %q", r.Preview)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}
