package differential

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

func entries(paths ...string) []srtconfig.PathEntry {
	var out []srtconfig.PathEntry
	for _, p := range paths {
		out = append(out, srtconfig.PathEntry{Path: p})
	}
	return out
}

func at(rel string) []byte { return []byte(rootMark + "/" + rel) }

// TestKnownDifferencesHappen shows each row of the table, so that none stays there after its cause is gone.
func TestKnownDifferencesHappen(t *testing.T) {
	testkit.NeedFull(t)
	r := rig{prober: proberBinary(t), facts: enforcer.FactsOf()}
	open := srtconfig.FilesystemSettings{AllowWrite: entries(".")}
	with := func(change func(*srtconfig.FilesystemSettings)) srtconfig.Settings {
		f := open
		change(&f)
		return srtconfig.Settings{Filesystem: f}
	}
	for _, c := range []struct {
		name     string
		world    world
		question question
	}{
		{"absent protected names", world{base: "/var/tmp", home: "-", settings: with(func(*srtconfig.FilesystemSettings) {})},
			question{Op: opCreate, Path: at(".mcp.json")}},
		{"absent deny entries", world{base: "/var/tmp", home: "-", settings: with(func(f *srtconfig.FilesystemSettings) { f.DenyWrite = entries("later") })},
			question{Op: opCreate, Path: at("later")}},
		{"files made after a pattern was expanded", world{base: "/var/tmp", home: "-", settings: with(func(f *srtconfig.FilesystemSettings) { f.DenyWrite = entries("*.env") })},
			question{Op: opCreate, Path: at("later.env")}},
		{"the sandbox's own /tmp", world{base: "/tmp", home: "-", cwd: "w", nodes: []node{{path: "w", kind: dir}}, settings: srtconfig.Settings{}},
			question{Op: opMkdir, Path: at("beside")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := r.runCase(t.Context(), c.world, []question{c.question})
			if err != nil || o.refused != "" {
				t.Fatal(err, o.refused)
			}
			if o.known[c.name] != 1 || len(o.differ) > 0 {
				t.Errorf("known %v, disagreements %v: want this difference alone", o.known, o.differ)
			}
		})
	}
	var rows []string
	for _, k := range knownDifferences {
		rows = append(rows, k.name)
	}
	if want := []string{"absent protected names", "absent deny entries", "files made after a pattern was expanded", "the sandbox's own /tmp"}; !slices.Equal(rows, want) {
		t.Errorf("the table has the rows %q; each needs a case here", rows)
	}
}

// TestHardLinkThatExistedBeforeIsAnotherName is the difference that needs no row: both sides judge the name in use.
func TestHardLinkThatExistedBeforeIsAnotherName(t *testing.T) {
	testkit.NeedFull(t)
	r := rig{prober: proberBinary(t), facts: enforcer.FactsOf()}
	w := world{base: "/var/tmp", home: "-", nodes: []node{{path: "secret", kind: file}, {path: "alias", kind: hardLink, target: "secret"}},
		settings: srtconfig.Settings{Filesystem: srtconfig.FilesystemSettings{AllowWrite: entries("."), DenyRead: entries("secret")}}}
	o, err := r.runCase(t.Context(), w, []question{
		{Op: opRead, Path: at("secret")}, {Op: opRead, Path: at("alias")},
		{Op: opHardLink, Path: at("secret"), To: at("new")},
	})
	if err != nil || len(o.differ) > 0 || o.decisions != 3 || o.denied != 2 {
		t.Errorf("%+v, %v: want the two uses of the denied name denied, the old second name readable", o, err)
	}
}

// TestDocumentationListsTheSameDifferences holds docs/two-boundaries.md against what this package excuses.
func TestDocumentationListsTheSameDifferences(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testkit.Root(), "docs", "two-boundaries.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\d+\. \*\*(.*?)\*\*`).FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	want := []string{
		"Names that do not exist when a command starts.",                        // absent protected names, absent deny entries
		"Files made after a pattern was expanded.",                              // files made after a pattern was expanded
		"Hard links that existed before.",                                       // no row: TestHardLinkThatExistedBeforeIsAnotherName
		"`/proc`, `/sys`, `/dev`, `/tmp` and `/dev/shm` are the sandbox's own.", // the sandbox's own /tmp
		"Renames across mount points.",                                          // verdict.oneWay
	}
	if !slices.Equal(got, want) {
		t.Errorf("docs/two-boundaries.md lists %q,\nthis package knows %q", got, want)
	}
}

// TestComparisonSeesWrongAnswers asks the evaluator about other settings than the sandbox has: each kind of denial and each
// kind of permission has to be missed by somebody.
func TestComparisonSeesWrongAnswers(t *testing.T) {
	testkit.NeedFull(t)
	nodes := []node{{path: "d", kind: dir}, {path: "d/f", kind: file}, {path: "e", kind: dir}, {path: "e/x", kind: dir}, {path: "l", kind: link, target: "d"}}
	questions := []question{
		{Op: opRead, Path: at("d/f")}, {Op: opList, Path: at("d")}, {Op: opEnter, Path: at("l")}, {Op: opWrite, Path: at("d/f")},
		{Op: opTruncate, Path: at("l/f")}, {Op: opCreate, Path: at("d/new")}, {Op: opMkdir, Path: at("d/new")}, {Op: opSymlink, Path: at("d/new")},
		{Op: opUnlink, Path: at("d/f")}, {Op: opRmdir, Path: at("e/x")}, {Op: opRename, Path: at("d/f"), To: at("d/g")},
		{Op: opReplace, Path: at("d/f"), To: at("d/g")}, {Op: opExchange, Path: at("d/f"), To: at("d/g")}, {Op: opHardLink, Path: at("d/f"), To: at("d/g")},
	}
	closed := srtconfig.FilesystemSettings{AllowWrite: entries("."), DenyRead: entries("d", "e/x")}
	open := srtconfig.FilesystemSettings{AllowWrite: entries(".")}
	for _, c := range []struct {
		name           string
		kernel, judged srtconfig.FilesystemSettings
	}{{"kernel open, evaluator closed", open, closed}, {"kernel closed, evaluator open", closed, open}} {
		t.Run(c.name, func(t *testing.T) {
			r := rig{prober: proberBinary(t), facts: enforcer.FactsOf(), twist: func(*srtconfig.Settings) *srtconfig.Settings {
				return &srtconfig.Settings{Filesystem: c.judged}
			}}
			o, err := r.runCase(t.Context(), world{base: "/var/tmp", home: "-", nodes: nodes, settings: srtconfig.Settings{Filesystem: c.kernel}}, questions)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range questions {
				seen := slices.ContainsFunc(o.differ, func(d disagreement) bool { return d.question.Op == q.Op })
				// A second name of an entry is refused as EXDEV, which is no answer.
				if !seen && !(q.Op == opHardLink && c.name == "kernel closed, evaluator open") {
					t.Errorf("nobody noticed that %s is answered in two ways", q.Op)
				}
			}
		})
	}
}
