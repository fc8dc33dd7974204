package search_test

import (
	"io/fs"
	"os"
	"os/exec"
	"testing"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"github.com/sandboxctl/sandboxctl/search"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

func TestMain(m *testing.M) {
	enforcer.RunInitStage()
	os.Exit(m.Run())
}

func TestMemoryConforms(t *testing.T) {
	search.Conformance(t, func(_ *testing.T, tree fs.FS) search.Search { return search.NewMemory(tree) })
}

func TestRipgrepConforms(t *testing.T) {
	testkit.NeedProgram(t, "rg")
	search.Conformance(t, func(t *testing.T, tree fs.FS) search.Search {
		dir := workspaceDir(t)
		if err := os.CopyFS(dir, tree); err != nil {
			t.Fatal(err)
		}
		return open(t, dir, `{}`)
	})
}

// workspaceDir is outside of /tmp, where the sandbox has its own.
func workspaceDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "search-test-")
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
	return dir
}

func settingsOf(t testing.TB, text string) *srtconfig.Settings {
	t.Helper()
	s, err := srtconfig.Parse([]byte(text), "settings.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open makes a ripgrep search of dir in a sandbox under settings.
func open(t testing.TB, dir, settings string) *search.Ripgrep {
	t.Helper()
	if err := enforcer.Supported(t.Context()); err != nil {
		testkit.Lacking(t, "full", err)
	}
	rules, err := srtconfig.Derive(t.Context(), settingsOf(t, settings), srtconfig.Host{Cwd: dir, Home: "/var/empty-home"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := enforcer.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return over(t, dir, rules, search.Sandboxed(e))
}

func over(t testing.TB, dir string, rules *srtconfig.Rules, runner search.Runner) *search.Ripgrep {
	t.Helper()
	judge, err := evaluator.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	s, err := search.NewRipgrep(search.RipgrepOptions{Root: dir, Runner: runner, Judge: judge, Program: rules.Ripgrep()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
