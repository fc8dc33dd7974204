package srtconfig

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// DomainPattern is a compiled entry of a list of domains. The grammar is srt's (0.0.78, dist/sandbox/domain-pattern.js
// and sandbox-config.js), checked more strictly:
//
//	example.com         that name alone, at any port
//	*.example.com       every strict sub-domain of it, at any depth; not example.com itself, and never an address
//	example.com:443     that name at that port
//	localhost           the only name of one label
//	127.0.0.1, [::1]    an address; IPv6 stands in brackets
//	*, *:22             every host (deniedDomains only)
//
// The zero value matches nothing. A DomainPattern is comparable.
type DomainPattern struct {
	kind patternKind
	host string     // canonical; for a wildcard the part after "*."
	addr netip.Addr // valid for an address alone
	port uint16     // 0: any
}

type patternKind uint8

const (
	matchNothing patternKind = iota
	matchName
	matchSubdomains
	matchAddress
	matchEvery
)

// PatternUse says which list a pattern stands in.
type PatternUse uint8

const (
	ForAllow PatternUse = iota // an optional port
	ForDeny                    // an optional port, and "*"
	ForMitm                    // no port
)

// Match reports whether the pattern speaks of a host and port. The host must be canonical, as evaluator.CanonicalHost
// gives it; another spelling of it does not match. It does not allocate.
func (p DomainPattern) Match(host string, port uint16) bool {
	if p.port != 0 && p.port != port {
		return false
	}
	switch p.kind {
	case matchEvery:
		return true
	case matchName, matchAddress:
		return host == p.host
	case matchSubdomains:
		// An address is no sub-domain of anything: a zone such as "::1%x.example.com" would end like one.
		rest, ok := strings.CutSuffix(host, p.host)
		return ok && len(rest) > 1 && rest[len(rest)-1] == '.' && !strings.ContainsAny(host, ":%")
	}
	return false
}

// Covers reports whether every host and port that q matches is matched by p too.
func (p DomainPattern) Covers(q DomainPattern) bool {
	if p.port != 0 && p.port != q.port {
		return false
	}
	switch q.kind {
	case matchNothing:
		return true
	case matchEvery:
		return p.kind == matchEvery
	case matchSubdomains:
		return p.kind == matchEvery || p.kind == matchSubdomains && (q.host == p.host || strings.HasSuffix(q.host, "."+p.host))
	}
	p.port = 0
	return p.Match(q.host, 0)
}

// overlaps reports whether some host and port is matched by both.
func (p DomainPattern) overlaps(q DomainPattern) bool {
	if p.kind == matchNothing || q.kind == matchNothing || p.port != 0 && q.port != 0 && p.port != q.port {
		return false
	}
	p.port, q.port = 0, 0
	return p.Covers(q) || q.Covers(p)
}

// Addr returns the address of a pattern that names one.
func (p DomainPattern) Addr() (netip.Addr, bool) { return p.addr, p.kind == matchAddress }

// Host is the canonical name or address that the pattern was made from, without "*." and port; "" for "*".
func (p DomainPattern) Host() string { return p.host }

// Port is the only port that the pattern matches; 0 is any.
func (p DomainPattern) Port() uint16 { return p.port }

// String is the pattern in its canonical spelling.
func (p DomainPattern) String() string {
	s := p.host
	switch p.kind {
	case matchNothing:
		return ""
	case matchEvery:
		s = "*"
	case matchSubdomains:
		s = "*." + p.host
	case matchAddress:
		if p.addr.Is6() {
			s = "[" + p.host + "]"
		}
	}
	if p.port != 0 {
		s += ":" + strconv.Itoa(int(p.port))
	}
	return s
}

// MarshalText is String.
func (p DomainPattern) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// ParseDomainPattern compiles one entry. The error says what is wrong and shows the right form where there is one.
func ParseDomainPattern(s string, use PatternUse) (DomainPattern, error) {
	if s == "" {
		return DomainPattern{}, errors.New("an empty entry matches nothing; leave it out, or name a host")
	}
	if err := foreignSyntax(s); err != nil {
		return DomainPattern{}, err
	}
	host, port, err := splitPatternPort(s)
	if err != nil {
		return DomainPattern{}, err
	}
	if port != 0 && use == ForMitm {
		return DomainPattern{}, fmt.Errorf("no port is allowed here; write %q", host)
	}
	if host == "*" {
		if use == ForDeny {
			return DomainPattern{kind: matchEvery, port: port}, nil
		}
		return DomainPattern{}, errors.New(`"*" would allow every host; name the domains, as in "*.example.com", or set network.allowAllDomains to true`)
	}
	if base, ok := strings.CutPrefix(host, "*."); ok {
		base, err := patternName(base)
		if err != nil {
			return DomainPattern{}, err
		}
		if _, isAddr := literalAddr(base); isAddr {
			return DomainPattern{}, fmt.Errorf("an address has no sub-domains; write %q", base)
		}
		if !strings.Contains(base, ".") {
			return DomainPattern{}, fmt.Errorf(`"*.%s" is too broad; name at least two labels, as in "*.example.%s"`, base, base)
		}
		return DomainPattern{kind: matchSubdomains, host: base, port: port}, nil
	}
	if strings.Contains(host, "*") {
		return DomainPattern{}, errors.New(`a "*" may only stand for the whole first label, as in "*.example.com"`)
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !strings.HasSuffix(inner, "]") || addr.Zone() != "" || !addr.Is6() {
			return DomainPattern{}, errors.New(`brackets hold an IPv6 address without a zone, as in "[::1]" or "[2001:db8::1]:443"`)
		}
		addr = addr.Unmap() // the kernel connects a mapped address to the IPv4 one
		return DomainPattern{kind: matchAddress, host: addr.String(), addr: addr, port: port}, nil
	}
	name, err := patternName(host)
	if err != nil {
		return DomainPattern{}, err
	}
	if addr, isAddr := literalAddr(name); isAddr {
		if addr.String() != name {
			return DomainPattern{}, fmt.Errorf("%q is another spelling of an address; write %q", name, addr)
		}
		return DomainPattern{kind: matchAddress, host: name, addr: addr, port: port}, nil
	}
	if numericLabel(name[strings.LastIndexByte(name, '.')+1:]) {
		return DomainPattern{}, fmt.Errorf("%q ends in a number, and is no address", name)
	}
	if !strings.Contains(name, ".") && name != "localhost" {
		return DomainPattern{}, fmt.Errorf(`%q is a single label; write the full name, as in "%s.example.com"`, name, name)
	}
	return DomainPattern{kind: matchName, host: name, port: port}, nil
}

// foreignSyntax refuses URLs and what is left of them, with the host that was meant.
func foreignSyntax(s string) error {
	if i := strings.IndexFunc(s, func(r rune) bool { return r < 0x21 || r == 0x7f }); i >= 0 {
		return fmt.Errorf("%q holds a space or a control character", s)
	}
	rest := s
	if scheme, after, ok := strings.Cut(s, "://"); ok && !strings.ContainsAny(scheme, "/.") {
		rest = after
	}
	rest, _, _ = strings.Cut(rest, "/")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	if rest != s {
		if rest == "" {
			return errors.New(`an entry is a host, as in "example.com"`)
		}
		return fmt.Errorf("an entry is a host, not a URL; write %q", rest)
	}
	if strings.Contains(s, "%") {
		return errors.New(`a "%" has no meaning in a host; write the character that it stands for`)
	}
	return nil
}

func splitPatternPort(s string) (host string, port uint16, err error) {
	hostEnd := strings.LastIndexByte(s, ':')
	switch {
	case strings.HasPrefix(s, "["):
		closing := strings.IndexByte(s, ']')
		if closing < 0 {
			return "", 0, errors.New(`the "[" is never closed`)
		}
		if closing == len(s)-1 {
			return s, 0, nil
		}
		if s[closing+1] != ':' {
			return "", 0, errors.New(`after "]" only a port may stand, as in "[::1]:443"`)
		}
		hostEnd = closing + 1
	case hostEnd < 0:
		return s, 0, nil
	case strings.IndexByte(s, ':') != hostEnd:
		return "", 0, fmt.Errorf(`an IPv6 address stands in brackets; write "[%s]", or "[address]:port"`, s)
	}
	digits := s[hostEnd+1:]
	n, convErr := strconv.ParseUint(digits, 10, 16)
	if convErr != nil || n == 0 || digits[0] == '0' || digits[0] == '+' {
		return "", 0, fmt.Errorf(`%q is no port; write a number from 1 to 65535, as in "example.com:443", or leave it out`, digits)
	}
	return s[:hostEnd], uint16(n), nil
}

// patternName checks a name and lowers its case.
func patternName(s string) (string, error) {
	for _, r := range s {
		if r >= 0x80 {
			ascii, err := idna.Lookup.ToASCII(s)
			if err != nil {
				return "", fmt.Errorf("%q is no host name", s)
			}
			return "", fmt.Errorf("%q is sent over the network in another form; write %q", s, ascii)
		}
	}
	if trimmed := strings.TrimSuffix(s, "."); trimmed != s && trimmed != "" && checkName(trimmed) == nil {
		return "", fmt.Errorf("leave the last dot out; write %q", trimmed)
	}
	if err := checkName(s); err != nil {
		return "", err
	}
	return strings.ToLower(s), nil
}

// checkName applies the lengths of RFC 1035, section 2.3.4, and the characters that are seen in real names: letters,
// digits, hyphen, and the underscore of service names.
func checkName(s string) error {
	const longestName, longestLabel = 253, 63
	if len(s) > longestName {
		return fmt.Errorf("a host name has at most %d bytes, this one has %d", longestName, len(s))
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" {
			return fmt.Errorf("%q has an empty label between two dots or at an end", s)
		}
		if len(label) > longestLabel {
			return fmt.Errorf("a label has at most %d bytes, %q has %d", longestLabel, label, len(label))
		}
		for i := range len(label) {
			c := label[i]
			if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
				continue
			}
			return fmt.Errorf("%q may not stand in a host name", c)
		}
	}
	return nil
}
