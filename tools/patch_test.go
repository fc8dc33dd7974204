package tools_test

import (
	"strings"
	"testing"
)

func TestFindAndReplace(t *testing.T) {
	b := newBench(t, openSettings, nil)
	for _, c := range []struct {
		content string
		patch   args
		want    string // the content, or the label of the refusal
		says    string
	}{
		{"one two", args{"find": "two", "replace": "2"}, "one 2", ""},
		{"one", args{"find": "two", "replace": "2"}, "patch-mismatch", "does not occur"},
		{"aXbXc", args{"find": "X", "replace": "-"}, "patch-mismatch", "occurs 2 times"},
		{"aXbXc", args{"find": "X", "replace": "-", "all": true}, "a-b-c", ""},
		{"aXbXc", args{"find": "X", "replace": "-", "all": false}, "patch-mismatch", "occurs 2 times"},
		{"aaa", args{"find": "aa", "replace": "b"}, "patch-mismatch", "occurs 2 times"},
		{"aaaa", args{"find": "aa", "replace": "aaa", "all": true}, "aaaaaa", ""},
		{"a.c abc", args{"find": "a.c", "replace": "x"}, "x abc", ""},
		{"a\r\nb\r\n", args{"find": "a\nb", "replace": "x"}, "patch-mismatch", "end in CRLF"},
		{"a\r\nb\r\n", args{"find": "a\r\nb", "replace": "x"}, "x\r\n", ""},
		{"x", args{"find": "x", "replace": "x"}, "x", ""},
		{"Case", args{"find": "case", "replace": "x"}, "patch-mismatch", "does not occur"},
	} {
		id := b.ok("create_media", args{"content": c.content})["id"]
		got, err := b.call("apply_patch", args{"media_id": id, "patch": c.patch})
		have := label(err)
		if err == nil {
			have = b.medium(got["id"])
		}
		if have != c.want || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q %v: %q (%v), want %q", c.content, c.patch, have, err, c.want)
		}
		if b.medium(id) != c.content {
			t.Errorf("%q %v: the old medium became %q", c.content, c.patch, b.medium(id))
		}
	}
}

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

func TestLinePatches(t *testing.T) {
	b := newBench(t, openSettings, nil)
	for name, c := range map[string]struct {
		content, patch, want, says string
	}{
		"unified":                    {tenLines, "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n", strings.Replace(tenLines, "3", "three", 1), ""},
		"unified, bare hunk":         {tenLines, "@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n", strings.Replace(tenLines, "3", "three", 1), ""},
		"unified, no final feed":     {tenLines, "@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4", strings.Replace(tenLines, "3", "three", 1), ""},
		"unified, git header":        {tenLines, "diff --git a/x b/x\nindex 111..222 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@ func\n-1\n+one\n", "one" + tenLines[1:], ""},
		"unified, two hunks":         {tenLines, "@@ -1,2 +1,3 @@\n 1\n+1.5\n 2\n@@ -9,2 +10,1 @@\n 9\n-10\n", "1\n1.5\n2\n3\n4\n5\n6\n7\n8\n9\n", ""},
		"unified, other line":        {tenLines, "@@ -7,2 +7,2 @@\n 2\n-3\n+three\n", strings.Replace(tenLines, "3", "three", 1), ""},
		"unified, stands twice":      {"a\nb\na\nb\n", "@@ -9 +9 @@\n-a\n+x\n", "patch-mismatch", "stand there 2 times"},
		"unified, twice, line given": {"a\nb\na\nb\n", "@@ -3 +3 @@\n-a\n+x\n", "a\nb\nx\nb\n", ""},
		"unified, absent":            {tenLines, "@@ -2 +2 @@\n-two\n+2\n", "patch-mismatch", `the first is "two"`},
		"unified, insert":            {tenLines, "@@ -3,0 +4,1 @@\n+3.5\n", strings.Replace(tenLines, "3\n", "3\n3.5\n", 1), ""},
		"unified, insert at the top": {tenLines, "@@ -0,0 +1,1 @@\n+0\n", "0\n" + tenLines, ""},
		"unified, insert into none":  {"", "@@ -0,0 +1,1 @@\n+0\n", "0\n", ""},
		"unified, insert beyond":     {tenLines, "@@ -30,0 +31,1 @@\n+x\n", "patch-mismatch", "place to insert"},
		"unified, no feed before":    {"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n", "a\nc\n", ""},
		"unified, no feed after":     {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n", "a\nc", ""},
		"unified, feed claimed":      {"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "patch-mismatch", "do not stand there"},
		"unified, CRLF":              {"a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n", "a\r\nc\r\n", ""},
		"unified, CRLF missing":      {"a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "patch-mismatch", "end in CRLF"},
		"unified, wrong count":       {tenLines, "@@ -1,5 +1,1 @@\n-1\n+one\n", "patch-mismatch", "not a well-formed"},
		"unified, out of order":      {tenLines, "@@ -9 +9 @@\n-9\n+nine\n@@ -1 +1 @@\n-1\n+one\n", "patch-mismatch", "Change 2 of the patch"},
		"unified, two files":         {tenLines, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+one\n--- a/y\n+++ b/y\n@@ -2 +2 @@\n-2\n+two\n", "patch-mismatch", "changes 2 files"},
		"unified, new file":          {"", "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n", "patch-mismatch", "only the lines"},
		"unified, rename":            {tenLines, "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-1\n+one\n", "patch-mismatch", "only the lines"},
		"binary":                     {tenLines, "diff --git a/x b/x\nindex 111..222 100644\nGIT binary patch\nliteral 1\nIcmZ\n\n", "patch-mismatch", "binary patch is not taken"},
		"no patch":                   {tenLines, "please change 1 to one", "patch-mismatch", "neither a unified diff"},
		"envelope":                   {tenLines, "*** Begin Patch\n*** Update File: f\n@@\n 2\n-3\n+three\n 4\n*** End Patch", strings.Replace(tenLines, "3", "three", 1), ""},
		"envelope, final feed":       {tenLines, "*** Begin Patch\n*** Update File: f\n@@\n-3\n+three\n*** End Patch\n", strings.Replace(tenLines, "3", "three", 1), ""},
		"envelope, no @@":            {tenLines, "*** Begin Patch\n*** Update File: f\n-3\n+three\n*** End Patch\n", strings.Replace(tenLines, "3", "three", 1), ""},
		"envelope, two changes":      {tenLines, "*** Begin Patch\n*** Update File: f\n@@\n-3\n+three\n@@\n-9\n*** End Patch\n", "1\n2\nthree\n4\n5\n6\n7\n8\n10\n", ""},
		"envelope, ambiguous":        {"a\nb\na\nb\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+x\n*** End Patch\n", "patch-mismatch", "stand there 2 times"},
		"envelope, line after @@":    {"f() {\n  a\n}\ng() {\n  a\n}\n", "*** Begin Patch\n*** Update File: f\n@@ g() {\n-  a\n+  b\n*** End Patch\n", "f() {\n  a\n}\ng() {\n  b\n}\n", ""},
		"envelope, indented @@":      {"  g() {\n  a\n  }\n", "*** Begin Patch\n*** Update File: f\n@@ g() {\n-  a\n+  b\n*** End Patch\n", "  g() {\n  b\n  }\n", ""},
		"envelope, two @@":           {"A\nm\nx\nB\nm\nx\n", "*** Begin Patch\n*** Update File: f\n@@ B\n@@ m\n-x\n+y\n*** End Patch\n", "A\nm\nx\nB\nm\ny\n", ""},
		"envelope, @@ is not there":  {"A\nx\n", "*** Begin Patch\n*** Update File: f\n@@ B\n-x\n+y\n*** End Patch\n", "patch-mismatch", `"B", is not there`},
		"envelope, at the end":       {"a\nb\na\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+x\n*** End of File\n*** End Patch\n", "a\nb\nx\n", ""},
		"envelope, add at the end":   {"a\n", "*** Begin Patch\n*** Update File: f\n@@\n+b\n*** End of File\n*** End Patch\n", "a\nb\n", ""},
		"envelope, add after @@":     {"a\nb\n", "*** Begin Patch\n*** Update File: f\n@@ a\n+x\n*** End Patch\n", "a\nx\nb\n", ""},
		"envelope, bare end":         {"a\nb", "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch\n", "a\nc", ""},
		"envelope, add to bare end":  {"a\nb", "*** Begin Patch\n*** Update File: f\n@@\n+c\n*** End Patch\n", "a\nb\nc", ""},
		"envelope, all away":         {"a\nb", "*** Begin Patch\n*** Update File: f\n@@\n-a\n-b\n*** End Patch\n", "", ""},
		"envelope, empty context":    {"a\n\nb\n", "*** Begin Patch\n*** Update File: f\n@@\n a\n\n-b\n+c\n*** End Patch\n", "a\n\nc\n", ""},
		"envelope, CRLF":             {"a\r\nb\r\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\r\n+c\r\n*** End Patch\n", "c\r\nb\r\n", ""},
		"envelope, CRLF missing":     {"a\r\nb\r\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+c\n*** End Patch\n", "patch-mismatch", "end in CRLF"},
		"envelope, dollars":          {"a\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+$$1 $& \\1\n*** End Patch\n", "$$1 $& \\1\n", ""},
		"envelope, no end":           {"a\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n", "patch-mismatch", "end with *** End Patch"},
		"envelope, nothing":          {"a\n", "*** Begin Patch\n*** Update File: f\n*** End Patch\n", "patch-mismatch", "changes nothing"},
		"envelope, context only":     {"a\n", "*** Begin Patch\n*** Update File: f\n@@\n a\n*** End Patch\n", "patch-mismatch", "changes nothing"},
		"envelope, add file":         {"a\n", "*** Begin Patch\n*** Add File: f\n+a\n*** End Patch\n", "patch-mismatch", "only the lines"},
		"envelope, delete file":      {"a\n", "*** Begin Patch\n*** Delete File: f\n*** End Patch\n", "patch-mismatch", "only the lines"},
		"envelope, move":             {"a\n", "*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@\n-a\n+b\n*** End Patch\n", "patch-mismatch", "Line 3 of the patch"},
		"envelope, two files":        {"a\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** Update File: g\n@@\n-a\n+b\n*** End Patch\n", "patch-mismatch", "patch each medium by itself"},
		"envelope, no mark":          {"a\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\nb\n*** End Patch\n", "patch-mismatch", "Line 5 of the patch begins with none"},
		"envelope, more after end":   {"a\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n*** End of File\n+b\n*** End Patch\n", "patch-mismatch", "after *** End of File"},
	} {
		id := b.ok("create_media", args{"content": c.content})["id"]
		got, err := b.call("apply_patch", args{"media_id": id, "patch": c.patch})
		have := label(err)
		if err == nil {
			have = b.medium(got["id"])
		}
		if have != c.want || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q (%v), want %q (%s)", name, have, err, c.want, c.says)
		}
	}
}
