package search

import (
	"fmt"
	"strings"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

var plainTree = tree{
	"a.txt":      "one needle\ntwo\nneedle needle\n",
	"b/c.md":     "Needle\nneedle\n",
	"b/d/e.go":   "// needle.\nfunc f() {}\n",
	"b/d/f/g.go": "needle\n",
	"none.txt":   "nothing\n",
}

var optionTree = tree{
	"f":       "--pre=/bin/cat\n-x\n->\n--\n-e\nneedle\n-f f\n",
	"-x":      "dash\n",
	"--files": "dash\n",
}

var hiddenTree = tree{
	".kept":            "needle\n", // kept from being ignored, and hidden all the same
	".hidden":          "needle\n",
	".config/deep":     "needle\n",
	"seen":             "needle\n",
	".ignore":          "*.log\n/build/\n!keep.log\n!.kept\n",
	"a.log":            "needle\n",
	"keep.log":         "needle\n",
	"build/out":        "needle\n",
	"sub/build/out":    "needle\n",
	"sub/.ignore":      "*.tmp\n",
	"sub/x.tmp":        "needle\n",
	"x.tmp":            "needle\n",
	".gitignore":       "git-ignored\n", // counts in a repository only
	"git-ignored":      "needle\n",
	"repo/.git/HEAD":   "ref: refs/heads/main\n",
	"repo/.gitignore":  "git-ignored\n*.md\n",
	"repo/git-ignored": "needle\n",
	"repo/seen.md":     "needle\n",
	"repo/seen.txt":    "needle\n",
}

// nameTree holds the names that home-made translations of globs get wrong.
var nameTree = tree{
	"blog.md": "", "catalog.md": "", "template.md": "", "a.log": "", "axlog": "", "a.log.gz": "", "UPPER.LOG": "", "temp": "",
	"docs/index.md": "", "docs/deep/page.md": "", "node_modules/x/index.md": "",
	"\u00e9.txt": "", "e\u0301.txt": "", "with space.txt": "", "line\nfeed.txt": "", "-dash.txt": "", "colon:1:x.txt": "", "[id].tsx": "", "back\\slash.txt": "",
}

var linkTree = tree{"real/f": "needle\n", "link@": "real", "file@": "real/f", "dangling@": "missing"}

var byteTree = tree{
	"latin1":   "\xe9t\xe9 needle\n",
	"crlf":     "needle\r\n",
	"noeol":    "needle",
	"controls": "\tneedle \x1b[31m\"\\\u2028\n",
	"exact":    "needle" + strings.Repeat("x", MaxText-6) + "\n",
	"over":     "needle" + strings.Repeat("x", MaxText-5) + "\n",
	"far":      strings.Repeat("x", 1<<20) + "needle" + strings.Repeat("x", 1<<20) + "\n",
	"often":    strings.Repeat("needle ", 1000) + "\n",
	"binary":   "needle\x00needle\n",
}

const manyFiles = 400

func manyTree() tree {
	t := tree{}
	for i := range manyFiles {
		t[fmt.Sprintf("d%d/f%d", i%20, i)] = "needle\n"
	}
	return t
}

var contentCases = []contentCase{
	{"every match with its place", plainTree, ContentQuery{Pattern: "needle"}, []string{
		"a.txt:1:one needle:4-10", "a.txt:3:needle needle:0-6,7-13", "b/c.md:2:needle:0-6", "b/d/e.go:1:// needle.:3-9", "b/d/f/g.go:1:needle:0-6", "complete"}},
	{"nothing", plainTree, ContentQuery{Pattern: "absent"}, []string{"complete"}},
	{"an empty pattern is every line", plainTree, ContentQuery{Pattern: "", Scope: Scope{Path: "none.txt"}}, []string{
		"none.txt:1:nothing:0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7", "complete"}},
	{"below a directory", plainTree, ContentQuery{Pattern: "needle", Scope: Scope{Path: "b/d"}}, []string{
		"b/d/e.go:1:// needle.:3-9", "b/d/f/g.go:1:needle:0-6", "complete"}},
	{"in a file", plainTree, ContentQuery{Pattern: "needle", Scope: Scope{Path: "b/c.md"}}, []string{"b/c.md:2:needle:0-6", "complete"}},
	{"ignore case", plainTree, ContentQuery{Pattern: "nEEDLE", IgnoreCase: true, Scope: Scope{Path: "b/c.md"}}, []string{
		"b/c.md:1:Needle:0-6", "b/c.md:2:needle:0-6", "complete"}},
	{"a regular expression", plainTree, ContentQuery{Pattern: `^(one|func)\b`}, []string{"a.txt:1:one needle:0-3", "b/d/e.go:2:func f() {}:0-4", "complete"}},
	{"a dot is any character", plainTree, ContentQuery{Pattern: "need.e", Scope: Scope{Path: "b/d/f"}}, []string{"b/d/f/g.go:1:needle:0-6", "complete"}},
	{"literal", plainTree, ContentQuery{Pattern: "f() {", Literal: true}, []string{"b/d/e.go:2:func f() {}:5-10", "complete"}},
	{"literal without case", plainTree, ContentQuery{Pattern: "F() {", Literal: true, IgnoreCase: true}, []string{"b/d/e.go:2:func f() {}:5-10", "complete"}},
	{"literal dot", plainTree, ContentQuery{Pattern: "needle.", Literal: true}, []string{"b/d/e.go:1:// needle.:3-10", "complete"}},

	{"limit below", plainTree, ContentQuery{Pattern: "two|Needle|nothing", Scope: Scope{Limit: new(4)}}, []string{
		"a.txt:2:two:0-3", "b/c.md:1:Needle:0-6", "none.txt:1:nothing:0-7", "complete"}},
	{"limit reached and not exceeded", plainTree, ContentQuery{Pattern: "two|Needle|nothing", Scope: Scope{Limit: new(3)}}, []string{
		"a.txt:2:two:0-3", "b/c.md:1:Needle:0-6", "none.txt:1:nothing:0-7", "complete"}},
	{"limit exceeded", plainTree, ContentQuery{Pattern: "needle", Scope: Scope{Path: "a.txt", Limit: new(1)}}, []string{"a.txt:1:one needle:4-10", "bound limit"}},
	{"depth one", plainTree, ContentQuery{Pattern: "needle", Scope: Scope{MaxDepth: new(1)}}, []string{
		"a.txt:1:one needle:4-10", "a.txt:3:needle needle:0-6,7-13", "bound maxDepth"}},
	{"depth counts from the path", plainTree, ContentQuery{Pattern: "needle", Scope: Scope{Path: "b", MaxDepth: new(2)}}, []string{
		"b/c.md:2:needle:0-6", "b/d/e.go:1:// needle.:3-9", "bound maxDepth"}},
	{"depth that reaches everything", plainTree, ContentQuery{Pattern: "needle", Scope: Scope{Path: "b/d", MaxDepth: new(2)}}, []string{
		"b/d/e.go:1:// needle.:3-9", "b/d/f/g.go:1:needle:0-6", "complete"}},
	{"depth cuts nothing that the glob keeps", plainTree, ContentQuery{Pattern: "needle", Glob: "*.md", Scope: Scope{MaxDepth: new(2)}}, []string{
		"b/c.md:2:needle:0-6", "complete"}},
	{"limit reached at a depth", plainTree, ContentQuery{Pattern: "needle", Scope: Scope{MaxDepth: new(1), Limit: new(1), Path: "b"}}, []string{
		"b/c.md:2:needle:0-6", "bound maxDepth"}},

	{"pattern like a long option", optionTree, ContentQuery{Pattern: "--pre=/bin/cat"}, []string{"f:1:--pre=/bin/cat:0-14", "complete"}},
	{"pattern like a short option", optionTree, ContentQuery{Pattern: "-x"}, []string{"f:2:-x:0-2", "complete"}},
	{"pattern like an arrow", optionTree, ContentQuery{Pattern: "->"}, []string{"f:3:->:0-2", "complete"}},
	{"pattern like the end of options", optionTree, ContentQuery{Pattern: "^--$"}, []string{"f:4:--:0-2", "complete"}},
	{"pattern like the option of a pattern", optionTree, ContentQuery{Pattern: "-e"}, []string{"f:5:-e:0-2", "complete"}},
	{"literal like the option of a file", optionTree, ContentQuery{Pattern: "-f f", Literal: true}, []string{"f:7:-f f:0-4", "complete"}},
	{"path like an option", optionTree, ContentQuery{Pattern: "dash", Scope: Scope{Path: "-x"}}, []string{"-x:1:dash:0-4", "complete"}},
	{"glob like an option", optionTree, ContentQuery{Pattern: "dash", Glob: "--files"}, []string{"--files:1:dash:0-4", "complete"}},

	{"hidden and ignored are left out", hiddenTree, ContentQuery{Pattern: "needle"}, []string{
		"git-ignored:1:needle:0-6", "keep.log:1:needle:0-6", "repo/seen.txt:1:needle:0-6", "seen:1:needle:0-6", "sub/build/out:1:needle:0-6", "x.tmp:1:needle:0-6", "complete"}},
	{"hidden", hiddenTree, ContentQuery{Pattern: "needle", Scope: Scope{Hidden: true}}, []string{
		".config/deep:1:needle:0-6", ".hidden:1:needle:0-6", ".kept:1:needle:0-6", "git-ignored:1:needle:0-6", "keep.log:1:needle:0-6", "repo/seen.txt:1:needle:0-6", "seen:1:needle:0-6", "sub/build/out:1:needle:0-6", "x.tmp:1:needle:0-6", "complete"}},
	{"a glob brings nothing ignored back", hiddenTree, ContentQuery{Pattern: "needle", Glob: "*.log"}, []string{"keep.log:1:needle:0-6", "complete"}},
	{"a glob brings nothing hidden back", hiddenTree, ContentQuery{Pattern: "needle", Glob: "*", Scope: Scope{Path: "sub"}}, []string{"sub/build/out:1:needle:0-6", "complete"}},
	{"a glob that leaves out", plainTree, ContentQuery{Pattern: "needle", Glob: "!*.go"}, []string{
		"a.txt:1:one needle:4-10", "a.txt:3:needle needle:0-6,7-13", "b/c.md:2:needle:0-6", "complete"}},
	{"glob and iglob narrow together", plainTree, ContentQuery{Pattern: "needle", Glob: "b/**", Scope: Scope{IGlob: "*.MD"}}, []string{"b/c.md:2:needle:0-6", "complete"}},
}

var pathCases = []pathCase{
	{"a suffix is anchored and its dot is a dot", nameTree, PathQuery{Glob: "*.log"}, []string{"a.log", "complete"}},
	{"a name at any depth", nameTree, PathQuery{Glob: "*.md"}, []string{
		"blog.md", "catalog.md", "docs/deep/page.md", "docs/index.md", "node_modules/x/index.md", "template.md", "complete"}},
	{"two stars find the top level too", nameTree, PathQuery{Glob: "**/*.md"}, []string{
		"blog.md", "catalog.md", "docs/deep/page.md", "docs/index.md", "node_modules/x/index.md", "template.md", "complete"}},
	{"a slash anchors", nameTree, PathQuery{Glob: "docs/*.md"}, []string{"docs/index.md", "complete"}},
	{"a leading slash is the top", nameTree, PathQuery{Glob: "/*.md"}, []string{"blog.md", "catalog.md", "template.md", "complete"}},
	{"a leading dot and slash are the top", nameTree, PathQuery{Glob: "./*.md"}, []string{"blog.md", "catalog.md", "template.md", "complete"}},
	{"all below a directory", nameTree, PathQuery{Glob: "docs/**"}, []string{"docs/deep/page.md", "docs/index.md", "complete"}},
	{"a directory with a slash is all below it", nameTree, PathQuery{Glob: "docs/"}, []string{"docs/deep/page.md", "docs/index.md", "complete"}},
	{"a glob counts from the path", nameTree, PathQuery{Glob: "deep/*", Scope: Scope{Path: "docs"}}, []string{"docs/deep/page.md", "complete"}},
	{"braces", nameTree, PathQuery{Glob: "*.{md,log}", Scope: Scope{MaxDepth: new(1)}}, []string{"a.log", "blog.md", "catalog.md", "template.md", "bound maxDepth"}},
	{"within a name", nameTree, PathQuery{Glob: "*log*"}, []string{"a.log", "a.log.gz", "axlog", "blog.md", "catalog.md", "complete"}},
	{"case counts", nameTree, PathQuery{Glob: "*LOG*"}, []string{"UPPER.LOG", "complete"}},
	{"iglob does not look at case", nameTree, PathQuery{Glob: "*", Scope: Scope{IGlob: "*.log"}}, []string{"UPPER.LOG", "a.log", "complete"}},
	{"a class", nameTree, PathQuery{Glob: "[a-c]*.md"}, []string{"blog.md", "catalog.md", "complete"}},
	{"a class that leaves out", nameTree, PathQuery{Glob: "[!a-c]*.md", Scope: Scope{MaxDepth: new(1)}}, []string{"template.md", "bound maxDepth"}},
	{"one character", nameTree, PathQuery{Glob: "?.log"}, []string{"a.log", "complete"}},
	{"a composed letter", nameTree, PathQuery{Glob: "\u00e9.txt"}, []string{"\u00e9.txt", "complete"}},
	{"a decomposed letter", nameTree, PathQuery{Glob: "e\u0301.txt"}, []string{"e\u0301.txt", "complete"}},
	{"one character beyond ASCII", nameTree, PathQuery{Glob: "?.txt"}, []string{"\u00e9.txt", "complete"}},
	{"odd names", nameTree, PathQuery{Glob: "*[ \n:-]*.txt"}, []string{"-dash.txt", "colon:1:x.txt", "line\nfeed.txt", "with space.txt", "complete"}},
	{"a literal bracket", nameTree, PathQuery{Glob: `\[id\].tsx`}, []string{"[id].tsx", "complete"}},
	{"a literal backslash", nameTree, PathQuery{Glob: `back\\*`}, []string{"back\\slash.txt", "complete"}},
	{"a dot is not every file", nameTree, PathQuery{Glob: "."}, []string{"complete"}},
	{"no such name", nameTree, PathQuery{Glob: "*.py"}, []string{"complete"}},
	{"a glob like an option", optionTree, PathQuery{Glob: "-g!"}, []string{"complete"}},
	{"a file as the path", nameTree, PathQuery{Glob: "*.md", Scope: Scope{Path: "docs/index.md"}}, []string{"docs/index.md", "complete"}},
	{"limit reached and not exceeded", plainTree, PathQuery{Glob: "*.go", Scope: Scope{Limit: new(1), Path: "b/d/f"}}, []string{"b/d/f/g.go", "complete"}},
	{"hidden and ignored are left out", hiddenTree, PathQuery{Glob: "*"}, []string{
		"git-ignored", "keep.log", "repo/seen.txt", "seen", "sub/build/out", "x.tmp", "complete"}},
	{"no_ignore", hiddenTree, PathQuery{Glob: "*", Scope: Scope{NoIgnore: true}}, []string{
		"a.log", "build/out", "git-ignored", "keep.log", "repo/git-ignored", "repo/seen.md", "repo/seen.txt", "seen", "sub/build/out", "sub/x.tmp", "x.tmp", "complete"}},
	{"hidden", hiddenTree, PathQuery{Glob: ".*", Scope: Scope{Hidden: true}}, []string{".gitignore", ".hidden", ".ignore", ".kept", "repo/.gitignore", "sub/.ignore", "complete"}},
	{"a hidden place that is asked for", hiddenTree, PathQuery{Glob: "*", Scope: Scope{Path: ".config"}}, []string{".config/deep", "complete"}},
	{"a glob brings nothing ignored back", hiddenTree, PathQuery{Glob: "repo/*.md"}, []string{"complete"}},
	{"a suffix brings nothing ignored back", hiddenTree, PathQuery{Glob: "*.md"}, []string{"complete"}},
}

var refusals = []refusal{
	{"limit 0", &ContentQuery{Pattern: "x", Scope: Scope{Limit: new(0)}}, nil, outcome.InvalidArguments},
	{"limit -1", nil, &PathQuery{Glob: "*", Scope: Scope{Limit: new(-1)}}, outcome.InvalidArguments},
	{"max_depth 0", &ContentQuery{Pattern: "x", Scope: Scope{MaxDepth: new(0)}}, nil, outcome.InvalidArguments},
	{"max_depth -1", nil, &PathQuery{Glob: "*", Scope: Scope{MaxDepth: new(-1)}}, outcome.InvalidArguments},
	{"no glob", nil, &PathQuery{}, outcome.InvalidArguments},
	{"open group", &ContentQuery{Pattern: "("}, nil, outcome.InvalidPattern},
	{"lone backslash", &ContentQuery{Pattern: `\`}, nil, outcome.InvalidPattern},
	{"NUL", &ContentQuery{Pattern: "a\x00b"}, nil, outcome.InvalidPattern},
	{"line feed", &ContentQuery{Pattern: "a\nb"}, nil, outcome.InvalidPattern},
	{"a megabyte", &ContentQuery{Pattern: strings.Repeat("x", 1<<20)}, nil, outcome.InvalidPattern},
	{"open class", &ContentQuery{Pattern: "x", Glob: "[a"}, nil, outcome.InvalidPattern},
	{"open braces", nil, &PathQuery{Glob: "{a,b"}, outcome.InvalidPattern},
	{"open class without case", nil, &PathQuery{Glob: "*", Scope: Scope{IGlob: "["}}, outcome.InvalidPattern},
	{"missing path", &ContentQuery{Pattern: "x", Scope: Scope{Path: "missing"}}, nil, outcome.NotFound},
	{"path below a file", nil, &PathQuery{Glob: "*", Scope: Scope{Path: "a.txt/x"}}, outcome.NotFound},
	{"path out of the workspace", &ContentQuery{Pattern: "x", Scope: Scope{Path: "../x"}}, nil, outcome.PathRejected},
	{"absolute path", &ContentQuery{Pattern: "x", Scope: Scope{Path: "/etc"}}, nil, outcome.PathRejected},
	{"a NUL in the path", nil, &PathQuery{Glob: "*", Scope: Scope{Path: "a\x00"}}, outcome.PathRejected},
}
