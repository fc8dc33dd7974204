package policy

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// layerCase is something that one layer alone prevents.
type layerCase struct {
	layer    string
	name     string
	settings string
	try      string // shell line in the sandbox
	whole    string // what it prints in the whole program
	without  string // and in one without the layer
	caller   string // shell line of the caller; $RUN is the run of the line. "" = $RUN alone
	terminal bool   // the caller has one
}

func layerCases() []layerCase {
	const closed = `{"filesystem": {"denyRead": ["./d"], "denyWrite": ["./a"], "allowWrite": ["."]}}`
	return []layerCase{
		{layer: "mounts", name: "a denied file", settings: closed, try: "$A read d/f", whole: "open: EACCES", without: "p/d/f"},
		{layer: "mounts", name: "a closed file in a writable tree", settings: closed, try: "$A open a append", whole: "EROFS", without: "ok"},
		{layer: "mounts", name: "a hook", settings: closed, try: "$A open .git/hooks/new create", whole: "EROFS", without: "ok"},
		{layer: "mounts", name: "the repository's place", settings: closed, try: "$A rename .git moved", whole: "EBUSY", without: "ok"},
		{layer: "mounts", name: "the mode of a file outside", settings: closed, try: "$A chmod ~/out 0600", whole: "EROFS", without: "ok"},
		{layer: "mounts", name: "the host's processes", settings: closed, try: fmt.Sprintf("[ -e /proc/%d/comm ] && echo seen", os.Getpid()), whole: "", without: "seen"},

		// The file that the caller opened for writing lies on the host's mount, where no mask is.
		{layer: "landlock", name: "output opened again for reading", settings: closed, try: "exec 9>&2 2> /dev/null; cat < /proc/self/fd/1 >&9 || echo no >&9", caller: "$RUN 2>&1 >> d/f", whole: "no", without: "p/d/f"},
		{layer: "landlock", name: "PID 1", settings: closed, try: "$A kill 1 0", whole: "EPERM", without: "ok"},
		{layer: "landlock", name: "the caller's process group", settings: closed, try: "exec $A kill 0 9", caller: "$RUN > /dev/null; echo alive", terminal: true, whole: "alive", without: ""},

		{layer: "seccomp", name: "key rings", settings: closed, try: "$A addkey", whole: "EPERM", without: "ok|ENOSYS"},
		{layer: "seccomp", name: "local sockets", settings: closed, try: "$A unixbind s", whole: "socket: EPERM", without: "ok"},
		{layer: "seccomp", name: "io_uring", settings: closed, try: "$A iouring", whole: "ENOSYS", without: "ok|EPERM"},
		{layer: "seccomp", name: "typing into the terminal", settings: closed, try: "$A terminal 0x5412", terminal: true, whole: "EPERM", without: "ok|EIO"},
		{layer: "seccomp", name: "another process's memory", settings: closed, try: "$A tracechild", whole: "EPERM", without: "ok"},
	}
}

// A layer whose removal no test notices is decoration.
func TestEveryLayerCounts(t *testing.T) {
	testkit.NeedFull(t)
	for _, layer := range []string{"mounts", "landlock", "seccomp"} {
		t.Run(layer, func(t *testing.T) {
			less := testkit.BinaryWithout(t, layer)
			tried := 0
			for _, c := range layerCases() {
				if c.layer != layer {
					continue
				}
				tried++
				t.Run(c.name, func(t *testing.T) {
					if got := c.run(t, ""); !fits(got, c.whole) {
						t.Errorf("the whole program prints %q, want %q", got, c.whole)
					}
					if got := c.run(t, less); !fits(got, c.without) {
						t.Errorf("without %s it prints %q, want %q", layer, got, c.without)
					}
				})
			}
			if tried < 3 {
				t.Errorf("only %d cases", tried)
			}
		})
	}
}

// run returns what the caller's shell prints. bin "" is the whole program.
func (c layerCase) run(t *testing.T, bin string) string {
	t.Helper()
	w := newWorld(t)
	if bin == "" {
		bin = w.Bin
	}
	settings := settingsFile(t, w, c.settings)
	runIt := quoted([]string{bin, "run", "-q", "-s", settings, "-c", "A=" + testkit.Attempts(t) + "; " + c.try})
	line := runIt
	if c.caller != "" {
		line = strings.ReplaceAll(c.caller, "$RUN", runIt)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testkit.RunTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.P, w.Env, time.Second
	if c.terminal {
		cmd.Stdin = testkit.Terminal(t)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%q hangs: %v", line, err)
	}
	if cmd.ProcessState.ExitCode() == refused {
		t.Fatalf("%q did not start: %s", c.try, stderr.String())
	}
	return stdout.String()
}
