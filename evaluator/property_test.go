package evaluator

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/srtconfig"
	"pgregory.net/rapid"
)

// Few names, so that entries and questions meet. Some are prefixes of others, and some sort before a slash.
var (
	drawName = rapid.SampledFrom([]string{"a", "a", "b", "b", "ab", "a-b", "a.k", "a b", "\xff", "..."})
	drawTop  = rapid.SampledFrom([]string{"", "", "", "/a", "/tmp", "/tmp", "/dev/shm", "/dev", "/tmp2"})
)

func drawPath(t *rapid.T, label string) string {
	path := drawTop.Draw(t, label)
	for _, name := range rapid.SliceOfN(drawName, 0, 4).Draw(t, label) {
		path += "/" + name
	}
	if path == "" {
		return "/"
	}
	return path
}

func drawInput(t *rapid.T) input {
	in := input{cwd: drawPath(t, "cwd"), privateTmp: rapid.Bool().Draw(t, "private")}
	for i := range rapid.IntRange(0, 7).Draw(t, "entries") {
		r := srtconfig.PathRule{
			List:   srtconfig.List(rapid.IntRange(int(srtconfig.DenyRead), int(srtconfig.Protected)).Draw(t, "list")),
			Path:   drawPath(t, "path"),
			Exists: true,
			Source: srtconfig.Source{File: "s.json", Line: i + 1},
		}
		if r.List != srtconfig.AllowRead && r.List != srtconfig.AllowWrite {
			r.Exists = rapid.Bool().Draw(t, "exists")
		}
		if rapid.IntRange(0, 3).Draw(t, "link") == 0 {
			r.Links = []string{drawPath(t, "link")}
		}
		in.paths = append(in.paths, r)
	}
	if rapid.IntRange(0, 3).Draw(t, "globbed") == 0 {
		in.globs = []glob{
			suffixGlob(srtconfig.DenyRead, rapid.SampledFrom([]string{".k", "b"}).Draw(t, "read pattern")),
			suffixGlob(srtconfig.DenyWrite, rapid.SampledFrom([]string{"b", "-b", "..."}).Draw(t, "write pattern")),
		}
	}
	return in
}

// questions are paths near the entries: each of them, its ancestors, something below it, a sibling, and random ones.
func questions(t *rapid.T, in input) []string {
	paths := []string{"/", "/tmp", "/dev/shm", in.cwd, drawPath(t, "question"), drawPath(t, "question")}
	for _, r := range in.paths {
		for _, p := range append([]string{r.Path}, r.Links...) {
			below := strings.TrimSuffix(p, "/")
			paths = append(paths, below+"/b", below+"/a.k/z", p+"2")
			for ; p != "/"; p = nParent(p) {
				paths = append(paths, p)
			}
		}
	}
	return paths
}

func TestEvaluatorEqualsPlainScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		e, err := newEvaluator(in)
		if err != nil {
			t.Fatal(err)
		}
		n := naive{in}
		for _, path := range questions(t, in) {
			for _, c := range []struct {
				got  Decision
				want func(string) (bool, Reason)
			}{{e.CanRead(path), n.read}, {e.CanWrite(path), n.write}, {e.CanRemove(path), n.remove}} {
				allowed, reason := c.want(path)
				if c.got.Allowed != allowed || c.got.Reason != reason {
					t.Fatalf("%s %s: %s, want allowed %t, %s\nentries %+v", c.got.Op, path, describe(c.got), allowed, reason, in.paths)
				}
				checkNamedEntry(t, path, c.got)
			}
		}
	})
}

// checkNamedEntry holds the entry of a decision to the reason: it must be of the list that can have decided, and stand
// where it can.
func checkNamedEntry(t *rapid.T, path string, d Decision) {
	lists := map[Reason]string{
		AllowedByEntry: "allowRead allowWrite", DeniedByEntry: "denyRead denyWrite", ProtectedPath: "protected",
		Unreadable: "denyRead", Way: "denyRead", Pinned: "denyRead allowRead allowWrite denyWrite protected",
	}[d.Reason]
	switch {
	case d.Rule == nil && d.Glob == nil:
		if lists != "" && !(d.Reason == Way && (nWithin(path, "/tmp") || nWithin(path, "/dev/shm"))) {
			t.Fatalf("%s %s: %s names no entry", d.Op, path, d.Reason)
		}
	case d.Rule != nil && d.Glob != nil:
		t.Fatalf("%s %s: names an entry and a pattern", d.Op, path)
	case d.Glob != nil:
		if d.Reason != DeniedByGlob && d.Reason != Unreadable && d.Reason != Way {
			t.Fatalf("%s %s: %s names a pattern", d.Op, path, d.Reason)
		}
	case !strings.Contains(lists, d.Rule.List.String()):
		t.Fatalf("%s %s: %s names a %s entry", d.Op, path, d.Reason, d.Rule.List)
	case d.Reason == Pinned:
		stands := nWithin(d.Rule.Path, path)
		for _, link := range d.Rule.Links {
			stands = stands || nWithin(link, path)
		}
		if !stands {
			t.Fatalf("%s %s: pinned by %+v", d.Op, path, d.Rule)
		}
	case !nWithin(path, d.Rule.Path):
		t.Fatalf("%s %s: %s names the entry for %s", d.Op, path, d.Reason, d.Rule.Path)
	}
}

func TestOrderOfEntriesDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		shuffled := in
		shuffled.paths = append([]srtconfig.PathRule(nil), in.paths...)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)).Shuffle(len(shuffled.paths), func(i, j int) {
			shuffled.paths[i], shuffled.paths[j] = shuffled.paths[j], shuffled.paths[i]
		})
		a, errA := newEvaluator(in)
		b, errB := newEvaluator(shuffled)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for _, path := range questions(t, in) {
			for _, op := range []func(*Evaluator, string) Decision{(*Evaluator).CanRead, (*Evaluator).CanWrite, (*Evaluator).CanRemove} {
				x, y := op(a, path), op(b, path)
				sameRule := x.Rule == y.Rule || x.Rule != nil && y.Rule != nil && x.Rule.Source == y.Rule.Source
				if x.Allowed != y.Allowed || x.Reason != y.Reason || x.Glob != y.Glob || !sameRule {
					t.Fatalf("%s %s: %s in one order, %s in another\nentries %+v", x.Op, path, describe(x), describe(y), in.paths)
				}
			}
		}
	})
}

// FuzzPath asks about any bytes: there is an answer, and no allowed path is one that is not absolute and clean.
func FuzzPath(f *testing.F) {
	for _, c := range precedenceCases {
		for _, answer := range c.answers {
			_, path, _ := strings.Cut(answer[:strings.LastIndex(answer, ": ")], " ")
			f.Add(path)
		}
	}
	in := input{cwd: "/tmp/w", privateTmp: true, globs: []glob{denyKey}, paths: []srtconfig.PathRule{
		{List: srtconfig.AllowWrite, Path: "/", Exists: true},
		{List: srtconfig.DenyRead, Path: "/a", Exists: true},
		{List: srtconfig.AllowRead, Path: "/a/b", Exists: true},
		{List: srtconfig.DenyWrite, Path: "/work/b/c", Exists: true},
	}}
	e, err := newEvaluator(in)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		clean := strings.HasPrefix(path, "/") && !strings.Contains(path, "\x00") && (path == "/" || !strings.HasSuffix(path, "/"))
		if clean && path != "/" {
			for name := range strings.SplitSeq(path[1:], "/") {
				clean = clean && name != "" && name != "." && name != ".."
			}
		}
		n := naive{in}
		for _, c := range []struct {
			got  Decision
			want func(string) (bool, Reason)
		}{{e.CanRead(path), n.read}, {e.CanWrite(path), n.write}, {e.CanRemove(path), n.remove}} {
			allowed, reason := false, BadPath
			if clean {
				allowed, reason = c.want(path)
			}
			if c.got.Allowed != allowed || c.got.Reason != reason {
				t.Fatalf("%s %q: %s, want allowed %t, %s", c.got.Op, path, describe(c.got), allowed, reason)
			}
		}
	})
}
