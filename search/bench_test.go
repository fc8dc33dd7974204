package search_test

import (
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/search"
	"github.com/sandboxctl/sandboxctl/tools/frame"
)

// BenchmarkGoSource compares a search of the Go sources with ripgrep alone, in turns. The metrics are medians, in
// milliseconds, and the ratio of the search to ripgrep alone and the start of a sandbox.
func BenchmarkGoSource(b *testing.B) {
	root, err := exec.CommandContext(b.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(root)), "src")
	rules := deriveIn(b, dir)
	e, err := enforcer.New(rules)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	s := over(b, dir, rules, search.Sandboxed(e))
	for _, pattern := range []string{"sync.Mutex", "xyzzynotthere", `func \(.*\) Close\(`, "func "} {
		b.Run(pattern, func(b *testing.B) {
			var bare, sandboxed, start []float64
			for b.Loop() {
				bare = append(bare, took(func() { runBare(b, dir, pattern) }))
				sandboxed = append(sandboxed, took(func() {
					_, err := frame.Each(s.SearchContent(b.Context(), search.ContentQuery{Pattern: pattern}), func(search.Match) error { return nil })
					if err != nil {
						b.Fatal(err)
					}
				}))
				start = append(start, took(func() { runNothing(b, e) }))
			}
			b.ReportMetric(median(bare), "bare-ms")
			b.ReportMetric(median(sandboxed), "search-ms")
			b.ReportMetric(median(start), "start-ms")
			b.ReportMetric(median(sandboxed)/(median(bare)+median(start)), "ratio")
		})
	}
}

func took(f func()) float64 {
	begin := time.Now()
	f()
	return float64(time.Since(begin)) / float64(time.Millisecond)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func runNothing(b *testing.B, e *enforcer.Enforcer) {
	x, err := e.Run(b.Context(), enforcer.Operation{Argv: []string{"true"}})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := x.Wait(); err != nil {
		b.Fatal(err)
	}
}

func runBare(b *testing.B, dir, pattern string) {
	cmd := exec.CommandContext(b.Context(), "rg", "--no-config", "--line-number", "--regexp="+pattern, "./")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		b.Fatal(err)
	}
	_ = cmd.Wait() // 1 when nothing matches
}
