package testkit

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// RequireVariable lists, with commas, the features and programs whose absence fails a test instead of skipping it; "all"
// stands for every one. CI sets it.
const RequireVariable = "SANDBOXCTL_TEST_REQUIRE"

// Lacking skips the test because of a missing feature or program, or fails it where that one is required.
func Lacking(t testing.TB, what string, why any) {
	t.Helper()
	required := strings.Split(os.Getenv(RequireVariable), ",")
	if slices.Contains(required, what) || slices.Contains(required, "all") {
		t.Fatalf("%s is required here and missing: %v", what, why)
	}
	t.Skipf("%s is missing: %v", what, why)
}

// NeedProgram returns the path of a program; without it the test is skipped or fails, see [Lacking].
func NeedProgram(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Lacking(t, name, err)
	}
	return path
}

// NeedFull makes sure that this host gives tier full; without it the test is skipped or fails, see [Lacking].
func NeedFull(t testing.TB) {
	t.Helper()
	out, err := exec.Command(Binary(t), "doctor").CombinedOutput()
	if err != nil {
		Lacking(t, "full", string(out))
	}
}
