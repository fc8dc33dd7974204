package srtconfig

import (
	"strings"
	"testing"
)

func TestDomainPatternForms(t *testing.T) {
	for _, c := range []struct {
		entry, allow, deny string // canonical spelling, or "!" and a fragment of the message
	}{
		{"https://a.test", `!write "a.test"`, `!write "a.test"`},
		{"https://*.a.test/x?y#z", `!write "*.a.test"`, `!write "*.a.test"`},
		{"http://user:pw@a.test:80/", `!write "a.test:80"`, `!write "a.test:80"`},
		{"a.test/", `!write "a.test"`, `!write "a.test"`},
		{"a.test:443", "a.test:443", "a.test:443"},
		{"*", "!allowAllDomains", "*"},
		{"*:22", "!allowAllDomains", "*:22"},
		{"*.com", "!too broad", "!too broad"},
		{"*.a.test", "*.a.test", "*.a.test"},
		{"*.A.Test:8443", "*.a.test:8443", "*.a.test:8443"},
		{"a..b", "!empty label", "!empty label"},
		{".a.test", "!empty label", "!empty label"},
		{"a.test.", `!write "a.test"`, `!write "a.test"`},
		{"é.test", `!write "xn--9ca.test"`, `!write "xn--9ca.test"`},
		{"xn--9ca.test", "xn--9ca.test", "xn--9ca.test"},
		{"127.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1:8080"},
		{"127.1", `!write "127.0.0.1"`, `!write "127.0.0.1"`},
		{"0x7f.0.0.1", `!write "127.0.0.1"`, `!write "127.0.0.1"`},
		{"0177.0.0.1", `!write "127.0.0.1"`, `!write "127.0.0.1"`},
		{"2130706433", `!write "127.0.0.1"`, `!write "127.0.0.1"`},
		{"1.2.3.256", "!ends in a number", "!ends in a number"},
		{"a.123", "!ends in a number", "!ends in a number"},
		{"*.0.0.1", "!no sub-domains", "!no sub-domains"},
		{"[::1]", "[::1]", "[::1]"},
		{"[2001:DB8:0::1]:443", "[2001:db8::1]:443", "[2001:db8::1]:443"},
		{"[::ffff:127.0.0.1]", "127.0.0.1", "127.0.0.1"},
		{"[fe80::1%eth0]", `!"%"`, `!"%"`},
		{"[::1", "!never closed", "!never closed"},
		{"[::1]x", "!only a port", "!only a port"},
		{"[1.2.3.4]", "!IPv6 address", "!IPv6 address"},
		{"::1", `!"[::1]"`, `!"[::1]"`},
		{"2001:db8::1:443", "!in brackets", "!in brackets"},
		{"", "!empty entry", "!empty entry"},
		{" a.test", "!space", "!space"},
		{"a.test\n", "!control character", "!control character"},
		{"a.test\x00.b", "!control character", "!control character"},
		{"%2A.a.test", `!"%"`, `!"%"`},
		{"a.*.test", "!first label", "!first label"},
		{"*a.test", "!first label", "!first label"},
		{"**.a.test", "!first label", "!first label"},
		{"localhost", "localhost", "localhost"},
		{"intranet", "!single label", "!single label"},
		{"a.test:0", "!no port", "!no port"},
		{"a.test:080", "!no port", "!no port"},
		{"a.test:65536", "!no port", "!no port"},
		{"a.test:", "!no port", "!no port"},
		{"a.test:http", "!no port", "!no port"},
		{"_dmarc.a-b.test", "_dmarc.a-b.test", "_dmarc.a-b.test"},
		{"a!b.test", "!may not stand", "!may not stand"},
		{strings.Repeat("a", 64) + ".test", "!at most 63", "!at most 63"},
		{strings.Repeat("a.", 127) + "test", "!at most 253", "!at most 253"},
	} {
		for use, want := range map[PatternUse]string{ForAllow: c.allow, ForDeny: c.deny} {
			p, err := ParseDomainPattern(c.entry, use)
			fragment, refuse := strings.CutPrefix(want, "!")
			switch {
			case refuse && (err == nil || !strings.Contains(err.Error(), fragment)):
				t.Errorf("%q: %v, %v, want an error that says %q", c.entry, p, err, fragment)
			case !refuse && err != nil:
				t.Errorf("%q: %v", c.entry, err)
			case !refuse && p.String() != want:
				t.Errorf("%q is %q, want %q", c.entry, p, want)
			}
		}
	}
	if _, err := ParseDomainPattern("a.test:443", ForMitm); err == nil || !strings.Contains(err.Error(), `write "a.test"`) {
		t.Errorf("a port where none may stand: %v", err)
	}
}

func pattern1(t testing.TB, s string) DomainPattern {
	t.Helper()
	p, err := ParseDomainPattern(s, ForDeny)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDomainPatternMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, host string
		port          uint16
		want          bool
	}{
		{"a.test", "a.test", 443, true},
		{"a.test", "x.a.test", 443, false},
		{"a.test", "a.test.evil", 443, false},
		{"a.test:443", "a.test", 443, true},
		{"a.test:443", "a.test", 80, false},
		{"*.a.test", "x.a.test", 1, true},
		{"*.a.test", "x.y.a.test", 1, true},
		{"*.a.test", "a.test", 1, false},
		{"*.a.test", ".a.test", 1, false},
		{"*.a.test", "xa.test", 1, false},
		{"*.a.test", "xxa.test", 1, false},
		{"*.a.test", "::1%x.a.test", 1, false},
		{"*.a.test:22", "x.a.test", 22, true},
		{"*.a.test:22", "x.a.test", 23, false},
		{"*", "anything", 1, true},
		{"*:22", "::1", 22, true},
		{"*:22", "::1", 23, false},
		{"[::1]", "::1", 1, true},
		{"127.0.0.1", "127.0.0.1", 1, true},
		{"127.0.0.1", "127.0.0.10", 1, false},
		{"localhost", "localhost", 1, true},
	} {
		if got := pattern1(t, c.pattern).Match(c.host, c.port); got != c.want {
			t.Errorf("%s matches %s:%d: %t, want %t", c.pattern, c.host, c.port, got, c.want)
		}
	}
	if (DomainPattern{}).Match("", 0) || (DomainPattern{}).Match("a.test", 1) {
		t.Error("the zero pattern matches")
	}
	p := pattern1(t, "*.a.test:443")
	if n := testing.AllocsPerRun(100, func() { p.Match("x.y.a.test", 443) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDomainPatternCovers(t *testing.T) {
	for _, c := range []struct {
		p, q             string
		covers, overlaps bool
	}{
		{"*", "a.test:1", true, true},
		{"*:22", "a.test", false, true},
		{"*:22", "a.test:23", false, false},
		{"*.a.test", "*.a.test", true, true},
		{"*.a.test", "*.b.a.test", true, true},
		{"*.b.a.test", "*.a.test", false, true},
		{"*.a.test", "*.ba.test", false, false},
		{"*.a.test", "x.a.test:9", true, true},
		{"*.a.test", "a.test", false, false},
		{"a.test:443", "a.test", false, true},
		{"a.test", "a.test:443", true, true},
		{"a.test", "*.a.test", false, false},
		{"a.test", "*", false, true},
		{"[::1]", "[::1]:1", true, true},
		{"*.a.test", "127.0.0.1", false, false},
	} {
		p, q := pattern1(t, c.p), pattern1(t, c.q)
		if got := p.Covers(q); got != c.covers {
			t.Errorf("%s covers %s: %t, want %t", p, q, got, c.covers)
		}
		if p.overlaps(q) != c.overlaps || q.overlaps(p) != c.overlaps {
			t.Errorf("%s overlaps %s: %t and %t, want %t", p, q, p.overlaps(q), q.overlaps(p), c.overlaps)
		}
	}
}

// What is accepted has one spelling that means the same, and matches no host that is spelt otherwise.
func FuzzDomainPattern(f *testing.F) {
	for _, s := range []string{"*.a.test:443", "[::1]:1", "127.0.0.1", "0x7f.1", "é.test", "*", "a..b", "https://a.test/"} {
		f.Add(s, "x.a.test")
	}
	f.Fuzz(func(t *testing.T, s, host string) {
		for _, use := range []PatternUse{ForAllow, ForDeny, ForMitm} {
			p, err := ParseDomainPattern(s, use)
			if err != nil {
				if p != (DomainPattern{}) {
					t.Errorf("%q: pattern %v with error %v", s, p, err)
				}
				continue
			}
			again, err := ParseDomainPattern(p.String(), use)
			if err != nil || again != p {
				t.Errorf("%q is %q, which is %v, %v", s, p, again, err)
			}
			if !p.Covers(p) || !p.overlaps(p) {
				t.Errorf("%q does not cover itself", s)
			}
			if use != ForDeny && p.Match(host, 0) && !strings.HasSuffix(host, p.Host()) {
				t.Errorf("%q matches %q", s, host)
			}
			if strings.ContainsAny(p.Host(), "/%@ \x00*ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
				t.Errorf("%q has the host %q", s, p.Host())
			}
		}
	})
}
