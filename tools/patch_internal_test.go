package tools

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the patch is, it is refused or it applies; and no refusal is anything but a mismatch.
func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		"@@ -1 +1 @@\n-a\n+b\n", "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n", "@@ -0,0 +1 @@\n+x\n", "@@ -9999999999,1 +1 @@\n-a\n",
		"*** Begin Patch\n*** Update File: f\n@@ a\n-b\n+c\n*** End of File\n*** End Patch", "*** Begin Patch\n*** Update File: f\n+x\n*** End Patch", "GIT binary patch\nliteral 1\n",
		"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
	} {
		f.Add(seed, "a\nb\n")
		f.Add(seed, "")
		f.Add(seed, "a\nb")
	}
	f.Fuzz(func(t *testing.T, text, content string) {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Skip()
		}
		p, err := parsePatch(raw)
		if err != nil {
			return
		}
		before := []byte(content)
		const max = 1 << 16
		out, changes, err := p.apply(before, max)
		if string(before) != content {
			t.Fatalf("the content was changed to %q", before)
		}
		if err == nil && (changes < 1 || len(out) > max) {
			t.Fatalf("%d changes, %d bytes", changes, len(out))
		}
	})
}

// A change of some lines, written as an envelope and as a diff, gives the changed lines: every other line, and the missing
// final line feed, are as they were.
func TestLinePatchesChangeOnlyTheirLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		var lines []string
		for i := range n {
			lines = append(lines, strings.Repeat("l", i+1)) // all different
		}
		at := rapid.IntRange(0, n-1).Draw(t, "at")
		added := rapid.SliceOfN(rapid.StringMatching(`[a-k$\\ +*@-]{0,6}`), 0, 3).Draw(t, "added")
		bare := rapid.Bool().Draw(t, "bare") && len(added) > 0
		join := func(all []string) string {
			text := strings.Join(all, end) + end
			if bare {
				text = strings.TrimSuffix(text, end)
			}
			if len(all) == 0 {
				text = ""
			}
			return text
		}
		if bare && end == "\r\n" && at == n-1 {
			return // the last line has no CR, and an envelope cannot say so
		}
		content := join(lines)
		want := join(append(append(append([]string{}, lines[:at]...), added...), lines[at+1:]...))
		text := "*** Begin Patch\n*** Update File: f\n@@\n-" + lines[at] + strings.TrimSuffix(end, "\n") + "\n"
		for _, line := range added {
			text += "+" + line + strings.TrimSuffix(end, "\n") + "\n"
		}
		text += "*** End Patch"
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parsePatch(raw)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got, _, err := p.apply([]byte(content), 1<<20)
		if err != nil || !bytes.Equal(got, []byte(want)) {
			t.Fatalf("%q on %q: %q, %v; want %q", text, content, got, err, want)
		}
	})
}
