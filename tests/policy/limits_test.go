package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

func TestWallSeconds(t *testing.T) {
	testkit.NeedFull(t)
	const limited = `{"sandboxctl": {"limits": {"wallSeconds": 0.2}}}`
	for _, c := range []struct {
		name, settings, line string
		code                 int
		stdout               string
	}{
		{"the end of the command", limited, "echo begin; exec sleep 60", 124, "begin\n"},
		{"the end of all that it started", limited, "sleep 60 & sleep 60 & wait", 124, ""},
		{"what ignores SIGTERM", limited, "trap '' TERM; while :; do sleep 1; done", 124, ""},
		{"a command that is quicker", limited, "echo done", 0, "done\n"},
		{"no limit", `{}`, "sleep 0.4; echo done", 0, "done\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			begin := time.Now()
			r := w.Run("run", "-s", settingsFile(t, w, c.settings), "-c", c.line)
			if r.Code != c.code || r.Stdout != c.stdout {
				t.Errorf("code %d, stdout %q, stderr %q, want %d, %q", r.Code, r.Stdout, r.Stderr, c.code, c.stdout)
			}
			if (c.code == 124) != strings.Contains(r.Stderr, "wallSeconds") {
				t.Errorf("stderr %q", r.Stderr)
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// The profile may only narrow: what it allows beyond the built-in one stays refused.
func TestSeccompProfile(t *testing.T) {
	testkit.NeedFull(t)
	const profiled = `{"filesystem": {"allowWrite": ["."]}, "sandboxctl": {"seccompProfile": "profile.json"}}`
	for _, c := range []struct{ name, profile, want string }{
		{"refuses a call", `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}`, "EPERM\nEPERM\nok"},
		{"refuses by argument", `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13, "args": [{"index": 0, "value": 2, "op": "SCMP_CMP_EQ"}]}]}`, "ok\nEPERM\nEACCES"},
		{"allows everything", `{"defaultAction": "SCMP_ACT_ALLOW"}`, "ok\nEPERM\nok"},
		{"allows what is refused", `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["add_key", "unshare"], "action": "SCMP_ACT_ALLOW"}]}`, "ok\nEPERM\nok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.Write("home/p/profile.json", c.profile)
			const line = "$A mkdir new; $A addkey; $A socket 2 1 0"
			if r := under(t, w, profiled, line); !fits(r.Stdout, c.want) {
				t.Errorf("it prints %q, want %q; stderr %q", r.Stdout, c.want, r.Stderr)
			}
			w = newWorld(t)
			if r := w.Outside("A=" + testkit.Attempts(t) + "; " + line); r.Stdout != "ok\nok\nok\n" {
				t.Errorf("control: outside it prints %q", r.Stdout)
			}
		})
	}
	for name, profile := range map[string]string{
		"no JSON": "x", "empty": "", "no default": "{}", "an unknown action": `{"defaultAction": "SCMP_ACT_NOTIFY"}`,
		"an unknown call": `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["no_such_call"], "action": "SCMP_ACT_ERRNO"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Write("home/p/profile.json", profile)
			r := w.Run("run", "-s", settingsFile(t, w, profiled), "-c", "echo started")
			if r.Code != refused || r.Stdout != "" || !oneLine(r.Stderr) || !strings.Contains(r.Stderr, "seccompProfile") {
				t.Errorf("code %d, stdout %q, stderr %q", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
}
