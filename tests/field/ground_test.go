package field

import (
	"encoding/json"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// refused is the exit status of sandboxctl when it starts nothing.
const refused = 125

// What the kernel says, in the words of the C library.
const (
	accessDenied = "Permission denied"
	readOnly     = "Read-only file system"
	busy         = "Device or resource busy"
	crossDevice  = "Invalid cross-device link"
)

// full says that the host was found to give tier full; asking again would cost each test as much as a run.
var full atomic.Bool

// newWorld makes a world whose programs are the system's: the caller's PATH may lead through version managers that write
// into the caller's home directory.
func newWorld(t *testing.T) *testkit.World {
	t.Helper()
	if !full.Load() {
		testkit.NeedFull(t)
		full.Store(true)
	}
	w := testkit.NewWorld(t)
	w.Env = setEnv(w.Env, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	return w
}

// setEnv returns a copy of an environment with another value of one variable.
func setEnv(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			out = append(out, v)
		}
	}
	return append(out, name+"="+value)
}

// outcome is how a line ended, with what a message about it needs.
type outcome struct {
	t     *testing.T
	where string
	testkit.Result
}

// inside runs a shell line in the sandbox, in the project.
func inside(t *testing.T, w *testkit.World, settings, line string) outcome {
	t.Helper()
	return outcome{t, "inside " + line, w.Shell(settings, line)}
}

// outside runs it without a sandbox.
func outside(t *testing.T, w *testkit.World, line string) outcome {
	t.Helper()
	return outcome{t, "control: outside " + line, w.Outside(line)}
}

// start runs a command line of sandboxctl that may be refused.
func start(t *testing.T, w *testkit.World, args ...string) outcome {
	t.Helper()
	return outcome{t, strings.Join(args, " "), w.Run(args...)}
}

// startIn is start in another directory, with other variables.
func startIn(t *testing.T, w *testkit.World, dir string, env []string, args ...string) outcome {
	t.Helper()
	return outcome{t, strings.Join(args, " "), w.RunIn(dir, env, "", args...)}
}

// prints checks the whole standard output.
func (o outcome) prints(want string) outcome {
	o.t.Helper()
	if o.Stdout != want {
		o.t.Errorf("%s\nprints %q, want %q (code %d, stderr %q)", o.where, o.Stdout, want, o.Code, o.Stderr)
	}
	return o
}

// says checks that standard error holds a text.
func (o outcome) says(part string) outcome {
	o.t.Helper()
	if !strings.Contains(o.Stderr, part) {
		o.t.Errorf("%s\nsays %q, which does not hold %q (code %d, stdout %q)", o.where, o.Stderr, part, o.Code, o.Stdout)
	}
	return o
}

// saysOneOf is says for what kernels and programs differ in.
func (o outcome) saysOneOf(parts ...string) outcome {
	o.t.Helper()
	for _, p := range parts {
		if strings.Contains(o.Stderr, p) {
			return o
		}
	}
	o.t.Errorf("%s\nsays %q, which holds none of %q (code %d, stdout %q)", o.where, o.Stderr, parts, o.Code, o.Stdout)
	return o
}

// never checks that nothing that was printed holds a text.
func (o outcome) never(part string) outcome {
	o.t.Helper()
	if strings.Contains(o.Stdout, part) || strings.Contains(o.Stderr, part) {
		o.t.Errorf("%s\nshows %q: stdout %q, stderr %q", o.where, part, o.Stdout, o.Stderr)
	}
	return o
}

func (o outcome) code(want int) outcome {
	o.t.Helper()
	if o.Code != want {
		o.t.Errorf("%s\nends with %d, want %d (stdout %q, stderr %q)", o.where, o.Code, want, o.Stdout, o.Stderr)
	}
	return o
}

// refuses checks that nothing was started, with one line of sandboxctl's own that holds every given text.
func (o outcome) refuses(parts ...string) outcome {
	o.t.Helper()
	o.code(refused).prints("")
	lines := strings.Split(strings.TrimSuffix(o.Stderr, "\n"), "\n")
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "sandboxctl: ") {
		o.t.Errorf("%s\nrefuses with %q, want one line of sandboxctl", o.where, o.Stderr)
	}
	for _, p := range parts {
		o.says(p)
	}
	return o
}

// wantFile checks a file of the host.
func wantFile(t *testing.T, w *testkit.World, rel, want string) {
	t.Helper()
	if got, ok := w.Read(rel); !ok || got != want {
		t.Errorf("outside, %s holds %q (there: %v), want %q", rel, got, ok, want)
	}
}

// wantAbsent checks that the host has no such name.
func wantAbsent(t *testing.T, w *testkit.World, rel string) {
	t.Helper()
	if _, err := os.Lstat(w.Path(rel)); err == nil {
		t.Errorf("outside, %s exists", rel)
	}
}

// entries writes a settings file out of "key": [entries] pairs in the order given, as a reader of the file would meet them.
func entries(t *testing.T, w *testkit.World, pairs ...list) string {
	t.Helper()
	var parts []string
	for _, p := range pairs {
		b, err := json.Marshal(p.entries)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, `"`+p.key+`": `+string(b))
	}
	f, err := os.CreateTemp(w.Root, "settings-*.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"filesystem": {` + strings.Join(parts, ", ") + `}}`); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

type list struct {
	key     string
	entries []string
}

// runProgram runs a program in the project.
func runProgram(t *testing.T, w *testkit.World, name string, args ...string) testkit.Result {
	t.Helper()
	quoted := make([]string, 0, len(args)+1)
	for _, a := range append([]string{name}, args...) {
		quoted = append(quoted, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	return w.Outside("exec " + strings.Join(quoted, " "))
}
