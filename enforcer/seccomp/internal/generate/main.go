//go:build seccomp

// Command generate compiles the filter's programs and the table of system calls. Run it by `go generate` in
// enforcer/seccomp; it needs cgo, a C compiler and libseccomp's headers, and writes below the working directory.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sandboxctl/sandboxctl/enforcer/seccomp/internal/compile"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		return fmt.Errorf("find golang.org/x/sys: %w", err)
	}
	table, err := compile.Table(strings.TrimSpace(string(out)))
	if err != nil {
		return fmt.Errorf("table of system calls: %w", err)
	}
	source, err := compile.TableSource(table)
	if err != nil {
		return err
	}
	if err := os.WriteFile("internal/syscalls/table_generated.go", source, 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	for _, arch := range compile.Architectures() {
		files, err := compile.Programs(arch, table)
		if err != nil {
			return fmt.Errorf("programs for %s: %w", arch, err)
		}
		dir := filepath.Join("programs", arch)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("directory for the programs: %w", err)
		}
		for name, program := range files {
			if err := os.WriteFile(filepath.Join(dir, name), program, 0o644); err != nil {
				return fmt.Errorf("write a program: %w", err)
			}
			fmt.Printf("%s/%s: %d instructions\n", dir, name, len(program)/8)
		}
	}
	return nil
}
