package escape

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// row is one way out: a shell line that is run in the project of a fresh world, in the sandbox and then outside of it.
//
// Outcomes are what the line prints on standard output. "|" separates the outcomes that kernels and file systems differ in.
type row struct {
	name string
	// $A is the program of testkit.Attempts, $PID a process outside, $ADDRESS where it keeps MEMORYSECRET, $PORT a server on
	// the host's loopback, $INIT the sandbox's PID 1, outside $PID.
	attempt string
	inside  string
	outside string // the control: must not be inside, or the row shows nothing
	user    string // the control for an ordinary user where it is another; may be as inside, as root's shows that the row can fail
	lacks   string // the outcome where the kernel does not have the thing at all, inside and outside
	same    bool   // what works inside as outside: the neighbour of a denial, which must not be lost with it
	needs   []string
	before  func(t *testing.T, w *testkit.World) // more of the world
	more    map[string]any                       // further settings
	onlyFor string                               // "root" or "user"
}

// waysOut is the whole table.
func waysOut() []row {
	return slices.Concat(pathRows(), mountRows(), launcherRows(), processRows(), kernelRows(), ipcRows(), procRows(), socketRows())
}

const (
	before = "before\n" // of every file that must not change
	secret = "SECRET\n" // of every file that must not be read
)

// newGround makes the world that the rows speak of:
//
//	~/.ssh/id_rsa, ./secret/f, ./n/deep/secret/f     denied for reading; ./secret/tool is a program
//	~/outside                                        outside of every writable tree
//	./locked/f, ./.git/hooks/pre-commit              closed inside the writable tree
//	./.vscode, ./sub/.vscode                         protected and empty
//	./free, ./dir                                    the program's own
func newGround(t *testing.T) (w *testkit.World, settings string) {
	t.Helper()
	return newGroundWith(t, nil)
}

func newGroundWith(t *testing.T, more map[string]any) (w *testkit.World, settings string) {
	t.Helper()
	w = testkit.NewWorld(t)
	for _, f := range guarded() {
		w.Write(f.path, f.content)
	}
	tool := w.Write("home/p/secret/tool", "#!/bin/sh\necho SECRET\n")
	if err := os.Chmod(tool, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Write("home/p/free", "free\n")
	w.Write("home/p/.git/HEAD", "ref: refs/heads/main\n")
	w.Mkdir("home/p/.git/objects", "home/p/.git/refs", "home/p/.vscode", "home/p/sub/.vscode", "home/p/dir", "home/dir")
	return w, w.Settings(testkit.FS{
		DenyRead: []string{"~/.ssh", "./secret", "./n/deep/secret"}, AllowWrite: []string{"."}, DenyWrite: []string{"./locked"},
	}, more)
}

type guardedFile struct{ path, content string }

func guarded() []guardedFile {
	return []guardedFile{
		{"home/.ssh/id_rsa", secret}, {"home/p/secret/f", secret}, {"home/p/n/deep/secret/f", secret},
		{"home/outside", before}, {"home/p/locked/f", before}, {"home/p/.git/hooks/pre-commit", before},
	}
}

func TestWaysOut(t *testing.T) { try(t, waysOut()) }

func try(t *testing.T, rows []row) {
	t.Helper()
	testkit.NeedFull(t)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if r.onlyFor == "root" && os.Geteuid() != 0 || r.onlyFor == "user" && os.Geteuid() == 0 {
				return
			}
			for _, program := range r.needs {
				testkit.NeedProgram(t, program)
			}
			w, settings := newGroundWith(t, r.more)
			if r.before != nil {
				r.before(t, w)
			}
			r.judge(t, w, settings)
		})
	}
}

func (r row) judge(t *testing.T, w *testkit.World, settings string) {
	t.Helper()
	vars := r.variables(t, w)
	in := inside(t, w, standard{}, settings, vars+"INIT=1; "+r.attempt)
	for _, f := range guarded() {
		wantContent(t, w.Path(f.path), f.content)
	}
	out := outside(t, w, standard{}, vars+"INIT=$PID; "+r.attempt)
	if r.lacks != "" && fits(in.Stdout, r.lacks) && fits(out.Stdout, r.lacks) {
		t.Logf("this host has no such thing: %q prints %q", r.attempt, out.Stdout)
		return
	}
	if !fits(in.Stdout, r.inside) {
		t.Errorf("inside %q prints %q, want %q; stderr %q", r.attempt, in.Stdout, r.inside, in.Stderr)
	}
	if want := r.control(); !fits(out.Stdout, want) || want == anything && fits(out.Stdout, r.inside) {
		t.Errorf("control: outside %q prints %q, want %q; stderr %q", r.attempt, out.Stdout, want, out.Stderr)
	}
}

// anything stands for every outcome but that inside.
const anything = "*"

func (r row) control() string {
	switch {
	case r.same:
		return r.inside
	case r.user != "" && os.Geteuid() != 0:
		return r.user
	}
	return r.outside
}

func fits(got, want string) bool {
	return want == anything || slices.Contains(strings.Split(want, "|"), strings.TrimSpace(got))
}

func TestEveryRowCanFail(t *testing.T) {
	if n := len(waysOut()); n < 250 {
		t.Errorf("only %d rows", n)
	}
	canFail(t, waysOut())
}

func canFail(t *testing.T, rows []row) {
	t.Helper()
	names := map[string]bool{}
	for _, r := range rows {
		if names[r.name] {
			t.Errorf("two rows are named %q", r.name)
		}
		names[r.name] = true
		control := r.outside
		if r.onlyFor == "user" && r.user != "" {
			control = r.user
		}
		if r.same {
			continue
		}
		for _, in := range strings.Split(r.inside, "|") {
			if control == "" || fits(in, control) && control != anything {
				t.Errorf("%s: %q is an outcome inside and outside", r.name, in)
			}
		}
	}
}

// variables names what a line may refer to; $PID is started when it does.
func (r row) variables(t *testing.T, w *testkit.World) string {
	t.Helper()
	vars := "A=" + testkit.Attempts(t) + "; "
	if strings.Contains(r.attempt, "$PID") || strings.Contains(r.attempt, "$INIT") || strings.Contains(r.attempt, "$ADDRESS") {
		pid, address := bystander(t, w)
		vars += "PID=" + strconv.Itoa(pid) + "; ADDRESS=" + address + "; "
	}
	if strings.Contains(r.attempt, "$PORT") {
		vars += "PORT=" + strconv.Itoa(hostServer(t)) + "; "
	}
	return vars
}

// bystander starts a process outside that lets every process of its uid trace it. Its working directory is the project.
func bystander(t *testing.T, w *testkit.World) (pid int, address string) {
	t.Helper()
	cmd := exec.Command(testkit.Attempts(t), "bystander")
	cmd.Dir = w.P
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	buf := make([]byte, 64)
	n, err := stdout.Read(buf) // one line, which the program writes at once
	if err != nil {
		t.Fatal(err)
	}
	address, ok := strings.CutPrefix(strings.TrimSpace(string(buf[:n])), "ready ")
	if !ok {
		t.Fatalf("the bystander says %q", buf[:n])
	}
	return cmd.Process.Pid, address
}
