package escape

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"golang.org/x/sys/unix"
)

// A server that listens on every address inside is reached from inside, and from nowhere else.
func TestServersInsideAreNotReachedFromOutside(t *testing.T) {
	testkit.NeedFull(t)
	w, settings := newGround(t)
	a := testkit.Attempts(t)
	port, stop := serve(t, w, w.Bin, "run", "-s", settings, "--", a, "listen")
	for _, address := range append(hostAddresses(t), "127.0.0.1") {
		if c, err := net.Dial("tcp", net.JoinHostPort(address, port)); !errors.Is(err, unix.ECONNREFUSED) {
			t.Errorf("%s: a connection from outside: %v, want a refusal", address, err)
			if err == nil {
				c.Close()
			}
		}
	}
	stop()
	port, stop = serve(t, w, a, "listen")
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatalf("control: outside: %v", err)
	}
	c.Close()
	stop()

	const within = `mkfifo in out; (exec ATTEMPTS listen < in > out) & exec 8> in; read port < out; ATTEMPTS tcp 127.0.0.1 $port`
	if r := inside(t, w, standard{}, settings, strings.ReplaceAll(within, "ATTEMPTS", a)); r.Stdout != "ok\n" {
		t.Errorf("a connection from inside: %q, %q", r.Stdout, r.Stderr)
	}
}

// serve starts a server that prints its port first and ends with its standard input.
func serve(t *testing.T, w *testkit.World, name string, args ...string) (port string, stop func()) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = w.P, w.Env
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		stdin.Close()
		if _, err := io.Copy(io.Discard, stdout); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the server says %q: %v", line, err)
	}
	return strings.TrimSpace(line), stop
}

func hostAddresses(t *testing.T) []string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			out = append(out, ip.IP.String())
		}
	}
	return out
}
