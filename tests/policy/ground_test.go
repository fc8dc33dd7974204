package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// refused is the exit status of sandboxctl when it starts nothing.
const refused = 125

// rule is one thing that settings say.
type rule struct {
	name     string
	settings string // JSON
	try      string // shell line, run in the project; $A is the program of testkit.Attempts
	want     string // what it prints under the settings; "|" separates outcomes that kernels differ in
	without  string // settings of the control; "" = outside of any sandbox
	control  string // what it prints there
	says     string // part of sandboxctl's own messages under the settings
	env      []string
}

// files are in every world, below the home directory; each holds its own name. The project is p.
func files() []string {
	return []string{
		"out", "ws/f", "ws/p/f", "p/a", "p/x.key", "p/y.pem",
		"p/d/f", "p/d/x.key", "p/d/e/f", "p/d/e/g/f", "p/d/e/g/h/f",
		"p/pages/[id]/f", "p/pages/i/f", "p/pages/n\nl/f",
		"p/.git/HEAD", "p/.git/config", "p/.git/hooks/pre-commit", "p/.git/objects/o", "p/.git/refs/r",
		"p/1/.bashrc", "p/1/2/.bashrc", "p/1/2/3/.bashrc", "p/1/2/3/4/.bashrc", "p/node_modules/m/.bashrc",
	}
}

func newWorld(t *testing.T) *testkit.World {
	t.Helper()
	w := testkit.NewWorld(t)
	for _, f := range files() {
		w.Write("home/"+f, f+"\n")
	}
	for name, text := range map[string]string{"p/l": "d", "p/up": "..", "p/d/up": ".."} {
		if err := os.Symlink(text, w.Path("home/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// settingsFile writes settings outside of the project. PROGRAMS stands for the directory of the attempts.
func settingsFile(t *testing.T, w *testkit.World, text string) string {
	t.Helper()
	f, err := os.CreateTemp(w.Root, "settings-*.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text = strings.ReplaceAll(text, "PROGRAMS", filepath.Dir(testkit.Attempts(t)))
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func check(t *testing.T, rules []rule) {
	t.Helper()
	testkit.NeedFull(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			w := newWorld(t)
			w.Env = append(w.Env, r.env...)
			got := under(t, w, r.settings, r.try)
			if !fits(got.Stdout, r.want) {
				t.Errorf("%q prints %q, want %q; stderr %q", r.try, got.Stdout, r.want, got.Stderr)
			}
			if r.says != "" && !strings.Contains(got.Stderr, r.says) {
				t.Errorf("stderr %q says nothing of %q", got.Stderr, r.says)
			}
			// The control begins with files that the attempt has not touched.
			w = newWorld(t)
			w.Env = append(w.Env, r.env...)
			var control testkit.Result
			if r.without == "" {
				control = w.Outside("A=" + testkit.Attempts(t) + "; " + r.try)
			} else {
				control = under(t, w, r.without, r.try)
			}
			if !fits(control.Stdout, r.control) {
				t.Errorf("control: %q prints %q, want %q; stderr %q", r.try, control.Stdout, r.control, control.Stderr)
			}
			if r.want == r.control {
				t.Error("the control has the same outcome")
			}
		})
	}
}

// under runs a line under settings; a launch that is refused fails the test.
func under(t *testing.T, w *testkit.World, settings, line string) testkit.Result {
	t.Helper()
	// The shell itself may be hidden; the line is then the words of one program.
	args := []string{"run", "--settings", settingsFile(t, w, settings)}
	if words, ok := strings.CutPrefix(line, "exec $A "); ok {
		args = append(append(args, "--", testkit.Attempts(t)), strings.Fields(words)...)
	} else {
		args = append(args, "-c", "A="+testkit.Attempts(t)+"; "+line)
	}
	r := w.Run(args...)
	if r.Code == refused {
		t.Fatalf("%q did not start: %s", line, r.Stderr)
	}
	return r
}

func fits(got, want string) bool {
	return slices.Contains(strings.Split(want, "|"), strings.TrimSpace(got))
}

// oneLine reports a message of sandboxctl's own, alone.
func oneLine(s string) bool {
	return strings.HasPrefix(s, "sandboxctl: ") && strings.Count(s, "\n") == 1 && strings.HasSuffix(s, "\n")
}
