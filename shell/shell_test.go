package shell_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/sandboxctl/sandboxctl/artifact"
	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"github.com/sandboxctl/sandboxctl/shell"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

func TestMain(m *testing.M) {
	enforcer.RunInitStage()
	os.Exit(m.Run())
}

// world is a workspace, a shell in it, and the store of its output.
type world struct {
	*shell.Shell
	dir      string
	store    *artifact.Store
	enforcer *enforcer.Enforcer
}

const writable = `{"filesystem": {"allowWrite": ["."]}}`

func newWorld(t testing.TB, settings string, change ...func(*shell.Options)) world {
	t.Helper()
	if err := enforcer.Supported(t.Context()); err != nil {
		testkit.Lacking(t, "full", err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "shell-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := exec.Command("chmod", "-R", "u+rwx", dir).Run(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s, err := srtconfig.Parse([]byte(settings), "settings.json")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := srtconfig.Derive(t.Context(), s, srtconfig.Host{Cwd: dir, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	w := world{dir: dir}
	if w.enforcer, err = enforcer.New(rules); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.enforcer.Close() })
	if w.store, err = artifact.NewStore(artifact.Options{Dir: "/var/tmp"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	o := shell.Options{Enforcer: w.enforcer, Root: dir, Spools: w.store}
	for _, c := range change {
		c(&o)
	}
	if w.Shell, err = shell.New(o); err != nil {
		t.Fatal(err)
	}
	return w
}

// run runs a command that has to have run.
func (w world) run(t testing.TB, command string) shell.Result {
	t.Helper()
	r, err := w.Run(t.Context(), shell.Request{Command: command})
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return r
}
