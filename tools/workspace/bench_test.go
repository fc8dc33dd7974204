package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

// BenchmarkList lists the directory that WORKSPACE_BENCH_DIR names, or a tree of 20,000 files.
func BenchmarkList(b *testing.B) {
	root := os.Getenv("WORKSPACE_BENCH_DIR")
	if root == "" {
		root = b.TempDir()
		for i := range 200 {
			dir := filepath.Join(root, fmt.Sprint(i))
			if err := os.Mkdir(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			for k := range 100 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(k)), nil, 0o644); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	ws, err := workspace.NewRoot(root, &judge{root: root})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	for b.Loop() {
		count := 0
		if _, err := frame.Each(ws.List(context.Background(), workspace.ListRequest{Path: "."}), func(workspace.Entry) error { count++; return nil }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(count), "entries/op")
	}
}
