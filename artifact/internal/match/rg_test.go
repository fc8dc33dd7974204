package match

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkAgainstRipgrep reports the median time of a search of one big file as a ratio of ripgrep's on the same
// file, with line numbers on both sides. It wants the file's name in MATCH_BENCH_FILE, and rg.
func BenchmarkAgainstRipgrep(b *testing.B) {
	name := os.Getenv("MATCH_BENCH_FILE")
	if name == "" {
		b.Skip("MATCH_BENCH_FILE names no file")
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, expr, flags string }{
		{"rare literal", "zanzibarneedle", ""},
		{"common literal", "timeout", ""},
		{"phrase", "context deadline exceeded", ""},
		{"on one line of 19", "return", ""},
		{"literal any case", "timeout", "i"},
		{"rare literal any case", "zanzibarneedle", "i"},
		{"literal in regexp", "time[a-z]+ exceeded", ""},
		{"alternatives", "zanzibar|deadline exceeded|EWOULDBLOCK", ""},
		{"literal then class", `timeout \w+ [0-9]+`, ""},
		{"no literal", "[0-9]{7,}", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := compile(b, c.expr, c.flags)
			var ours, theirs []float64
			for b.Loop() {
				start := time.Now()
				args := []string{"-n", "-e", c.expr, name}
				if c.flags == "i" {
					args = append([]string{"-i"}, args...)
				}
				cmd := exec.CommandContext(b.Context(), "rg", args...)
				cmd.Stdout = io.Discard
				if err := cmd.Run(); err != nil {
					if ee, ok := err.(*exec.ExitError); !ok || ee.ExitCode() != 1 {
						b.Fatal(err)
					}
				}
				theirs = append(theirs, time.Since(start).Seconds())
				start = time.Now()
				err := p.Scan(b.Context(), f, Span{End: info.Size()}, Limits{}, func(Match) bool { return true })
				if err != nil {
					b.Fatal(err)
				}
				ours = append(ours, time.Since(start).Seconds())
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			m := len(ours) / 2
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ours[m]*1e3, "ours-ms")
			b.ReportMetric(theirs[m]*1e3, "rg-ms")
			b.ReportMetric(ours[m]/theirs[m], "ratio")
		})
	}
}
