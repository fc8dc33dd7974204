package workspace_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

func TestToBackend(t *testing.T) {
	for _, c := range []struct {
		asked, want string
		reason      outcome.Reason
	}{
		{asked: "src/a.go", want: "src/a.go"},
		{asked: "/src/a.go", want: "src/a.go"},
		{asked: "./src//./a.go", want: "src/a.go"},
		{asked: "/", want: "."},
		{asked: ".", want: "."},
		{asked: "", want: "."},
		{asked: "src/", want: "src/"},
		{asked: "src/.", want: "src/"},
		{asked: "src/..", want: "."},
		{asked: "src/../", want: "."},
		{asked: "a/b/../../c", want: "c"},
		{asked: "/etc/passwd", want: "etc/passwd"},
		{asked: "a b ", want: "a b "},
		{asked: " /x", want: " /x"},
		{asked: "%2e%2e/x", want: "%2e%2e/x"},
		{asked: "..%2fx", want: "..%2fx"},
		{asked: "file:///etc/passwd", want: "file:/etc/passwd"},
		{asked: `a\b`, want: `a\b`},
		{asked: `..\..\x`, want: `..\..\x`},
		{asked: "...", want: "..."},
		{asked: "..a/b", want: "..a/b"},
		{asked: "a/~", want: "a/~"},
		{asked: "./~", want: "~"},
		{asked: "./C:/x", want: "C:/x"},
		{asked: "ab:c", want: "ab:c"},
		{asked: "9:c", want: "9:c"},
		{asked: "pages/[id]/*.ts", want: "pages/[id]/*.ts"},
		{asked: "-rf", want: "-rf"},
		{asked: "a\nb", want: "a\nb"},
		{asked: "\xff", want: "\xff"},

		{asked: "a\x00b", reason: outcome.ReasonNUL},
		{asked: "~\x00", reason: outcome.ReasonNUL},
		{asked: "~", reason: outcome.ReasonTilde},
		{asked: "~/x", reason: outcome.ReasonTilde},
		{asked: "~root/x", reason: outcome.ReasonTilde},
		{asked: "C:", reason: outcome.ReasonDriveLetter},
		{asked: `c:\x`, reason: outcome.ReasonDriveLetter},
		{asked: "C:/x", reason: outcome.ReasonDriveLetter},
		{asked: "z:x", reason: outcome.ReasonDriveLetter},
		{asked: `\\?\C:\x`, reason: outcome.ReasonDevice},
		{asked: `\\.\pipe\x`, reason: outcome.ReasonDevice},
		{asked: "//?/C:/x", reason: outcome.ReasonDevice},
		{asked: "//./x", reason: outcome.ReasonDevice},
		{asked: `\??\C:\x`, reason: outcome.ReasonDevice},
		{asked: `\\server\share`, reason: outcome.ReasonUNC},
		{asked: "//server/share", reason: outcome.ReasonUNC},
		{asked: `\/server`, reason: outcome.ReasonUNC},
		{asked: "///", reason: outcome.ReasonUNC},
		{asked: "..", reason: outcome.ReasonEscapes},
		{asked: "/..", reason: outcome.ReasonEscapes},
		{asked: "a/../..", reason: outcome.ReasonEscapes},
		{asked: "../ws/x", reason: outcome.ReasonEscapes},
		{asked: "a//../../work2/k", reason: outcome.ReasonEscapes},
		{asked: "a/../../a/x", reason: outcome.ReasonEscapes},
	} {
		got, err := workspace.RootedPaths{}.ToBackend(c.asked)
		if c.reason == 0 {
			if err != nil || got != c.want {
				t.Errorf("%q: got %q, %v; want %q", c.asked, got, err, c.want)
			}
			continue
		}
		var e *outcome.Error
		if !errors.As(err, &e) || e.Outcome != outcome.PathRejected || e.Reason != c.reason || e.Name != c.asked {
			t.Errorf("%q: got %q, %v; want the reason %s", c.asked, got, err, c.reason)
		}
	}
}

func TestToModelComesBack(t *testing.T) {
	for backend, want := range map[string]string{
		".": ".", "": ".", "a/b": "a/b", "~x": "./~x", "C:x": "./C:x", `\\s\x`: `./\\s\x`, "a/": "a/",
	} {
		if got := (workspace.RootedPaths{}).ToModel(backend); got != want {
			t.Errorf("%q: got %q, want %q", backend, got, want)
		}
	}
	part := rapid.StringMatching(`[~A-Ca-c:\\?. é\n-]{1,5}`).Filter(func(s string) bool { return s != "." && s != ".." })
	rapid.Check(t, func(t *rapid.T) {
		backend := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/")
		asked := workspace.RootedPaths{}.ToModel(backend)
		got, err := workspace.RootedPaths{}.ToBackend(asked)
		if err != nil || got != backend {
			t.Fatalf("%q is told as %q, which is %q, %v", backend, asked, got, err)
		}
	})
}

func FuzzToBackend(f *testing.F) {
	for _, seed := range []string{"a/b", "/a/../b", "..", "~x", `\\?\x`, "//s", "C:", "a\x00", "a/./", "%2e%2e/", "a/...", "./\\\\x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, asked string) {
		got, err := workspace.RootedPaths{}.ToBackend(asked)
		if err != nil {
			var e *outcome.Error
			if !errors.As(err, &e) || e.Outcome != outcome.PathRejected || e.Reason == 0 {
				t.Fatalf("%q: %v", asked, err)
			}
			return
		}
		if path.IsAbs(got) || strings.ContainsRune(got, 0) || path.Clean(got) != strings.TrimSuffix(got, "/") {
			t.Fatalf("%q became %q", asked, got)
		}
		for part := range strings.SplitSeq(got, "/") {
			if part == ".." {
				t.Fatalf("%q became %q", asked, got)
			}
		}
		again, err := workspace.RootedPaths{}.ToBackend(workspace.RootedPaths{}.ToModel(got))
		if err != nil || again != got {
			t.Fatalf("%q became %q, which comes back as %q, %v", asked, got, again, err)
		}
	})
}
