package policy

import (
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// A container masks parts of /proc; the kernel then lets nobody in it mount a fresh one, which would show them
// (fs/namespace.c, "mount too revealing").
func TestEnableWeakerNestedSandbox(t *testing.T) {
	testkit.NeedFull(t)
	bwrap := testkit.NeedProgram(t, "bwrap")
	w := newWorld(t)
	within := func(outer []string, settings, line string) testkit.Result {
		inner := []string{w.Bin, "run", "-q", "-s", settingsFile(t, w, settings), "-c", "A=" + testkit.Attempts(t) + "; " + line}
		return w.Outside("exec " + quoted(append(outer, inner...)))
	}
	masked := func(settings, line string) testkit.Result {
		return within([]string{bwrap, "--unshare-user", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--cap-add", "ALL",
			"--tmpfs", "/proc/fs", "--ro-bind", "/dev/null", "/proc/uptime", "--"}, settings, line)
	}
	const weaker = `{"enableWeakerNestedSandbox": true, "filesystem": {"denyRead": ["./d"]}}`

	r := masked(`{"filesystem": {"denyRead": ["./d"]}}`, "echo started")
	if r.Code != refused || r.Stdout != "" || !oneLine(r.Stderr) || !strings.Contains(r.Stderr, "enableWeakerNestedSandbox") {
		t.Errorf("without the key: code %d, stdout %q, stderr %q, want %d and one line that names it", r.Code, r.Stdout, r.Stderr, refused)
	}
	fresh := []string{"unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"}
	if r := within(fresh, `{"filesystem": {"denyRead": ["./d"]}}`, "echo started; $A read d/f"); r.Stdout != "started\nopen: EACCES\n" {
		t.Errorf("control: without the mask: %q, %q", r.Stdout, r.Stderr)
	}

	for _, c := range []struct{ line, want string }{
		{"echo started", "started"},
		{"$A read d/f", "open: EACCES"},
		{"$A open ~/out append", "EROFS"},
		{"$A open /proc/self/root$HOME/out append", "EROFS"},
		// The outer processes can be seen, and no more. PID 1 there is bwrap's.
		{"[ -d /proc/1 ] && echo seen", "seen"},
		{"$A open /proc/1/environ r", "EACCES"},
		{"$A open /proc/1/mem r", "EACCES"},
		{"$A read /proc/1/root$PWD/d/f", "open: EACCES"},
		{"$A read /proc/1/cwd/d/f", "open: EACCES"},
		{"$A open /proc/sys/kernel/hostname w", "EROFS|EACCES"},
		{"$A open /proc/1/oom_score_adj w", "EROFS|EACCES"},
		{"$A addkey; $A socket 1 1 0; $A unshare 0x10000000", "EPERM\nEPERM\nEPERM"},
	} {
		if r := masked(weaker, c.line); !fits(r.Stdout, c.want) {
			t.Errorf("with the key %q prints %q, want %q; code %d, stderr %q", c.line, r.Stdout, c.want, r.Code, r.Stderr)
		}
	}
}

// quoted makes a shell line of words.
func quoted(words []string) string {
	for i, word := range words {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}
