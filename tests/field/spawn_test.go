package field

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// process is a sandboxctl that runs while the test looks.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
}

// spawn starts sandboxctl in the project.
func spawn(t *testing.T, w *testkit.World, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(w.Bin, args...), stderr: new(bytes.Buffer)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr, p.cmd.WaitDelay = w.P, w.Env, p.stderr, time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(testkit.RunTimeout, func() { _ = p.cmd.Process.Kill() })
	t.Cleanup(func() { hang.Stop(); _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	return p
}

// line waits for the next line of its output.
func (p *process) line(want string) {
	p.t.Helper()
	if got, err := p.out.ReadString('\n'); got != want {
		p.t.Fatalf("%q prints %q, %v, want %q; stderr %q", p.cmd.Args, got, err, want, p.stderr.String())
	}
}

// kill ends the launcher as the kernel would when memory is short, and waits for it and for the end of its output, which
// everything in the sandbox holds open.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if rest, err := io.ReadAll(p.out); err != nil {
		p.t.Fatalf("%q, %v", rest, err)
	}
	_ = p.cmd.Wait()
}
