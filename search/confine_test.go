package search_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/internal/testkit"
	"github.com/sandboxctl/sandboxctl/search"
	"github.com/sandboxctl/sandboxctl/srtconfig"
	"github.com/sandboxctl/sandboxctl/tools/frame"
)

// confined is open, narrowed to the directory.
func confined(t testing.TB, dir, text string) *search.Ripgrep {
	t.Helper()
	return confinedTo(t, dir, dir, text)
}

// confinedTo searches root under settings of a session in dir.
func confinedTo(t testing.TB, dir, root, text string) *search.Ripgrep {
	t.Helper()
	if err := enforcer.Supported(t.Context()); err != nil {
		testkit.Lacking(t, "full", err)
	}
	settings, host := settingsOf(t, text), srtconfig.Host{Cwd: dir, Home: "/var/empty-home"}
	rules, err := srtconfig.Derive(t.Context(), settings, host)
	if err != nil {
		t.Fatal(err)
	}
	e, err := enforcer.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	narrow, err := search.Confined(t.Context(), e, settings, host, root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { narrow.Close() })
	return over(t, root, rules, search.Sandboxed(narrow))
}

func TestConfinedSearchOpensWhatTheSettingsOpenAndNoMore(t *testing.T) {
	dir := workspaceDir(t)
	write(t, dir, map[string]string{"a": "needle\n", "closed/a": "needle\n", "closed/open/a": "needle\n", "closed/open/closed/a": "needle\n", "closed/write/a": "needle\n", "x.pem": "needle\n"})
	for name, c := range map[string]struct {
		settings string
		want     []string
	}{
		"nothing closed":   {`{}`, []string{"a", "closed/a", "closed/open/a", "closed/open/closed/a", "closed/write/a", "x.pem"}},
		"nested":           {`{"filesystem": {"denyRead": ["./closed", "./closed/open/closed", "*.pem"], "allowRead": ["./closed/open"], "allowWrite": ["./closed/write"]}}`, []string{"a", "closed/open/a", "closed/write/a"}},
		"contradiction":    {`{"filesystem": {"denyRead": ["./closed"], "allowWrite": ["./closed"], "allowRead": ["./closed/open"]}}`, []string{"a", "closed/open/a", "closed/open/closed/a", "x.pem"}},
		"all but a part":   {`{"filesystem": {"denyRead": ["/var/tmp"], "allowRead": ["./closed/open", "."]}}`, []string{"a", "closed/a", "closed/open/a", "closed/open/closed/a", "closed/write/a", "x.pem"}},
		"programs closed":  {`{"filesystem": {"denyRead": ["/usr/sbin", "/usr/share"]}}`, []string{"a", "closed/a", "closed/open/a", "closed/open/closed/a", "closed/write/a", "x.pem"}},
		"filesystem off":   {`{"filesystem": {"disabled": true}}`, []string{"a", "closed/a", "closed/open/a", "closed/open/closed/a", "closed/write/a", "x.pem"}},
		"a home is closed": {`{"filesystem": {"denyRead": ["` + filepath.Dir(dir) + `"], "allowWrite": ["."]}}`, []string{"a", "closed/a", "closed/open/a", "closed/open/closed/a", "closed/write/a", "x.pem"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := content(t, open(t, dir, c.settings), search.ContentQuery{Pattern: "needle"})
			wantNames(t, got, err, c.want...)
			got, err = content(t, confined(t, dir, c.settings), search.ContentQuery{Pattern: "needle"})
			wantNames(t, got, err, c.want...)
		})
	}
}

func TestConfinedToAPartOfTheSession(t *testing.T) {
	dir := filepath.Join(workspaceDir(t), "odd [name] *")
	write(t, dir, map[string]string{"a": "needle\n", "part/a": "needle\n", "part/x.pem": "needle\n", "part/closed/a": "needle\n", "part/open/a": "needle\n", "part/[id]": "needle\n"})
	for name, c := range map[string]struct {
		settings string
		want     []string
	}{
		"all of it": {`{}`, []string{"[id]", "a", "closed/a", "open/a", "x.pem"}},
		"not all":   {`{"filesystem": {"denyRead": ["part/closed", "part/*.pem", {"path": "part/[id]", "literal": true}], "denyWrite": ["part/*.pem"]}}`, []string{"a", "open/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := content(t, confinedTo(t, dir, filepath.Join(dir, "part"), c.settings), search.ContentQuery{Pattern: "needle"})
			wantNames(t, got, err, c.want...)
		})
	}
}

// A directory that becomes a link to outside between ripgrep's look at it and its entering it.
func TestASwappedDirectoryLeadsNowhere(t *testing.T) {
	dir, outside := workspaceDir(t), workspaceDir(t)
	write(t, outside, map[string]string{"secret": "needle\n"})
	write(t, dir, map[string]string{"d/x": "other\n", "e/x": "other\n"})
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		swaps := 0
		for ; ; swaps++ {
			select {
			case <-stop:
				stopped <- swaps
				return
			default:
				// EXCHANGE is its own undoing.
				if err := unix.Renameat2(unix.AT_FDCWD, dir+"/d", unix.AT_FDCWD, dir+"/link", unix.RENAME_EXCHANGE); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	count := func(s *search.Ripgrep, rounds int) (hits int) {
		for range rounds {
			_, err := frame.Each(s.SearchContent(t.Context(), search.ContentQuery{Pattern: "needle"}), func(search.Match) error {
				hits++
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		return hits
	}
	if hits := count(confined(t, dir, `{}`), 25); hits != 0 {
		t.Errorf("%d times a line from outside", hits)
	}
	control := count(open(t, dir, `{}`), 25)
	close(stop)
	t.Logf("%d swaps; without the narrowing %d of 25 searches gave the line from outside", <-stopped, control)
}
