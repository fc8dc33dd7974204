package mount_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/enforcer/internal/wire"
	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// world makes a tree below a directory outside of /tmp: names that end in / are directories, "a -> b" is a link.
func world(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "sandboxctl-mount-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, n := range names {
		link, target, isLink := strings.Cut(n, " -> ")
		p := filepath.Join(dir, link)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(target, p)
		case strings.HasSuffix(n, "/"):
			err = os.MkdirAll(p, 0o755)
		default:
			err = os.WriteFile(p, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func compile(t *testing.T, cwd, home, settings string) (mount.Plan, error) {
	t.Helper()
	s, err := srtconfig.Parse([]byte(settings), "s.json")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := srtconfig.Derive(t.Context(), s, srtconfig.Host{Cwd: cwd, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	judge, err := evaluator.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	return mount.Compile(rules, judge, mount.Options{ReadLink: os.Readlink, Stat: stat})
}

func stat(path string) (exists, dir bool) {
	st, err := os.Lstat(path)
	return err == nil, err == nil && st.IsDir()
}

// lines are the operations below dir, as "kind path mode".
func lines(p mount.Plan, dir string) []string {
	var out []string
	for _, o := range p.Ops {
		rel, ok := strings.CutPrefix(o.Target, dir)
		if !ok {
			continue
		}
		mode := ""
		if o.Kind == mount.Bind {
			mode = " ro"
			if o.Write {
				mode = " rw"
			}
		}
		if o.Create {
			mode += " create"
		}
		out = append(out, o.Kind.String()+" "+strings.TrimPrefix(rel, "/")+mode)
	}
	return out
}

func TestPlans(t *testing.T) {
	for _, tc := range []struct {
		name     string
		tree     []string
		settings string // cwd is the tree, home is below it
		want     []string
	}{
		{"nothing is writable by default", []string{"a"}, `{}`, nil},
		{"the project is one writable tree", []string{"a"}, `{"filesystem": {"allowWrite": ["."]}}`, []string{"bind  rw"}},
		{"a denied file inside it is masked", []string{"k"}, `{"filesystem": {"allowWrite": ["."], "denyRead": ["./k"]}}`,
			[]string{"bind  rw", "mask k"}},
		{"a denied file inside a read-only directory stays masked, whatever the order", []string{"s/k"},
			`{"filesystem": {"allowWrite": ["."], "denyWrite": ["./s"], "denyRead": ["./s/k"]}}`,
			[]string{"bind  rw", "bind s ro", "mask s/k"}},
		{"allowWrite below allowRead below denyRead", []string{"t/ws/proj/", "t/x"},
			`{"filesystem": {"denyRead": ["./t"], "allowRead": ["./t/ws"], "allowWrite": ["./t/ws/proj"]}}`,
			[]string{"way t", "bind t/ws ro create", "bind t/ws/proj rw"}},
		{"nothing of a denied directory shows but the way", []string{"t/a/b/", "t/c/"},
			`{"filesystem": {"denyRead": ["./t", "./t/c"], "allowRead": ["./t/a/b"]}}`,
			[]string{"way t", "bind t/a/b ro create"}},
		{"an existing hook directory is read-only and its way is pinned", []string{".git/hooks/", ".git/config"},
			`{"filesystem": {"allowWrite": ["."]}}`,
			[]string{"bind  rw", "bind .git rw", "bind .git/config ro", "bind .git/hooks ro"}},
		{"a directory stays where a protected name could appear in it", []string{".claude/", ".git/HEAD"},
			`{"filesystem": {"allowWrite": ["."]}}`, []string{"bind  rw", "bind .claude rw", "bind .git rw"}},
		{"a file in the place of a protected directory stays", []string{".claude"},
			`{"filesystem": {"allowWrite": ["."]}}`, []string{"bind  rw", "bind .claude rw"}},
		{"a link to nowhere in a protected place stays", []string{".vscode -> nowhere"},
			`{"filesystem": {"allowWrite": ["."]}}`, []string{"bind  rw", "link .vscode"}},
		{"a link into what is re-opened shows on the way, others do not", []string{"real/x", "k/d -> ../real", "k/e -> ../real"},
			`{"filesystem": {"denyRead": ["./k"], "allowRead": ["./k/d"], "denyWrite": ["./k/e"]}}`, []string{"way k", "symlink k/d create"}},
		{"the ancestors of a denied file cannot be moved", []string{"a/b/k"},
			`{"filesystem": {"allowWrite": ["."], "denyRead": ["./a/b/k"]}}`,
			[]string{"bind  rw", "bind a rw", "bind a/b rw", "mask a/b/k"}},
		{"a link to a denied place is pinned where it could be replaced", []string{"real/", "l -> real"},
			`{"filesystem": {"allowWrite": ["."], "denyWrite": ["./l"]}}`,
			[]string{"bind  rw", "link l", "bind real ro"}},
		{"a single writable file", []string{"f"}, `{"filesystem": {"allowWrite": ["./f"]}}`, []string{"bind f rw"}},
		{"what does not exist is not mounted and not made", []string{"a"},
			`{"filesystem": {"allowWrite": ["."], "denyRead": ["./no"], "denyWrite": ["./nor"]}}`, []string{"bind  rw"}},
		{"disabled opens everything with one mount", []string{".git/hooks/", "k"},
			`{"filesystem": {"disabled": true, "denyRead": ["./k"]}}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := world(t, tc.tree...)
			p, err := compile(t, dir, filepath.Join(dir, "home-that-is-not-there"), tc.settings)
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(p, dir); strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

func TestRootIsReadOnlyUnlessOpened(t *testing.T) {
	dir := world(t, "a")
	for settings, write := range map[string]bool{
		`{}`:                                    false,
		`{"filesystem": {"allowWrite": ["/"]}}`: true,
		`{"filesystem": {"disabled": true}}`:    true,
	} {
		p, err := compile(t, dir, dir, settings)
		if err != nil {
			t.Fatal(err)
		}
		root := p.Ops[0]
		if root.Kind != mount.Root || root.Target != "/" || root.Write != write {
			t.Errorf("%s: root is %+v", settings, root)
		}
		sys := false
		for _, o := range p.Ops {
			sys = sys || o.Target == "/sys" && o.Kind == mount.Bind && !o.Write
		}
		if sys != write {
			t.Errorf("%s: /sys is made read-only: %v, want %v", settings, sys, write)
		}
	}
}

func TestADeniedRootIsAWay(t *testing.T) {
	dir := world(t, "a/")
	p, err := compile(t, filepath.Join(dir, "a"), dir, `{"filesystem": {"denyRead": ["/"], "allowRead": [".", "/usr"]}}`)
	if err != nil {
		t.Fatal(err)
	}
	if p.Ops[0].Kind != mount.Way || p.Ops[0].Target != "/" {
		t.Fatalf("root is %+v", p.Ops[0])
	}
	for _, o := range p.Ops[1:] {
		if o.Kind != mount.Mask && !o.Create {
			t.Errorf("%s has no mount point: everything in an empty root has to be made", o)
		}
	}
}

func TestPrivateTmpShowsOnlyEntriesAndTheWorkingDirectory(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "sandboxctl-mount-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p, err := compile(t, dir, "/nonexistent-home", `{"filesystem": {"allowWrite": ["."]}}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(p, "/tmp"); len(got) != 2 || !strings.HasPrefix(got[0], "tmpfs") || !strings.HasSuffix(got[1], " rw create") {
		t.Fatalf("got %q", got)
	}
}

func TestTooManyMountsAreRefused(t *testing.T) {
	var names []string
	for i := range mount.MaxOps + 1 {
		names = append(names, "d/"+strconv.Itoa(i)+".pem")
	}
	dir := world(t, names...)
	_, err := compile(t, dir, dir, `{"filesystem": {"allowWrite": ["."], "denyRead": ["./d/*.pem"]}}`)
	var many *mount.TooManyError
	if !errors.As(err, &many) {
		t.Fatalf("got %v, want a TooManyError", err)
	}
}

func TestComparePathsKeepsTreesTogether(t *testing.T) {
	sorted := []string{"/a", "/a/b", "/a/b/c", "/a b", "/a!", "/a.b", "/ab"}
	for i := range sorted {
		for j := range sorted {
			got := mount.ComparePaths(sorted[i], sorted[j])
			if (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("ComparePaths(%q, %q) = %d", sorted[i], sorted[j], got)
			}
		}
	}
}

func TestPlanLinesCannotBeForged(t *testing.T) {
	o := mount.Op{Kind: mount.Bind, Target: "/a\nbind    /etc rw", Cause: "x"}
	if strings.Contains(o.String(), "\n") {
		t.Fatalf("a newline in a path makes a line of its own: %q", o)
	}
}

func TestAnEmptyPlanIsRefused(t *testing.T) {
	if _, err := (mount.Plan{}).Apply(); !errors.Is(err, mount.ErrEmptyPlan) {
		t.Fatalf("got %v", err)
	}
}

func TestPlansTravelWhole(t *testing.T) {
	p := mount.Plan{Nested: true, Ops: []mount.Op{
		{Kind: mount.Bind, Target: "/a\xffb\n", Write: true, Dir: true, Create: true, Optional: true, Size: 1 << 40, Text: "t", HostProc: true, Root: true, Console: "c", Cause: "why"},
		{Kind: mount.Mask, Target: "/"},
	}}
	var w wire.Writer
	p.Encode(&w)
	r := wire.NewReader(w.Bytes())
	if got := mount.DecodePlan(r); !reflect.DeepEqual(got, p) || r.Err() != nil {
		t.Fatalf("%+v came back as %+v, %v", p, got, r.Err())
	}
}
