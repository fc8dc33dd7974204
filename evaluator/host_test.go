package evaluator

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// spellings states for each spelling the one right answer: the canonical host, or "" where it must be refused.
var spellings = []struct{ host, want string }{
	// Names.
	{"ok.test", "ok.test"},
	{"OK.TEST", "ok.test"},
	{"Ok.TesT", "ok.test"},
	{"ok.test.", "ok.test"},
	{"OK.TEST.", "ok.test"},
	{"localhost", "localhost"},
	{"LocalHost.", "localhost"},
	{"xok.test", "xok.test"},
	{"a.b.c.d.e.f.test", "a.b.c.d.e.f.test"},
	{"_acme-challenge.ok.test", "_acme-challenge.ok.test"},
	{"r3---sn-4g5e6nz7.ok.test", "r3---sn-4g5e6nz7.ok.test"},
	{"-ok.test", "-ok.test"},
	{"ok-.test", "ok-.test"},
	{"1.ok.test", "1.ok.test"},
	{"1password.test", "1password.test"},
	{"0x.ok.test", "0x.ok.test"},
	{"ok.1test", "ok.1test"},
	{"ok.0xg", "ok.0xg"},
	{strings.Repeat("a", 63) + ".test", strings.Repeat("a", 63) + ".test"},
	{strings.Repeat("a.", 126) + "a", strings.Repeat("a.", 126) + "a"},                     // 253 bytes
	{strings.Repeat("a.", 126) + "a.", strings.Repeat("a.", 126) + "a"},                    // and the root's dot
	{"ok.test" + strings.Repeat(".ok.test", 8), "ok.test" + strings.Repeat(".ok.test", 8)}, // depth

	// Names that are none.
	{"", ""},
	{".", ""},
	{"..", ""},
	{"ok.test..", ""},
	{".ok.test", ""},
	{"ok..test", ""},
	{strings.Repeat("a", 64) + ".test", ""},
	{strings.Repeat("a.", 126) + "aa", ""}, // 254 bytes
	{strings.Repeat("a", 300), ""},
	{"evil.test\x00.ok.test", ""},
	{"ok.test\x00", ""},
	{"\x00", ""},
	{"ok.test\r\nHost: evil.test", ""},
	{"ok\t.test", ""},
	{"ok.test\x7f", ""},
	{" ok.test", ""},
	{"ok.test ", ""},
	{"ok test", ""},
	{"ok%2etest", ""},
	{"%6fk.test", ""},
	{"evil.test%00.ok.test", ""},
	{"ok.test@evil.test", ""},
	{"user:pass@ok.test", ""},
	{"ok.test:443", ""},
	{"ok.test:", ""},
	{"ok.test/", ""},
	{"ok.test/.evil.test", ""},
	{"https://ok.test", ""},
	{"ok.test\\evil.test", ""},
	{"ok.test?x", ""},
	{"ok.test#x", ""},
	{"*.ok.test", ""},
	{"*", ""},
	{"ok,test", ""},
	{"ok!test", ""},
	{"ok'test", ""},
	{"[ok.test]", ""},
	{"ok.test]", ""},
	{"ok.\xff\xfe.test", ""},
	{"ok.\xc0\xaetest", ""}, // an over-long dot

	// International names.
	{"bücher.test", "xn--bcher-kva.test"},
	{"BÜCHER.test", "xn--bcher-kva.test"},
	{"bu\u0308cher.test", "xn--bcher-kva.test"}, // u and a combining diaeresis
	{"xn--bcher-kva.test", "xn--bcher-kva.test"},
	{"XN--BCHER-KVA.TEST", "xn--bcher-kva.test"},
	{"faß.test", "xn--fa-hia.test"}, // not "fass": IDNA 2008
	{"例え.test", "xn--r8jz45g.test"},
	{"ok。test", "ok.test"},        // U+3002
	{"ok．test", "ok.test"},        // U+FF0E
	{"ok.test。", "ok.test"},       // the root's dot, ideographic
	{"ｏｋ.test", "ok.test"},        // wide letters
	{"ok.te\u00adst", "ok.test"},  // soft hyphen
	{"ⓞⓚ.test", "ok.test"},        // circled letters
	{"оk.test", "xn--k-0tb.test"}, // Cyrillic о is not o
	{"xn--.test", ""},             // an A-label of nothing
	{"xn--ok-.test", ""},          // an A-label of ASCII
	{"xn--a.test", ""},            // broken Punycode
	{"xn--99999999.test", ""},     // overflows
	{"ok％2etest", ""},             // U+FF05, a wide percent sign
	{"℀.test", ""},                // U+2100 maps to "a/c"
	{"ok＠evil.test", ""},          // U+FF20, a wide commercial at
	{"ok：443", ""},                // U+FF1A, a wide colon
	{"ok\u200b.test", "ok.test"},  // U+200B is ignored by UTS 46
	{"ok\u202e.test", ""},         // right-to-left override
	{"ok\u2028.test", ""},         // line separator
	{"ok\ufffd.test", ""},         // replacement character
	{"\u0301ok.test", ""},         // starts with a combining mark
	{"ok\u00a0.test", ""},         // maps to a space

	// IPv4, as inet_aton reads it.
	{"127.0.0.1", "127.0.0.1"},
	{"127.0.0.1.", "127.0.0.1"},
	{"127.1", "127.0.0.1"},
	{"127.0.1", "127.0.0.1"},
	{"2130706433", "127.0.0.1"},
	{"0x7f.1", "127.0.0.1"},
	{"0X7F.1", "127.0.0.1"},
	{"0x7f000001", "127.0.0.1"},
	{"0x7f.0x0.0x0.0x1", "127.0.0.1"},
	{"017700000001", "127.0.0.1"},
	{"0177.0.0.1", "127.0.0.1"},
	{"0177.0.0.01", "127.0.0.1"},
	{"00000177.0.0.1", "127.0.0.1"},
	{"127.0x1", "127.0.0.1"},
	{"010.0.0.1", "8.0.0.1"},
	{"2852039166", "169.254.169.254"},
	{"0xa9fea9fe", "169.254.169.254"},
	{"169.254.43518", "169.254.169.254"},
	{"169.16689662", "169.254.169.254"},
	{"0", "0.0.0.0"},
	{"0x", "0.0.0.0"},
	{"0.0.0.0", "0.0.0.0"},
	{"255.255.255.255", "255.255.255.255"},
	{"4294967295", "255.255.255.255"},
	{"1.16777215", "1.255.255.255"},
	{"１２７.0.0.1", "127.0.0.1"}, // wide digits
	{"127。0。0。1", "127.0.0.1"}, // ideographic dots
	{"①②⑦.0.0.1", "127.0.0.1"}, // circled digits

	// Numbers that are no address.
	{"4294967296", ""},
	{"256.0.0.1", ""},
	{"1.256.0.1", ""},
	{"1.2.3.256", ""},
	{"1.2.65536", ""},
	{"1.16777216", ""},
	{"1.2.3.4.5", ""},
	{"1.2.3.09", ""},
	{"08.0.0.1", ""},
	{"ok.123", ""},
	{"ok.0x1f", ""},
	{"ok.test.1.", ""},
	{"99999999999999999999999999", ""},
	{"0xffffffffffffffffffffff", ""},
	{"127.0.0.1:80", ""},
	{"127.0.0.1/8", ""},
	{"127..1", ""},

	// IPv6.
	{"::1", "::1"},
	{"[::1]", "::1"},
	{"0:0:0:0:0:0:0:1", "::1"},
	{"0000:0000:0000:0000:0000:0000:0000:0001", "::1"},
	{"::", "::"},
	{"[2001:DB8::A]", "2001:db8::a"},
	{"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
	{"2001:0db8::0001", "2001:db8::1"},
	{"::ffff:127.0.0.1", "127.0.0.1"},
	{"[::ffff:127.0.0.1]", "127.0.0.1"},
	{"::ffff:7f00:1", "127.0.0.1"},
	{"0:0:0:0:0:FFFF:7F00:0001", "127.0.0.1"},
	{"[::ffff:a9fe:a9fe]", "169.254.169.254"},
	{"::127.0.0.1", "::7f00:1"},
	{"64:ff9b::127.0.0.1", "64:ff9b::7f00:1"},
	{"fe80::1%eth0", ""},
	{"[fe80::1%25eth0]", ""},
	{"::ffff:1.2.3.4%x.ok.test", ""},
	{"[::1", ""},
	{"::1]", ""},
	{"[::1]:443", ""},
	{"[::1].ok.test", ""},
	{"[[::1]]", ""},
	{"[]", ""},
	{"[", ""},
	{"[127.0.0.1]", ""},
	{":", ""},
	{":::", ""},
	{"1::2::3", ""},
	{"1:2:3:4:5:6:7", ""},
	{"1:2:3:4:5:6:7:8:9", ""},
	{"12345::", ""},
	{"::g", ""},
	{"::ffff:127.1", ""},
	{"::ffff:0x7f.0.0.1", ""},
	{"::ffff:127.0.0.01", ""},
	{"::1\x00", ""},
	{" ::1", ""},
}

func TestCanonicalHost(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range spellings {
		if seen[c.host] {
			t.Errorf("%q stands in the table twice", c.host)
		}
		seen[c.host] = true
		got, err := CanonicalHost(c.host)
		if got != c.want {
			t.Errorf("CanonicalHost(%q) = %q, %v; want %q", c.host, got, err, c.want)
		}
		if _, refused := errors.AsType[*HostError](err); refused != (c.want == "") {
			t.Errorf("CanonicalHost(%q): error %v, want a HostError: %t", c.host, err, c.want == "")
		}
	}
}

// A refusal is printed on terminals and in logs, where the host's own bytes may do harm.
func TestHostErrorHoldsNoControlCharacter(t *testing.T) {
	for _, c := range spellings {
		if _, err := CanonicalHost(c.host); err != nil {
			if i := strings.IndexFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e }); i >= 0 {
				t.Errorf("CanonicalHost(%q): the message holds a raw control character: %q", c.host, err)
			}
		}
	}
}

func checkCanonical(t interface{ Fatalf(string, ...any) }, host string) {
	got, err := CanonicalHost(host)
	if err != nil {
		if got != "" {
			t.Fatalf("CanonicalHost(%q) = %q together with %v", host, got, err)
		}
		return
	}
	again, err := CanonicalHost(got)
	if again != got || err != nil {
		t.Fatalf("CanonicalHost(%q) = %q, and of that %q, %v", host, got, again, err)
	}
	for i := 0; i < len(got); i++ {
		c := got[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte(".-_:", c) >= 0) {
			t.Fatalf("CanonicalHost(%q) = %q, which holds %q", host, got, c)
		}
	}
}

func TestCanonicalHostIsIdempotent(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "ok", "TEST", "xn--", "xn--bcher-kva", "ü", "。", ".", "-", "_", "0", "0x", "7f", "255", "256", "08",
		"：", ":", "[", "]", "%", "@", "\x00", "ß", "ⓞ", "\u200d", "א", "1", "２", "\xff", "::", "ffff",
	})
	rapid.Check(t, func(t *rapid.T) {
		checkCanonical(t, strings.Join(rapid.SliceOfN(piece, 0, 9).Draw(t, "pieces"), ""))
	})
}

func TestCanonicalHostAllocatesNothingForCanonicalHosts(t *testing.T) {
	for _, host := range []string{"packages.example.org", "127.0.0.1", "localhost", "ok.test."} {
		if n := testing.AllocsPerRun(100, func() { _, _ = CanonicalHost(host) }); n != 0 {
			t.Errorf("CanonicalHost(%q): %v allocations, want 0", host, n)
		}
	}
}

func FuzzCanonicalHost(f *testing.F) {
	for _, c := range spellings {
		f.Add(c.host)
	}
	f.Fuzz(func(t *testing.T, host string) { checkCanonical(t, host) })
}
