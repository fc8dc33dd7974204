package search_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/search"
	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// fake makes a search whose ripgrep is a shell script.
func fake(t testing.TB, script string) (*search.Ripgrep, string) {
	t.Helper()
	dir := workspaceDir(t)
	write(t, dir, map[string]string{"f": "needle\n"})
	return open(t, dir, `{"ripgrep": {"command": "/bin/sh", "args": ["-c", `+strconv.Quote(script)+`]}}`), dir
}

const (
	oneMatch = `{"type":"match","data":{"path":{"text":"./f"},"lines":{"text":"needle\\n"},"line_number":1,"absolute_offset":0,"submatches":[{"match":{"text":"needle"},"start":0,"end":6}]}}`
	summary  = `{"data":{"elapsed_total":{"human":"0s","nanos":0,"secs":0}},"type":"summary"}`
)

func TestHowRipgrepEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		script string
		items  int
		want   outcome.Outcome // 0 = done, complete
	}{
		{"control", `printf '%s\n' '` + oneMatch + `' '` + summary + `'; exit 0`, 1, 0},
		{"nothing matched", `printf '%s\n' '` + summary + `'; exit 1`, 0, 0},
		{"no output at all", `exit 0`, 0, outcome.IOFailure},
		{"no summary", `printf '%s\n' '` + oneMatch + `'; exit 0`, 1, outcome.IOFailure},
		{"half a message", `printf '{"type":"match","data":{"pa'; exit 0`, 0, outcome.IOFailure},
		{"no JSON", `echo needle; exit 0`, 0, outcome.IOFailure},
		{"killed", `printf '%s\n' '` + oneMatch + `' '` + summary + `'; kill -9 $$`, 1, outcome.IOFailure},
		{"a closed system call", `printf '%s\n' '` + summary + `'; kill -31 $$`, 0, outcome.SandboxViolation},
		{"another status", `printf '%s\n' '` + summary + `'; exit 3`, 0, outcome.IOFailure},
		{"complaints about entries", `printf '%s\n' '` + oneMatch + `' '` + summary + `'; echo './x: Permission denied (os error 13)' >&2; exit 2`, 1, 0},
		{"complaints of later versions", `printf '%s\n' '` + oneMatch + `' '` + summary + `'; echo 'rg: ./x: Permission denied (os error 13)' >&2; exit 2`, 1, 0},
		{"a pattern", `printf 'regex parse error:\n    (\n    ^\nerror: unclosed group\n' >&2; exit 2`, 0, outcome.InvalidPattern},
		{"a pattern, later versions", `printf 'rg: regex parse error:\n    (\n    ^\nerror: unclosed group\n' >&2; exit 2`, 0, outcome.InvalidPattern},
		{"an argument", `echo "error: Found argument '--x' which wasn't expected" >&2; exit 2`, 0, outcome.IOFailure},
		{"a name that looks like a complaint about the pattern", `printf '%s\n' '` + oneMatch + `' '` + summary + `'; printf './a\nregex parse error:\n: Permission denied (os error 13)\n' >&2; exit 2`, 1, 0},
		{"closed by the kernel alone", `printf '%s\n' '` + summary + `'; echo './: Permission denied (os error 13)' >&2; exit 2`, 0, outcome.Denied},
		{"gone meanwhile", `printf '%s\n' '` + summary + `'; echo './: No such file or directory (os error 2)' >&2; exit 2`, 0, outcome.NotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := fake(t, c.script)
			items := 0
			done, err := frame.Each(s.SearchContent(t.Context(), search.ContentQuery{Pattern: "needle"}), func(search.Match) error { items++; return nil })
			if items != c.items {
				t.Errorf("%d items; want %d", items, c.items)
			}
			if c.want == 0 {
				if err != nil || !done.Complete {
					t.Errorf("%+v, %v; want a complete end", done, err)
				}
				return
			}
			e := outcome.Of(err, "")
			if e == nil || e.Outcome != c.want {
				t.Fatalf("%v; want the outcome %v", err, c.want)
			}
			if strings.Contains(e.Error(), dir) {
				t.Errorf("the words name a host path: %s", e)
			}
		})
	}
}

func TestTheParsersWordsReachTheModel(t *testing.T) {
	s := open(t, workspaceDir(t), `{}`)
	_, err := content(t, s, search.ContentQuery{Pattern: "a(b"})
	if e := outcome.Of(err, ""); e == nil || e.Outcome != outcome.InvalidPattern || !strings.Contains(e.Error(), `"a(b"`) || !strings.Contains(e.Error(), "unclosed group") {
		t.Errorf("got %v", err)
	}
}

func TestAProgramThatCannotBeStarted(t *testing.T) {
	dir := workspaceDir(t)
	write(t, dir, map[string]string{"bin/rg": "#!/bin/sh\n"})
	if err := os.Chmod(filepath.Join(dir, "bin/rg"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		settings string
		want     outcome.Outcome
		says     string
	}{
		"missing":           {`{"ripgrep": {"command": "/nowhere/rg"}}`, outcome.IOFailure, "not installed"},
		"closed":            {`{"filesystem": {"denyRead": ["./bin"]}, "ripgrep": {"command": "` + dir + `/bin/rg"}}`, outcome.SandboxViolation, "keep the search program"},
		"control of closed": {`{"ripgrep": {"command": "` + dir + `/bin/rg"}}`, outcome.IOFailure, "breaks off"},
		"another name":      {`{"ripgrep": {"command": "/bin/sh", "argv0": "rg"}}`, outcome.IOFailure, "could not be started"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := content(t, open(t, dir, c.settings), search.ContentQuery{Pattern: "needle"})
			wantOutcome(t, got, err, c.want)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), dir) {
				t.Errorf("the words are %q", err)
			}
		})
	}
}

func TestTheSettingsArgumentsComeFirst(t *testing.T) {
	dir := workspaceDir(t)
	write(t, dir, map[string]string{"f": "needle\n", ".h": "needle\n", ".ignore": "ignored\n", "ignored": "needle\n"})
	// What a query has a switch for is the query's.
	s := open(t, dir, `{"ripgrep": {"command": "rg", "args": ["--hidden", "--no-ignore", "--ignore-case", "--fixed-strings", "--max-filesize=3"], "argv0": "rg"}}`)
	got, err := content(t, s, search.ContentQuery{Pattern: "n.edle"})
	wantNames(t, got, err)
	s = open(t, dir, `{"ripgrep": {"command": "rg", "args": ["--hidden", "--no-ignore", "--ignore-case", "--fixed-strings", "--max-filesize=3K"]}}`)
	got, err = content(t, s, search.ContentQuery{Pattern: "n.edle"})
	wantNames(t, got, err, "f")
	got, err = content(t, s, search.ContentQuery{Pattern: "N.edle"})
	wantNames(t, got, err)
}

type failing struct{ err error }

func (f failing) Start(context.Context, search.Command) (search.Process, error) { return nil, f.err }

func TestFollowIsRefusedByTheAdapterItself(t *testing.T) {
	dir := workspaceDir(t)
	rules := deriveIn(t, dir)
	s := over(t, dir, rules, failing{errors.New("ripgrep was started")})
	got, err := content(t, s, search.ContentQuery{Pattern: "x", Scope: search.Scope{Follow: true}})
	wantOutcome(t, got, err, outcome.InvalidArguments)
	if err == nil || !strings.Contains(err.Error(), "audited") {
		t.Errorf("the words do not name the audit: %v", err)
	}
	// The control: without it the program would be started.
	got, err = content(t, s, search.ContentQuery{Pattern: "x"})
	wantOutcome(t, got, err, outcome.IOFailure)
}

// processesWith counts the processes of this machine that have a marker among their arguments.
func processesWith(t testing.TB, marker string) (n int) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range dirs {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), marker) && !strings.HasPrefix(filepath.Dir(f), "/proc/"+strconv.Itoa(os.Getpid())) {
			n++
		}
	}
	return n
}

func TestNothingIsLeftAfterAnEarlyEnd(t *testing.T) {
	marker := "86399." + strconv.Itoa(os.Getpid())
	script := `trap '' TERM; sleep ` + marker + ` & printf '%s\n' '` + oneMatch + `'; sleep ` + marker + `; printf '%s\n' '` + summary + `'`
	for name, stop := range map[string]func(s *search.Ripgrep, running func()){
		"the consumer stops": func(s *search.Ripgrep, running func()) {
			for range s.SearchContent(t.Context(), search.ContentQuery{Pattern: "needle"}) {
				running()
				break
			}
		},
		"the context ends": func(s *search.Ripgrep, running func()) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for _, err := range s.SearchContent(ctx, search.ContentQuery{Pattern: "needle"}) {
				if err == nil {
					running()
					cancel()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := fake(t, script)
			stop(s, func() {
				waitFor(t, "the script and its children run", func() bool { return processesWith(t, marker) >= 2 })
			})
			if n := processesWith(t, marker); n != 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
}

func TestDescriptorsAreNotLeaked(t *testing.T) {
	s := open(t, workspaceDir(t), `{}`)
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes files that nobody closes
	var before int
	for i := range 12 {
		if _, err := content(t, s, search.ContentQuery{Pattern: "x", Scope: search.Scope{MaxDepth: new(1)}}); err != nil {
			t.Fatal(err)
		}
		if i == 1 { // what is opened once is open now
			before = count()
		}
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors after ten searches, %d before", after, before)
	}
}

func TestMemoryDoesNotGrowWithLinesOrResults(t *testing.T) {
	const limit = 24 << 20
	for name, script := range map[string]string{
		// A line of 200 MB that matches in a million places.
		"one line": `printf '{"type":"match","data":{"path":{"text":"./f"},"lines":{"text":"'; head -c 200000000 /dev/zero | tr '\0' x; ` +
			`printf '\\n"},"line_number":1,"absolute_offset":0,"submatches":[{"match":{"text":"x"},"start":0,"end":1}'; ` +
			`yes ',{"match":{"text":"x"},"start":0,"end":1}' | head -n 1000000; printf ']}}\n%s\n' '` + summary + `'`,
		"many results": `yes '` + oneMatch + `' | head -n 400000; echo '` + summary + `'`,
		"complaints":   `yes './x: Permission denied (os error 13)' | head -c 10000000 >&2; head -c 20000000 /dev/zero | tr '\0' y >&2; echo '` + summary + `'; exit 2`,
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := fake(t, script)
			runtime.GC()
			debug.FreeOSMemory()
			before := heap()
			var most uint64
			items := 0
			var report search.Report
			_, err := frame.Each(s.SearchContent(t.Context(), search.ContentQuery{Pattern: "x", Scope: search.Scope{Report: &report}}), func(search.Match) error {
				if items++; items%50_000 == 1 {
					most = max(most, heap())
				}
				return nil
			})
			most = max(most, heap())
			if err != nil {
				t.Fatal(err)
			}
			if most > before+limit {
				t.Errorf("the heap grew by %d bytes", most-before)
			}
			t.Logf("%d items, %d withheld, heap +%d KiB", items, report.Withheld, int64(most-before)/1024)
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys - m.HeapReleased
}
