package evaluator

import (
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/srtconfig"
	"pgregory.net/rapid"
)

func domainRule(tb interface {
	Helper()
	Fatalf(string, ...any)
}, pattern string, use srtconfig.PatternUse) srtconfig.DomainRule {
	tb.Helper()
	p, err := srtconfig.ParseDomainPattern(pattern, use)
	if err != nil {
		tb.Fatalf("pattern %q: %v", pattern, err)
	}
	return srtconfig.DomainRule{Pattern: p, Source: srtconfig.Source{Text: pattern}}
}

func domainRules(tb interface {
	Helper()
	Fatalf(string, ...any)
}, use srtconfig.PatternUse, patterns ...string) (rules []srtconfig.DomainRule) {
	tb.Helper()
	for _, p := range patterns {
		rules = append(rules, domainRule(tb, p, use))
	}
	return rules
}

func TestCanConnect(t *testing.T) {
	type answer struct {
		host  string
		port  uint16
		want  string
		entry string
	}
	for _, c := range []struct {
		name            string
		allowed, denied []string
		all             bool
		answers         []answer
	}{
		{name: "nothing is allowed by default", answers: []answer{
			{"ok.test", 443, "network-closed", ""}, {"127.0.0.1", 80, "network-closed", ""}, {"", 443, "bad-host", ""}}},
		{name: "a name is that name alone", allowed: []string{"ok.test"}, answers: []answer{
			{"ok.test", 443, "+allowed-by-entry", "ok.test"}, {"ok.test", 22, "+allowed-by-entry", "ok.test"},
			{"OK.TEST.", 443, "+allowed-by-entry", "ok.test"}, {"ok。test", 443, "+allowed-by-entry", "ok.test"},
			{"a.ok.test", 443, "network-closed", ""}, {"xok.test", 443, "network-closed", ""}, {"test", 443, "network-closed", ""},
			{"ok.test.evil.test", 443, "network-closed", ""}, {"ok.test", 0, "bad-host", ""}}},
		{name: "a wildcard is a strict sub-domain", allowed: []string{"*.ok.test"}, answers: []answer{
			{"a.ok.test", 443, "+allowed-by-entry", "*.ok.test"}, {"a.b.c.ok.test", 443, "+allowed-by-entry", "*.ok.test"},
			{"ok.test", 443, "network-closed", ""}, {"xok.test", 443, "network-closed", ""}, {".ok.test", 443, "bad-host", ""},
			{"evil.test\x00.ok.test", 443, "bad-host", ""}, {"a.ok.test@evil.test", 443, "bad-host", ""},
			{"::ffff:1.2.3.4%x.ok.test", 443, "bad-host", ""}}},
		{name: "a port narrows", allowed: []string{"ok.test:443", "*.ok.test:8443"}, answers: []answer{
			{"ok.test", 443, "+allowed-by-entry", "ok.test:443"}, {"ok.test", 22, "network-closed", ""},
			{"a.ok.test", 8443, "+allowed-by-entry", "*.ok.test:8443"}, {"a.ok.test", 443, "network-closed", ""},
			{"ok.test:443", 443, "bad-host", ""}}},
		{name: "denials come first", allowed: []string{"*.ok.test", "ok.test"}, denied: []string{"bad.ok.test", "ok.test:22"}, answers: []answer{
			{"bad.ok.test", 443, "denied-by-entry", "bad.ok.test"}, {"BAD.ok.test.", 443, "denied-by-entry", "bad.ok.test"},
			{"a.bad.ok.test", 443, "+allowed-by-entry", "*.ok.test"}, {"ok.test", 22, "denied-by-entry", "ok.test:22"},
			{"ok.test", 443, "+allowed-by-entry", "ok.test"}}},
		{name: "everything can be denied", allowed: []string{"ok.test"}, denied: []string{"*:22", "*"}, answers: []answer{
			{"ok.test", 22, "denied-by-entry", "*:22"}, {"ok.test", 443, "denied-by-entry", "*"}, {"::1", 443, "denied-by-entry", "*"}}},
		{name: "all domains but the denied", all: true, denied: []string{"*.evil.test", "169.254.169.254"}, answers: []answer{
			{"any.test", 443, "+all-domains", ""}, {"a.evil.test", 443, "denied-by-entry", "*.evil.test"},
			{"evil.test", 443, "+all-domains", ""}, {"169.254.169.254", 80, "denied-by-entry", "169.254.169.254"},
			{"2852039166", 80, "denied-by-entry", "169.254.169.254"}, {"0xa9.0xfe.43518", 80, "denied-by-entry", "169.254.169.254"},
			{"::ffff:a9fe:a9fe", 80, "denied-by-entry", "169.254.169.254"}, {"evil.test\x00", 80, "bad-host", ""}}},
		{name: "addresses", allowed: []string{"127.0.0.1:80", "[::1]", "[2001:db8::1]:443"}, answers: []answer{
			{"127.0.0.1", 80, "+allowed-by-entry", "127.0.0.1:80"}, {"127.1", 80, "+allowed-by-entry", "127.0.0.1:80"},
			{"[::ffff:127.0.0.1]", 80, "+allowed-by-entry", "127.0.0.1:80"}, {"127.0.0.1", 81, "network-closed", ""},
			{"::1", 9, "+allowed-by-entry", "[::1]"}, {"[0:0:0:0:0:0:0:1]", 9, "+allowed-by-entry", "[::1]"},
			{"2001:DB8:0::1", 443, "+allowed-by-entry", "[2001:db8::1]:443"}, {"localhost", 80, "network-closed", ""}}},
		{name: "the first entry that matches is named", allowed: []string{"*.ok.test", "a.ok.test", "*.a.ok.test"}, answers: []answer{
			{"a.ok.test", 443, "+allowed-by-entry", "*.ok.test"}, {"b.a.ok.test", 443, "+allowed-by-entry", "*.ok.test"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &Evaluator{network: compileNetwork(srtconfig.NetworkRules{
				AllowedDomains: domainRules(t, srtconfig.ForAllow, c.allowed...), AllowAllDomains: c.all,
				DeniedDomains: domainRules(t, srtconfig.ForDeny, c.denied...),
			})}
			for _, a := range c.answers {
				d := e.CanConnect(a.host, a.port)
				entry := ""
				if d.Domain != nil {
					entry = d.Domain.Source.Text
				}
				if describe(d) != a.want || entry != a.entry {
					t.Errorf("%q port %d: %s by %q, want %s by %q", a.host, a.port, describe(d), entry, a.want, a.entry)
				}
				if (d.Reason == BadHost) != (d.Problem != "") {
					t.Errorf("%q port %d: problem %q", a.host, a.port, d.Problem)
				}
			}
		})
	}
}

func TestIndexEqualsPlainScanOfPatterns(t *testing.T) {
	name := rapid.SampledFrom([]string{"ok.test", "a.ok.test", "b.a.ok.test", "k.test", "xok.test", "1.2.3.4"})
	pattern := rapid.Custom(func(t *rapid.T) string {
		p := name.Draw(t, "name")
		if p[0] != '1' && rapid.Bool().Draw(t, "wild") {
			p = "*." + p
		}
		if rapid.IntRange(0, 9).Draw(t, "every") == 0 {
			p = "*"
		}
		return p + rapid.SampledFrom([]string{"", "", ":22", ":443"}).Draw(t, "port")
	})
	rapid.Check(t, func(t *rapid.T) {
		rules := domainRules(t, srtconfig.ForDeny, rapid.SliceOfN(pattern, 0, 6).Draw(t, "patterns")...)
		host := strings.TrimPrefix(rapid.SampledFrom([]string{"", "a.", "b.a.", "x"}).Draw(t, "prefix")+name.Draw(t, "host"), "x1")
		port := rapid.SampledFrom([]uint16{22, 443, 80}).Draw(t, "port")
		var want *srtconfig.DomainRule
		for i := range rules {
			if want == nil && rules[i].Pattern.Match(host, port) {
				want = &rules[i]
			}
		}
		index := indexDomains(rules)
		if got := index.first(host, port); got != want {
			t.Fatalf("%s port %d in %+v: %+v, want %+v", host, port, rules, got, want)
		}
	})
}

// Patterns are canonicalised by another package. A host that a pattern can name must be matched by it.
func TestPatternsMatchTheHostsThatTheyName(t *testing.T) {
	named := 0
	for _, c := range spellings {
		text := c.want
		if strings.Contains(text, ":") {
			text = "[" + text + "]"
		}
		pattern, err := srtconfig.ParseDomainPattern(text, srtconfig.ForAllow)
		if c.want == "" || err != nil {
			continue
		}
		named++
		host, err := CanonicalHost(c.host)
		if err != nil || !pattern.Match(host, 443) {
			t.Errorf("%q is %q, %v; the pattern %q does not match it", c.host, host, err, pattern)
		}
	}
	if named < 60 {
		t.Errorf("only %d hosts have a pattern", named)
	}
}
