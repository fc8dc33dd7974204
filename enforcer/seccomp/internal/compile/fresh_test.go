//go:build seccomp

package compile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/syscalls"
)

const packageDir = "../.."

// The bytes depend on the library: with another version the comparison has nothing to say.
func requireSameLibrary(t *testing.T) {
	t.Helper()
	if LibraryVersion() == syscalls.LibraryVersion {
		return
	}
	err := fmt.Errorf("libseccomp %s is installed, the programs are of %s: %w", LibraryVersion(), syscalls.LibraryVersion, errors.ErrUnsupported)
	if strings.Contains(os.Getenv("SANDBOXCTL_TEST_REQUIRE"), "libseccomp") {
		t.Fatal(err)
	}
	t.Skip(err)
}

func freshTable(t *testing.T) []syscalls.Row {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	table, err := Table(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestGeneratedFilesAreFresh(t *testing.T) {
	requireSameLibrary(t)
	table := freshTable(t)
	source, err := TableSource(table)
	if err != nil {
		t.Fatal(err)
	}
	compareFile(t, filepath.Join(packageDir, "internal/syscalls/table_generated.go"), source)
	for _, arch := range Architectures() {
		files, err := Programs(arch, table)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(packageDir, "programs", arch)
		kept, err := fs.Glob(os.DirFS(dir), "*")
		if err != nil {
			t.Fatal(err)
		}
		if made := slices.Sorted(maps.Keys(files)); !slices.Equal(kept, made) {
			t.Errorf("%s holds %q, the generator makes %q", dir, kept, made)
		}
		for name, program := range files {
			compareFile(t, filepath.Join(dir, name), program)
		}
	}
}

func compareFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what a fresh compile gives: run go generate ./enforcer/seccomp", path)
	}
}

// A refusal whose name no source knows must stop the generator: skipped, it would be a hole.
func TestUnresolvableRefusalIsAnError(t *testing.T) {
	table := slices.DeleteFunc(freshTable(t), func(r syscalls.Row) bool { return r.Name == "open_tree_attr" })
	if _, err := Programs("amd64", table); err == nil || !strings.Contains(err.Error(), `"open_tree_attr"`) {
		t.Errorf("without open_tree_attr: %v", err)
	}
}
