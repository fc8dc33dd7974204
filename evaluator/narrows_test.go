package evaluator

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/srtconfig"
	"pgregory.net/rapid"
)

// fsText is settings with a section "filesystem", and so on. The tree of the test may lie below /tmp, which is to be
// like any other directory here.
func fsText(section string) string {
	return `{"filesystem": {` + section + `}, "sandboxctl": {"tmp": "host"}}`
}
func netText(section string) string { return `{"network": {` + section + `}}` }
func ownText(section string) string { return `{"sandboxctl": {` + section + `}}` }

func TestNarrows(t *testing.T) {
	w := newWorld(t, "ws/p/a/b/f", "ws/p/s/k", "ws/q/x", "ws/p/link -> a", "ws/p/z.key", "profile.json", "other.json")
	const open = `"allowAllDomains": true`
	for _, c := range []struct {
		name         string
		inner, outer string
		conflict     string // part of the message; "" for none
	}{
		// Paths.
		{"the strictest narrows the strictest", `{}`, `{}`, ""},
		{"the strictest narrows anything open", fsText(``), fsText(`"disabled": true`), ""},
		{"disabled", fsText(`"disabled": true`), fsText(``), `lets a command write "/"`},
		{"less write", fsText(`"allowWrite": ["./a"]`), fsText(`"allowWrite": ["."]`), ""},
		{"more write", fsText(`"allowWrite": ["."]`), fsText(`"allowWrite": ["./a"]`), `allowWrite "." (inner.json:1) lets a command write`},
		{"other write", fsText(`"allowWrite": ["~/ws/q"]`), fsText(`"allowWrite": ["."]`), `allowWrite "~/ws/q" (inner.json:1)`},
		{"one more denied read", fsText(`"denyRead": ["./s"]`), fsText(``), ""},
		{"one denied read less", fsText(``), fsText(`"denyRead": ["./s"]`), `denied by denyRead "./s" (outer.json:1)`},
		{"denied above", fsText(`"denyRead": ["~/ws/q"]`), fsText(`"denyRead": ["~/ws/q/x"]`), ""},
		{"denied below only", fsText(`"denyRead": ["~/ws/q/x"]`), fsText(`"denyRead": ["~/ws/q"]`), `read`},
		{"re-opened", fsText(`"denyRead": ["./s"], "allowRead": ["./s/k"]`), fsText(`"denyRead": ["./s"]`), `"./s"`},
		{"re-opened in both", fsText(`"denyRead": ["./s"], "allowRead": ["./s/k"]`), fsText(`"denyRead": ["./s"], "allowRead": ["./s/k"]`), ""},
		{"re-opened in the wider", fsText(`"denyRead": ["./s"]`), fsText(`"denyRead": ["./s"], "allowRead": ["./s/k"]`), ""},
		{"a directory that shows the way against an open one", fsText(`"denyRead": ["./s"], "allowRead": ["./s/k"]`), fsText(``), ""},
		{"an open directory against one that shows the way", fsText(`"allowRead": ["./s/k"]`),
			fsText(`"denyRead": ["./s"], "allowRead": ["./s/k"]`), `only shows the way`},
		{"denied write less", fsText(`"allowWrite": ["."]`), fsText(`"allowWrite": ["."], "denyWrite": ["./a/b"]`), `denied by denyWrite "./a/b"`},
		{"denied write more", fsText(`"allowWrite": ["."], "denyWrite": ["./a/b"]`), fsText(`"allowWrite": ["."]`), ""},
		{"an absent denied write less", fsText(`"allowWrite": ["."]`), fsText(`"allowWrite": ["."], "denyWrite": ["./later/x"]`), `./later/x`},
		{"a link may be replaced", fsText(`"allowWrite": ["."]`), fsText(`"allowWrite": ["."], "allowRead": ["./link/b"]`), `remove`},
		{"git's configuration", fsText(`"allowWrite": ["."], "allowGitConfig": true`), fsText(`"allowWrite": ["."]`), `the protected path ".git/config"`},
		{"git's configuration closed", fsText(`"allowWrite": ["."]`), fsText(`"allowWrite": ["."], "allowGitConfig": true`), ""},
		{"the host's /tmp", ownText(`"tmp": "host"`), `{}`, "the sandbox has its own"},
		{"a hidden directory re-appears", `{"filesystem": {"denyWrite": ["/tmp/.X11-unix"]}}`, `{}`, ""},
		{"a /tmp of its own", `{}`, ownText(`"tmp": "host"`), ""},

		// Patterns.
		{"a pattern less", fsText(``), fsText(`"denyRead": ["*.pem"]`), `/filesystem/denyRead/0: the inner policy lacks this pattern`},
		{"a pattern more", fsText(`"denyRead": ["*.pem"]`), fsText(``), ""},
		{"the same pattern", fsText(`"denyRead": ["*.pem"]`), fsText(`"denyRead": ["*.pem"]`), ""},
		{"another pattern", fsText(`"denyRead": ["*.pe?"]`), fsText(`"denyRead": ["*.pem"]`), `lacks this pattern`},
		{"a write pattern where nothing is written", fsText(``), fsText(`"denyWrite": ["*.pem"]`), ""},
		{"a write pattern where something is written", fsText(`"allowWrite": ["."]`), fsText(`"allowWrite": ["."], "denyWrite": ["*.pem"]`), `/filesystem/denyWrite/0: the inner policy lacks this pattern`},
		{"a write pattern elsewhere", fsText(`"allowWrite": ["~/ws/q"]`), fsText(`"allowWrite": ["~/ws"], "denyWrite": ["*.pem"]`), ""},
		{"a pattern over an absent entry", fsText(`"denyRead": ["*.key"], "denyWrite": ["late.key"]`), fsText(`"denyRead": ["*.key"], "denyWrite": ["late.key"]`), ""},
		{"a pattern below what is closed", fsText(`"denyRead": ["./s"]`), fsText(`"denyRead": ["./s/*.pem"]`), ""},
		{"a pattern and a match that is re-opened", fsText(`"denyRead": ["*.key"], "allowRead": ["z.key"]`), fsText(`"denyRead": ["*.key"]`), `"z.key"`},

		// One of each kind that srtconfig compares.
		{"a domain more", netText(`"allowedDomains": ["ok.test"]`), `{}`, `"ok.test"`},
		{"a domain less", `{}`, netText(`"allowedDomains": ["ok.test"]`), ""},
		{"a limit less", `{}`, ownText(`"limits": {"pids": 5}`), `/sandboxctl/limits/pids`},
		{"a variable more", ownText(`"env": {"allow": ["TOKEN"]}`), `{}`, `TOKEN`},
		{"a command more", ownText(`"commands": {"allow": ["git", "sh"]}`), ownText(`"commands": {"allow": ["git", "rg"]}`), `sh`},
		{"ptrace", ownText(`"allowPtrace": true`), `{}`, `allowPtrace`},

		// Addresses.
		{"a denied address binds names", netText(`"allowedDomains": ["ok.test"]`), netText(open + `, "deniedDomains": ["192.0.2.1"]`), `which a name that it allows may resolve to`},
		{"a denied address in both", netText(`"allowedDomains": ["ok.test"], "deniedDomains": ["192.0.2.1"]`), netText(open + `, "deniedDomains": ["192.0.2.1:80"]`), ""},
		{"a denied address without network", `{}`, netText(open + `, "deniedDomains": ["192.0.2.1"]`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Narrows(w.derive(t, "inner.json", c.inner), w.derive(t, "outer.json", c.outer))
			if c.conflict == "" {
				if err != nil {
					t.Errorf("got %v, want no conflict", err)
				}
				return
			}
			conflict, ok := errors.AsType[*srtconfig.PolicyConflictError](err)
			if !ok {
				t.Fatalf("got %v, want a conflict about %s", err, c.conflict)
			}
			if conflict.Code() != "E_SANDBOX_POLICY_CONFLICT" || !strings.Contains(err.Error(), c.conflict) {
				t.Errorf("got %v (%s), want a conflict about %s", err, conflict.Code(), c.conflict)
			}
		})
	}
}

func TestNarrowsRefusesZeroRules(t *testing.T) {
	rules := newWorld(t).derive(t, "s.json", `{}`)
	for _, pair := range [][2]*srtconfig.Rules{{nil, rules}, {rules, nil}, {{}, rules}, {rules, {}}} {
		if err := Narrows(pair[0], pair[1]); !errors.Is(err, ErrNoRules) {
			t.Errorf("got %v, want ErrNoRules", err)
		}
	}
}

// Rules hold what existed when they were derived. What was made or removed since then changes the answers.
func TestNarrowsSeesWhatChangedBetween(t *testing.T) {
	const closed, opened = `"denyRead": ["*.key"], "allowWrite": ["."]`, `"denyRead": ["*.key"], "allowWrite": ["."], "allowRead": ["new.key"]`
	w := newWorld(t, "ws/p/a/b/f")
	outer := w.derive(t, "outer.json", fsText(closed))
	if err := os.WriteFile(w.cwd+"/new.key", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Narrows(w.derive(t, "inner.json", fsText(closed)), outer); err != nil {
		t.Errorf("the same settings after a file was made: %v", err)
	}
	if err := Narrows(w.derive(t, "inner.json", fsText(opened)), outer); err == nil || !strings.Contains(err.Error(), "new.key") {
		t.Errorf("a new file re-opened in the inner policy only: %v, want a conflict about new.key", err)
	}

	const pinned = `"allowWrite": ["."], "denyWrite": ["a/b/f"]`
	outer = w.derive(t, "outer.json", fsText(pinned))
	if err := os.Remove(w.cwd + "/a/b/f"); err != nil {
		t.Fatal(err)
	}
	if err := Narrows(w.derive(t, "inner.json", fsText(pinned)), outer); err == nil || !strings.Contains(err.Error(), "remove") {
		t.Errorf("the directory of an entry that is gone: %v, want a conflict about its removal", err)
	}
}

// sample is settings over the few paths and domains of the world in TestNarrowsOnSamples.
type sample struct {
	denyRead, allowRead, allowWrite, denyWrite, allowedDomains, deniedDomains []string
	tmp                                                                       string
}

var (
	sampleDeny = rapid.SliceOfN(rapid.SampledFrom([]string{
		"./a", "./a/b", "./a/b/f", "./s", "./s/k", "./link", "./gone/x", "~/ws/q", "*.key", "**/f*"}), 0, 3)
	sampleAllow   = rapid.SliceOfN(rapid.SampledFrom([]string{".", "./a", "./a/b", "./a/b/f", "./s", "./s/k", "./link/b", "./gone/x", "~", "~/ws"}), 0, 3)
	sampleDomains = rapid.SliceOfN(rapid.SampledFrom([]string{"ok.test", "*.ok.test", "a.ok.test:443", "x.test"}), 0, 2)
)

func drawSample(t *rapid.T) sample {
	return sample{
		denyRead: sampleDeny.Draw(t, "denyRead"), allowRead: sampleAllow.Draw(t, "allowRead"),
		allowWrite: sampleAllow.Draw(t, "allowWrite"), denyWrite: sampleDeny.Draw(t, "denyWrite"),
		allowedDomains: sampleDomains.Draw(t, "allowed"), deniedDomains: sampleDomains.Draw(t, "denied"),
		tmp: rapid.SampledFrom([]string{"private", "host"}).Draw(t, "tmp"),
	}
}

// vary gives settings near s, which are often narrower: more is denied, and something is no longer allowed.
func (s sample) vary(t *rapid.T) sample {
	s.denyRead = slices.Concat(s.denyRead, sampleDeny.Draw(t, "more denyRead"))
	s.denyWrite = slices.Concat(s.denyWrite, sampleDeny.Draw(t, "more denyWrite"))
	s.deniedDomains = slices.Concat(s.deniedDomains, sampleDomains.Draw(t, "more denied"))
	if rapid.Bool().Draw(t, "less") {
		s.allowRead, s.allowedDomains = nil, nil
		s.allowWrite = s.allowWrite[:len(s.allowWrite)/2]
	}
	return s
}

func (s sample) text() string {
	quote := func(entries []string) string {
		text := []string{}
		for _, e := range entries {
			text = append(text, fmt.Sprintf("%q", e))
		}
		return "[" + strings.Join(text, ", ") + "]"
	}
	return fmt.Sprintf(`{"filesystem": {"denyRead": %s, "allowRead": %s, "allowWrite": %s, "denyWrite": %s},
		"network": {"allowedDomains": %s, "deniedDomains": %s}, "sandboxctl": {"tmp": %q}}`,
		quote(s.denyRead), quote(s.allowRead), quote(s.allowWrite), quote(s.denyWrite), quote(s.allowedDomains), quote(s.deniedDomains), s.tmp)
}

func TestNarrowsOnSamples(t *testing.T) {
	w := newWorld(t, "ws/p/a/b/f", "ws/p/s/k", "ws/q/x", "ws/p/link -> a", "ws/p/z.key")
	var paths []string
	for _, dir := range []string{w.cwd, w.cwd + "/a", w.cwd + "/a/b", w.cwd + "/a/b/f", w.cwd + "/s", w.cwd + "/gone", w.cwd + "/link", w.home + "/ws/q", "/usr"} {
		for _, rest := range []string{"", "/k", "/f", "/x", "/new", "/new/deep", "/z.key", "/f2/y", "/.git/config"} {
			paths = append(paths, dir+rest)
		}
	}
	paths = append(paths, "/", w.home, w.home+"/ws", "/tmp", "/tmp/other", w.home+"/x")
	nested := 0
	rapid.Check(t, func(t *rapid.T) {
		var rules [3]*srtconfig.Rules
		settings := drawSample(t)
		for i := range rules {
			rules[i] = w.derive(t, "s.json", settings.text())
			settings = settings.vary(t)
		}
		var narrows [3][3]bool
		for i := range rules {
			for j := range rules {
				err := Narrows(rules[i], rules[j])
				narrows[i][j] = err == nil
				if i == j && err != nil {
					t.Fatalf("a policy does not narrow itself: %v", err)
				}
				checkAnswers(t, rules[i], rules[j], err, paths)
				if i != j && err == nil {
					nested++
				}
			}
		}
		for i := range rules {
			for j := range rules {
				for k := range rules {
					if narrows[i][j] && narrows[j][k] && !narrows[i][k] {
						t.Fatalf("%d narrows %d, %d narrows %d, and %d does not narrow %d: %v", i, j, j, k, i, k, Narrows(rules[i], rules[k]))
					}
				}
			}
		}
	})
	if nested == 0 {
		t.Errorf("no sample narrows another, so that too little was tested")
	}
}

// checkAnswers asks both policies many questions: with no conflict, nothing that inner allows is denied by outer;
// with one about a path, the two do differ there.
func checkAnswers(t *rapid.T, inner, outer *srtconfig.Rules, conflict error, paths []string) {
	in, err := New(inner)
	if err != nil {
		t.Fatal(err)
	}
	out, err := New(outer)
	if err != nil {
		t.Fatal(err)
	}
	if conflict != nil {
		c, err := newComparison(inner, outer)
		if err != nil {
			t.Fatal(err)
		}
		if p := c.paths(); p != nil {
			checkConflict(t, in, out, p)
		}
		return
	}
	for _, path := range paths {
		for _, op := range []func(*Evaluator, string) Decision{(*Evaluator).CanRead, (*Evaluator).CanWrite, (*Evaluator).CanRemove} {
			if a, b := op(in, path), op(out, path); extent(a) > extent(b) {
				t.Fatalf("no conflict, and %s %s is %s in the narrower and %s in the wider policy", a.Op, path, describe(a), describe(b))
			}
		}
	}
	for _, host := range []string{"ok.test", "a.ok.test", "b.ok.test", "x.test"} {
		for _, port := range []uint16{22, 443} {
			if in.CanConnect(host, port).Allowed && !out.CanConnect(host, port).Allowed {
				t.Fatalf("no conflict, and %s port %d is allowed by the narrower policy only", host, port)
			}
		}
	}
}

// checkConflict holds a conflict about a path to what the two policies say of that path.
func checkConflict(t *rapid.T, inner, outer *Evaluator, c *pathConflict) {
	path := strings.ReplaceAll(c.path, unknown, "unheard-of")
	can := map[Op]func(*Evaluator, string) Decision{
		Read: (*Evaluator).CanRead, Write: (*Evaluator).CanWrite, Remove: (*Evaluator).CanRemove,
	}[c.inner.Op]
	if a, b := can(inner, path), can(outer, path); extent(a) <= extent(b) {
		t.Fatalf("a conflict about %s %s, and the answers are %s and %s", c.inner.Op, path, describe(a), describe(b))
	}
}
