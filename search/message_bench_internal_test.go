package search

import (
	"bytes"
	"io"
	"testing"
)

// BenchmarkMessages reads what ripgrep writes for a pattern that is common.
func BenchmarkMessages(b *testing.B) {
	const line = `{"type":"match","data":{"path":{"text":"./cmd/compile/internal/ssa/rewrite.go"},"lines":{"text":"func rewriteValue(v *Value) bool {\n"},"line_number":1234,"absolute_offset":56789,"submatches":[{"match":{"text":"func "},"start":0,"end":5}]}}` + "\n"
	data := bytes.Repeat([]byte(line), 10_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		m := newMessages(bytes.NewReader(data))
		n := 0
		for ; m.next() != io.EOF; n++ {
			_ = m.match("x")
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
}
