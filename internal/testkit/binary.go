package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// BinaryVariable names a built sandboxctl for tests to use. Without it they build one.
const BinaryVariable = "SANDBOXCTL_BIN"

var built struct {
	once sync.Once
	path string
	out  []byte
	err  error
}

// Binary returns the path of sandboxctl, built once for each test process.
func Binary(t testing.TB) string {
	t.Helper()
	if p := os.Getenv(BinaryVariable); p != "" {
		return p
	}
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "sandboxctl-test-bin")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "sandboxctl")
		built.out, built.err = build(built.path)
	})
	if built.err != nil {
		t.Fatalf("build sandboxctl: %v\n%s", built.err, built.out)
	}
	return built.path
}

// BuildWithout builds a sandboxctl that leaves a kernel layer out ("mounts", "landlock", "seccomp"), for the tests that show
// that each layer counts.
func BuildWithout(t testing.TB, layer string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sandboxctl")
	if out, err := build(path, "-tags", "without_"+layer); err != nil {
		t.Fatalf("build without %s: %v\n%s", layer, err, out)
	}
	return path
}

// BinaryWithout returns the path of a sandboxctl that leaves a kernel layer out: the one that SANDBOXCTL_BIN_WITHOUT_<LAYER> names
// (SANDBOXCTL_BIN_WITHOUT_MOUNTS, for one), as a user without Go cannot build it, else one made by [BuildWithout].
func BinaryWithout(t testing.TB, layer string) string {
	t.Helper()
	if p := os.Getenv(BinaryVariable + "_WITHOUT_" + strings.ToUpper(layer)); p != "" {
		return p
	}
	return BuildWithout(t, layer)
}

func build(path string, flags ...string) ([]byte, error) {
	// Without the stamp it builds for a user to whom git does not open the repository, too.
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-o", path}, flags...)
	cmd := exec.Command("go", append(args, "./cmd/sandboxctl")...)
	cmd.Dir = Root()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd.CombinedOutput()
}

// Root is the top directory of the source tree.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}
