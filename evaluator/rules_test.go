package evaluator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// world is a home with a workspace, made once for a test, in which settings are derived.
type world struct{ home, cwd string }

// newWorld makes home/ws/p, the working directory, and around it what the settings of the tests name. A trailing slash
// is a directory, an arrow a symlink.
func newWorld(t *testing.T, files ...string) world {
	t.Helper()
	// Outside of /tmp, in which an entry only shows when it can be read.
	home, err := os.MkdirTemp("/var/tmp", "sandboxctl-evaluator-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	w := world{home: home, cwd: filepath.Join(home, "ws/p")}
	for _, f := range append([]string{"ws/p/"}, files...) {
		name, target, link := strings.Cut(f, " -> ")
		full := filepath.Join(home, name)
		switch {
		case link:
			err = os.Symlink(target, full)
		case strings.HasSuffix(f, "/"):
			err = os.MkdirAll(full, 0o755)
		default:
			if err = os.MkdirAll(filepath.Dir(full), 0o755); err == nil {
				err = os.WriteFile(full, []byte("x"), 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// derive makes rules from the text of a settings file called name.
func (w world) derive(t interface {
	Helper()
	Fatalf(string, ...any)
}, name, settings string) *srtconfig.Rules {
	t.Helper()
	s, err := srtconfig.Parse([]byte(settings), name)
	if err != nil {
		t.Fatalf("settings %s: %v", settings, err)
	}
	rules, err := srtconfig.Derive(context.Background(), s, srtconfig.Host{Cwd: w.cwd, Home: w.home})
	if err != nil {
		t.Fatalf("settings %s: %v", settings, err)
	}
	return rules
}

func TestDerivedRulesDecide(t *testing.T) {
	w := newWorld(t, ".ssh/id", "ws/q/x", "ws/p/secrets/k", "ws/p/.git/HEAD", "ws/p/.git/config", "ws/p/.git/hooks/", "ws/p/a.pem",
		"ws/p/pages/[id]/x", "ws/p/link -> real", "ws/p/real/x", "ws/p/d/sub/x")
	e, err := New(w.derive(t, "s.json", `{
  // one entry a line, as the lines are what is tested
  "filesystem": {
    "denyRead": [
      "~",
      "./secrets",
      "**/*.pem",
      "pages/[id]"
    ],
    "allowRead": ["~/ws"],
    "allowWrite": ["~/ws/p"],
    "denyWrite": ["link/x", "d/**", "*.lock"]
  }
}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		question string // paths are relative to home
		want     string
		line     int // of the entry in the settings; 0: none, or built in
	}{
		{"read ", "+way", 5},
		{"read .ssh/id", "denied-by-entry", 5},
		{"read ws", "+allowed-by-entry", 10},
		{"read ws/q/x", "+allowed-by-entry", 10},
		{"write ws/q/x", "write-closed", 0},
		{"write ws/p/new", "+allowed-by-entry", 11},
		{"write ws/p2", "write-closed", 0},
		{"read ws/p/secrets/k", "denied-by-entry", 6},
		{"write ws/p/secrets/k", "unreadable", 6},
		{"read ws/p/a.pem", "denied-by-entry", 7},
		{"read ws/p/later.pem", "denied-by-glob", 7},
		{"read ws/p/new/deep/later.pem", "denied-by-glob", 7},
		{"read ws/p/later.pem/x", "denied-by-glob", 7},
		{"read ws/p/later.pemx", "+allowed-by-entry", 11},
		{"read ws/p/pages/[id]/x", "denied-by-entry", 8},
		{"read ws/p/pages/d/x", "denied-by-glob", 8},
		{"write ws/p/real/x", "denied-by-entry", 12},
		{"remove ws/p/link", "pinned", 12},
		{"remove ws/p/real", "pinned", 12},
		{"write ws/p/real/y", "+allowed-by-entry", 11},
		{"write ws/p/d", "denied-by-entry", 12},
		{"write ws/p/d/sub/x", "denied-by-entry", 12},
		{"write ws/p/a.lock", "denied-by-glob", 12},
		{"write ws/p/e/a.lock", "+allowed-by-entry", 11},
		{"write ws/p/.git/hooks/pre-commit", "protected-path", 0},
		{"write ws/p/.git/config", "protected-path", 0},
		{"write ws/p/.git/index", "+allowed-by-entry", 11},
		{"remove ws/p/.git", "pinned", 0},
		{"remove ws/p/.git/HEAD", "+allowed-by-entry", 11},
		{"write ws/p/.mcp.json", "protected-path", 0},
		{"write ws/p/.vscode/tasks.json", "protected-path", 0},
		{"remove ws/p", "pinned", 11},
		{"write .bashrc", "protected-path", 0},
	} {
		op, path, _ := strings.Cut(c.question, " ")
		d := ask(e, op+" "+strings.TrimSuffix(w.home+"/"+path, "/"))
		line := 0
		switch {
		case d.Rule != nil:
			line = d.Rule.Source.Line
		case d.Glob != nil:
			line = d.Glob.Source.Line
		}
		if describe(d) != c.want || line != c.line {
			t.Errorf("%s: %s by line %d, want %s by line %d", c.question, describe(d), line, c.want, c.line)
		}
		if c.line != 0 && !strings.Contains(d.Explain(), "(s.json:") {
			t.Errorf("%s: %q does not say where the entry stands", c.question, d.Explain())
		}
	}
	if d := e.CanRead("/usr"); describe(d) != "+read-open" {
		t.Errorf("read /usr: %s", describe(d))
	}
	if d := e.CanConnect("ok.test", 443); describe(d) != "network-closed" {
		t.Errorf("connect: %s", describe(d))
	}
}

func TestDerivedNetworkDecides(t *testing.T) {
	w := newWorld(t)
	e, err := New(w.derive(t, "s.json", `{"network": {
"allowedDomains": ["ok.test", "*.ok.test:443"],
"deniedDomains": ["bad.ok.test"],
"deniedDomainReasons": {"bad.ok.test": "use ok.test"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := e.CanConnect("Bad.ok.test.", 443); describe(d) != "denied-by-entry" ||
		d.Explain() != `denied by deniedDomains "bad.ok.test" (s.json:3): use ok.test` {
		t.Errorf("%s: %s", describe(d), d.Explain())
	}
	if d := e.CanConnect("a.ok.test", 443); describe(d) != "+allowed-by-entry" ||
		d.Explain() != `allowed by allowedDomains "*.ok.test:443" (s.json:2)` {
		t.Errorf("%s: %s", describe(d), d.Explain())
	}
}

func TestDisabledOpensPathsAndNoHost(t *testing.T) {
	w := newWorld(t)
	e, err := New(w.derive(t, "s.json", `{"filesystem": {"disabled": true, "denyRead": ["~"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := e.CanWrite("/etc/passwd"); describe(d) != "+disabled" {
		t.Errorf("write: %s", describe(d))
	}
	if d := e.CanWrite("etc/passwd"); describe(d) != "bad-path" {
		t.Errorf("write of a relative path: %s", describe(d))
	}
	if d := e.CanConnect("ok.test", 443); describe(d) != "network-closed" {
		t.Errorf("connect: %s", describe(d))
	}
}

func TestNewRefusesZeroRules(t *testing.T) {
	for _, rules := range []*srtconfig.Rules{nil, {}} {
		if e, err := New(rules); e != nil || !errors.Is(err, ErrNoRules) {
			t.Errorf("New(%v) = %v, %v; want ErrNoRules", rules, e, err)
		}
	}
}

func TestPatternsCostNoAllocation(t *testing.T) {
	w := newWorld(t, "ws/p/a.pem")
	e, err := New(w.derive(t, "s.json", `{"filesystem": {"denyRead": ["**/*.pem", "~/**/x[0-9]?"], "denyWrite": ["*.lock"], "allowWrite": ["."]}}`))
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{w.cwd + "/a.pem", w.cwd + "/later.pem", w.cwd + "/d/x1y/z", w.cwd + "/b", "/"}
	if n := testing.AllocsPerRun(100, func() {
		for _, path := range paths {
			e.CanRead(path)
			e.CanWrite(path)
			e.CanRemove(path)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
