package tools

import (
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// parseUnified reads a unified diff of one file. The names in it are not used. A hunk that does not stand at its line is
// looked for elsewhere, and taken where it fits exactly once.
func parseUnified(text string) (patch, error) {
	if strings.HasPrefix(text, "GIT binary patch\n") || strings.Contains(text, "\nGIT binary patch\n") {
		// Also: the parser would inflate what it holds, without a bound.
		return nil, mismatch("A binary patch is not taken.")
	}
	if strings.HasPrefix(text, "@@") {
		text = "--- a\n+++ b\n" + text
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	files, _, err := gitdiff.Parse(strings.NewReader(text))
	if err != nil {
		e := mismatch("It is not a well-formed unified diff.")
		e.Cause = err
		return nil, e
	}
	switch {
	case len(files) == 0:
		return nil, mismatch("It is neither a unified diff nor *** Begin Patch.")
	case len(files) > 1:
		return nil, mismatch(outcome.Number("It changes ", int64(len(files)), " files, and a medium is one. Patch each by itself."))
	}
	f := files[0]
	if f.IsNew || f.IsDelete || f.IsRename || f.IsCopy || f.IsBinary || f.OldMode != f.NewMode && f.NewMode != 0 && f.OldMode != 0 {
		return nil, mismatch("It makes, removes, renames or re-modes a file; only the lines of a medium can be changed.")
	}
	if len(f.TextFragments) == 0 {
		return nil, mismatch("It changes nothing.")
	}
	hs := make(hunks, 0, len(f.TextFragments))
	for _, fragment := range f.TextFragments {
		h := hunk{at: int(fragment.OldPosition - 1)}
		if fragment.OldLines == 0 {
			h.at = int(fragment.OldPosition) // "@@ -3,0" inserts after line 3
		}
		if fragment.OldPosition < 0 || fragment.OldPosition > 1<<31 || h.at < 0 {
			return nil, mismatch("It is not a well-formed unified diff.")
		}
		for _, line := range fragment.Lines {
			if line.Old() {
				h.old = append(h.old, []byte(line.Line))
			}
			if line.New() {
				h.new = append(h.new, []byte(line.Line))
			}
		}
		hs = append(hs, h)
	}
	return hs, nil
}
