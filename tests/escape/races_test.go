package escape

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// launches is how often a race is tried, all cases together.
const launches = 100

// One sandboxed command exchanges a directory with a link while other sandboxes are started on it: between the look at a
// name and its use.
func TestExchangesRacingAgainstLaunches(t *testing.T) {
	testkit.NeedFull(t)
	cases := []struct {
		name    string
		link    string // what stands at x half of the time
		fs      testkit.FS
		attempt string
		args    []string
	}{
		{name: "a writable entry", link: "../out", attempt: "echo evil > x/f",
			fs: testkit.FS{DenyRead: []string{"~/.ssh"}, AllowWrite: []string{"./x", "."}}},
		{name: "a closed entry", link: "dir", attempt: "echo evil > x/f; echo evil > kept/f",
			fs: testkit.FS{DenyWrite: []string{"./x", "./kept", "./locked"}, DenyRead: []string{"./secret"}, AllowWrite: []string{"."}}},
		{name: "a re-opened entry", link: "../.ssh", attempt: "cat x/id_rsa ../.ssh/id_rsa",
			fs: testkit.FS{DenyRead: []string{"~/.ssh"}, AllowRead: []string{"./x"}, AllowWrite: []string{"."}}},
		{name: "a denied entry", link: "dir", attempt: "cat kept/id_rsa x/id_rsa",
			fs: testkit.FS{DenyRead: []string{"./x", "./kept", "~/.ssh"}, AllowWrite: []string{"."}}},
		{name: "the working directory", link: "../.ssh", attempt: "cat id_rsa; echo evil > ../out/f",
			fs: testkit.FS{DenyRead: []string{"~/.ssh"}, AllowWrite: []string{"."}}, args: []string{"--cwd", "x"}},
	}
	races := len(cases)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w, _ := newGround(t)
			w.Write("home/out/f", before)
			w.Write("home/p/kept/id_rsa", secret)
			w.Write("home/p/x/f", "own\n")
			if err := os.Symlink(c.link, w.P+"/swapped"); err != nil {
				t.Fatal(err)
			}
			settings := w.Settings(lists(c.fs))
			stop := exchange(t, w)
			started, refusals := 0, map[string]int{}
			for range launches / races {
				args := append([]string{"run", "-q", "-s", settings}, c.args...)
				r := w.Run(append(args, "-c", c.attempt)...)
				if strings.Contains(r.Stdout, "SECRET") {
					t.Fatalf("it read %q", r.Stdout)
				}
				if r.Code == refused {
					refusals[r.Stderr]++
				} else {
					started++
				}
			}
			stop()
			for _, f := range append(guarded(), guardedFile{"home/out/f", before}) {
				wantContent(t, w.Path(f.path), f.content)
			}
			t.Logf("%d started, %d refused in %d ways", started, launches/races-started, len(refusals))
			for line := range refusals {
				if !oneLine(line) {
					t.Errorf("a refusal says %q", line)
				}
			}
		})
	}
}

// exchange has a sandbox of its own swap x and swapped, which the rules of that sandbox do not name. The function that it
// returns ends it.
func exchange(t *testing.T, w *testkit.World) (stop func()) {
	t.Helper()
	settings := w.Settings(testkit.FS{DenyRead: []string{}, AllowWrite: []string{"."}, DenyWrite: []string{}})
	cmd := exec.Command(w.Bin, "run", "-q", "-s", settings, "--", testkit.Attempts(t), "swap", "x", "swapped")
	cmd.Dir, cmd.Env = w.P, slices.Clone(w.Env)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	out := bufio.NewReader(stdout)
	if line, err := out.ReadString('\n'); line != "swapping\n" {
		t.Fatalf("the exchange says %q, %v", line, err)
	}
	return func() {
		stdin.Close()
		if line, err := out.ReadString('\n'); line != "ok\n" {
			t.Errorf("the exchange ended with %q, %v", line, err)
		}
	}
}
