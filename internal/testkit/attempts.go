package testkit

import (
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

//go:embed attempts/*.c attempts/*.h
var attemptSources embed.FS

var attempts struct {
	once sync.Once
	dir  string
	out  []byte
	err  error
}

// Attempts returns the path of a small static program, compiled once for each test process, whose subcommands try to get
// out of a sandbox one way each. A subcommand prints one line: "ok", the name of an errno, "STEP: ERRNO" when a step before
// the attempt itself failed, or what it found. Without a C compiler the test is skipped or fails, see [Lacking].
//
// The program lies outside of /tmp, so that a sandbox shows it. [Main] removes it.
func Attempts(t testing.TB) string {
	t.Helper()
	gcc := NeedProgram(t, "gcc")
	attempts.once.Do(func() { attempts.dir, attempts.out, attempts.err = compileAttempts(gcc) })
	if attempts.err != nil {
		t.Fatalf("compile the attempts: %v\n%s", attempts.err, attempts.out)
	}
	return filepath.Join(attempts.dir, "attempts")
}

func compileAttempts(gcc string) (dir string, out []byte, err error) {
	if dir, err = os.MkdirTemp("/var/tmp", "sandboxctl-attempts-"); err != nil {
		return "", nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return dir, nil, err
	}
	if err := os.CopyFS(dir, attemptSources); err != nil {
		return dir, nil, err
	}
	sources, err := filepath.Glob(filepath.Join(dir, "attempts", "*.c"))
	if err != nil {
		return dir, nil, err
	}
	program := filepath.Join(dir, "program")
	args := []string{"-static", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-return-type", "-o", program}
	if out, err = exec.Command(gcc, append(args, sources...)...).CombinedOutput(); err != nil {
		return dir, out, err
	}
	if err := os.RemoveAll(filepath.Join(dir, "attempts")); err != nil {
		return dir, out, err
	}
	return dir, out, os.Rename(program, filepath.Join(dir, "attempts"))
}

// Main runs the tests of a package and removes what this package made for the whole process. It returns the exit status.
func Main(m *testing.M) int {
	code := m.Run()
	for _, dir := range []string{attempts.dir, filepath.Dir(built.path)} {
		if dir != "" && dir != "." {
			_ = os.RemoveAll(dir)
		}
	}
	return code
}
