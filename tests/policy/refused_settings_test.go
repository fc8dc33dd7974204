package policy

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// What cannot be enforced is refused by its key and line, never left out.
func TestSettingsThatCannotBeEnforced(t *testing.T) {
	testkit.NeedFull(t)
	for _, c := range []struct{ name, section, body, key string }{
		{"a domain", "network", `"allowedDomains": ["example.com"]`, `network\.allowedDomains`},
		{"every domain", "network", `"allowAllDomains": true`, `network\.allowAllDomains`},
		{"an HTTP proxy", "network", `"httpProxyPort": 3128`, `network\.httpProxyPort`},
		{"a SOCKS proxy", "network", `"socksProxyPort": 1080`, `network\.socksProxyPort`},
		{"a socket path", "network", `"allowUnixSockets": ["/run/docker.sock"]`, `network\.allowUnixSockets`},
		{"TLS inspection", "network", `"tlsTerminate": {}`, `/?network[./]tlsTerminate`},
		{"masked credentials", "credentials", `"files": []`, `credentials`},
		{"memory", "sandboxctl", `"limits": {"memoryBytes": 1048576}`, `sandboxctl\.limits\.memoryBytes`},
		{"processes", "sandboxctl", `"limits": {"pids": 10}`, `sandboxctl\.limits\.pids`},
		{"processors", "sandboxctl", `"limits": {"cpus": 0.5}`, `sandboxctl\.limits\.cpus`},
		{"output", "sandboxctl", `"limits": {"outputBytes": 1000}`, `sandboxctl\.limits\.outputBytes`},
		{"a seccomp profile that is not there", "sandboxctl", `"seccompProfile": "none.json"`, `sandboxctl[./]seccompProfile`},
		{"a denied working directory", "filesystem", `"denyRead": ["."]`, `denyRead`},
		{"a denied home with the working directory in it", "filesystem", `"denyRead": ["~"]`, `denyRead`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			text := func(body string) string {
				return fmt.Sprintf("{\n  %q: {\n    %s\n  }\n}\n", c.section, body)
			}
			file := settingsFile(t, w, text(c.body))
			r := w.Run("run", "-s", file, "-c", "echo started; echo x > new")
			if r.Code != refused || r.Stdout != "" || !oneLine(r.Stderr) {
				t.Errorf("code %d, stdout %q, stderr %q, want %d and one line", r.Code, r.Stdout, r.Stderr, refused)
			}
			// The value stands in the third line, a section in the second.
			place := regexp.MustCompile(regexp.QuoteMeta(file) + `:[23]:\d+: .*` + c.key)
			if !place.MatchString(r.Stderr) {
				t.Errorf("stderr %q names no %s", r.Stderr, place)
			}
			section := c.section
			if section == "credentials" {
				section = "sandboxctl" // to be there at all is what is refused
			}
			c.section = section
			if r := w.Run("run", "-s", settingsFile(t, w, text("")), "-c", "echo started"); r.Stdout != "started\n" {
				t.Errorf("control: without the key it prints %q, %q", r.Stdout, r.Stderr)
			}
		})
	}
}

// A key that means nothing here is accepted, or settings of another system would not be; one that is not known is not.
func TestKeysWithoutEffect(t *testing.T) {
	testkit.NeedFull(t)
	for _, c := range []struct {
		settings string
		code     int
		says     string
	}{
		{`{"network": {"allowedDomains": [], "deniedDomains": ["*"], "strictAllowlist": true, "parentProxy": {"http": "http://p.example.com:1"}}}`, 0, ``},
		{`{"ripgrep": {"command": "rg"}, "git": {"safeDirectories": ["/"]}, "ignoreViolations": {"*": ["/x"]}}`, 0, ``},
		{`{"allowPty": true, "allowAppleEvents": true, "windows": {}, "bwrapPath": "/usr/bin/bwrap"}`, 0, ``},
		{`{"filesystem": {"denyreads": ["./d"]}}`, refused, `denyRead`},
		{`{"filesystem": {"denyRead": ["./d"], "denyRead": []}}`, refused, `denyRead`},
		{`{"filesystem": {"denyRead": "./d"}}`, refused, `denyRead`},
		{`{"filesystem": {"denyRead": ["$HOME/.ssh"]}}`, refused, `denyRead`},
		{`{"filesystem": {"denyRead": [""]}}`, refused, `denyRead`},
	} {
		w := newWorld(t)
		r := w.Run("run", "-s", settingsFile(t, w, c.settings), "--", "true")
		if r.Code != c.code || c.code == 0 && r.Stderr != "" || c.code != 0 && !regexp.MustCompile(`^sandboxctl: \S+:1:\d+: .*`+c.says).MatchString(r.Stderr) {
			t.Errorf("%s: code %d, stderr %q", c.settings, r.Code, r.Stderr)
		}
	}
}
