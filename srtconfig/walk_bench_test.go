package srtconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkDerive measures what patterns add to a start: 300,000 files in 3,000 directories, with none and with 40
// patterns. The tree lies in memory, where /dev/shm is one.
func BenchmarkDerive(b *testing.B) {
	host := benchTree(b, 3000, 100)
	for _, patterns := range []int{0, 1, 40} {
		settings := `{"filesystem": {"allowWrite": ["."], "denyRead": [`
		for i := range patterns {
			if i > 0 {
				settings += ", "
			}
			settings += fmt.Sprintf(`%q`, benchPattern(i))
		}
		s, err := Parse([]byte(settings+"]}}"), "s.json")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("patterns=%d", patterns), func(b *testing.B) {
			var stats DeriveStats
			for b.Loop() {
				rules, err := Derive(b.Context(), s, host)
				if err != nil {
					b.Fatal(err)
				}
				stats = rules.Stats()
			}
			b.ReportMetric(float64(stats.Walks), "walks")
			b.ReportMetric(float64(stats.Entries), "names")
		})
	}
}

func benchPattern(i int) string {
	switch i % 5 {
	case 0:
		return fmt.Sprintf("**/name%d", i)
	case 1:
		return fmt.Sprintf("**/*.pem%d", i)
	case 2:
		return fmt.Sprintf("**/.env%d*", i)
	case 3:
		return fmt.Sprintf("**/secrets%d/**/*.k[ea]y", i)
	}
	return fmt.Sprintf("**/id_*_%d", i)
}

func benchTree(b *testing.B, dirs, files int) Host {
	b.Helper()
	base := "/dev/shm"
	if info, err := os.Stat(base); err != nil || !info.IsDir() {
		base = b.TempDir()
	}
	root, err := os.MkdirTemp(base, "srtconfig-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(root) })
	cwd := filepath.Join(root, "p")
	for i := range dirs {
		dir := filepath.Join(cwd, fmt.Sprintf("pkg%d/lib%d/dir%d", i%30, i%300, i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range files {
			f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("module_%d.js", j)), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	}
	return Host{Home: root, Cwd: cwd}
}

// BenchmarkStart measures what a small session pays for its settings: parse, resolve, protect.
func BenchmarkStart(b *testing.B) {
	host := benchTree(b, 10, 2)
	text, err := os.ReadFile("testdata/good/claude-code.json")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := Parse(text, "s.json")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Derive(b.Context(), s, host); err != nil {
			b.Fatal(err)
		}
	}
}
