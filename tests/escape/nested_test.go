package escape

import (
	"os"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// A sandbox inside a sandbox has nothing to confine with. It says so, and starts nothing.
func TestASandboxInsideIsRefused(t *testing.T) {
	testkit.NeedFull(t)
	for name, more := range map[string]map[string]any{
		"plain":                        nil,
		"with nested namespaces":       {"sandboxctl": map[string]any{"allowNestedNamespaces": true}},
		"with ptrace and every socket": {"sandboxctl": map[string]any{"allowPtrace": true}, "network": map[string]any{"allowAllUnixSockets": true}},
	} {
		t.Run(name, func(t *testing.T) {
			w, settings := newGroundWith(t, more)
			inner := shownBinary(t, w)
			r := w.Run("run", "-q", "-s", settings, "--", inner, "run", "--", "/bin/echo", "started")
			if r.Code != refused || r.Stdout != "" || !oneLine(r.Stderr) {
				t.Errorf("code %d, stdout %q, stderr %q, want %d and one line", r.Code, r.Stdout, r.Stderr, refused)
			}
			if !strings.Contains(r.Stderr, "sandbox") || !strings.Contains(r.Stderr, ";") {
				t.Errorf("the line names no cause and remedy: %q", r.Stderr)
			}
			if r := w.Outside(inner + " run -- /bin/echo started"); r.Stdout != "started\n" {
				t.Errorf("control: outside it prints %q, %q", r.Stdout, r.Stderr)
			}
		})
	}
}

// shownBinary copies sandboxctl to where a sandbox shows it, whatever directory it was built in.
func shownBinary(t *testing.T, w *testkit.World) string {
	t.Helper()
	b, err := os.ReadFile(w.Bin)
	if err != nil {
		t.Fatal(err)
	}
	path := w.Write("bin/sandboxctl", string(b))
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
