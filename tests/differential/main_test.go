package differential

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sandboxctl/sandboxctl/enforcer"
)

// proberVariable tells a copy of the test binary to answer questions.
const proberVariable = "SANDBOXCTL_DIFFERENTIAL_PROBER"

func TestMain(m *testing.M) {
	enforcer.RunInitStage()
	if os.Getenv(proberVariable) != "" {
		if err := probeLoop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// proberBinary copies the test binary out of /tmp, where a sandbox does not see it.
func proberBinary(t testing.TB) string {
	t.Helper()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	where, err := os.MkdirTemp("/var/tmp", "sandboxctl-prober-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(where) })
	path := filepath.Join(where, "prober")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, self)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
