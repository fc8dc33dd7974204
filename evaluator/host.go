package evaluator

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// HostError says why a host cannot be decided about. A host that has one is refused, never looked up.
type HostError struct {
	Host    string // as given; may hold any byte, quote it before it is printed
	Problem string // one clause, lower case, no full stop
}

// Error quotes the host, so that no control character of it reaches a terminal or a log.
func (e *HostError) Error() string { return fmt.Sprintf("host %q: %s", e.Host, e.Problem) }

// Lengths of a name in bytes: RFC 1035 section 3.1 gives 255 on the wire, which is 253 as text; a label has 63.
const (
	maxHost  = 255
	maxName  = 253
	maxLabel = 63
)

// CanonicalHost returns the one spelling of host that patterns are compared with and that must be the one dialled:
//
//   - a name in lower case, without the dot of the root, international labels as A-labels (UTS 46, not transitional);
//   - an IPv4 address as four decimal numbers, whatever spelling inet_aton(3) and the WHATWG URL standard
//     (section 3.5, "ends in a number") take for one: fewer parts, octal, hexadecimal, wide digits, ideographic dots;
//   - an IPv6 address without brackets, compressed as in RFC 5952; an IPv4-mapped one as the IPv4 address it reaches.
//
// Everything else is refused with a [*HostError]: an empty or over-long name or label, control and NUL bytes, white
// space, %, user information, a port, a path, a zone, bytes that are not UTF-8, a name whose last label is a number
// and which is no address. An underscore is taken, as names such as _acme-challenge exist. CanonicalHost of its own
// result is that result. A host that is already canonical costs no allocation, unless it holds an A-label.
//
// Other IPv6 forms that carry an IPv4 address (NAT64, 6to4, IPv4-compatible) stay IPv6: they are judged when the
// connection is made, as addresses.
func CanonicalHost(host string) (string, error) {
	if host == "" {
		return "", &HostError{host, "it is empty"}
	}
	if len(host) > maxHost {
		return "", &HostError{"", "it is longer than 255 bytes"}
	}
	if host[0] == '[' || strings.IndexByte(host, ':') >= 0 {
		return canonicalIPv6(host)
	}
	scan, problem := scanName(host)
	if problem != "" {
		return "", &HostError{host, problem}
	}
	name := host
	if scan.wide || scan.ace {
		ascii, err := lookupProfile().ToASCII(name)
		if err != nil {
			return "", &HostError{host, "it is not a valid international name"}
		}
		// The mapping can bring forth any ASCII character: U+FF05 is a wide percent sign, U+2100 becomes "a/c".
		if scan, problem = scanName(ascii); problem != "" {
			return "", &HostError{host, problem}
		}
		name = ascii
	}
	if scan.upper {
		name = strings.ToLower(name)
	}
	name = strings.TrimSuffix(name, ".")
	if problem := checkLabels(name); problem != "" {
		return "", &HostError{host, problem}
	}
	if endsInNumber(name) {
		plain, ok := plainIPv4(name)
		if !ok {
			return "", &HostError{host, "it ends in a number and is no IPv4 address"}
		}
		return plain, nil
	}
	return name, nil
}

// lookupProfile is the profile of WHATWG's "domain to ASCII" with beStrict false: hyphens anywhere, as in the names
// of some content networks, and any ASCII character, which scanName then judges.
func lookupProfile() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false),
		idna.CheckHyphens(false), idna.CheckJoiners(true), idna.StrictDomainName(false))
}

// nameScan is what one pass over the bytes of a name found.
type nameScan struct {
	upper bool // an ASCII capital
	wide  bool // a byte outside ASCII
	ace   bool // possibly an A-label
}

// scanName classifies name and says what forbids it, or "".
func scanName(name string) (s nameScan, problem string) {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= utf8.RuneSelf:
			s.wide = true
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '_':
		case c == '-':
			s.ace = s.ace || i >= 3 && name[i-1] == '-'
		case 'A' <= c && c <= 'Z':
			s.upper = true
		default:
			return s, forbidden(c)
		}
	}
	if s.wide && !utf8.ValidString(name) {
		return s, "it is not UTF-8"
	}
	return s, ""
}

// forbidden words why a name may not hold the byte c.
func forbidden(c byte) string {
	switch {
	case c == 0:
		// libc ends a name at a NUL: evil.test\x00.ok.test would pass a suffix test and be looked up as evil.test.
		return "it holds a NUL byte"
	case c < ' ' || c == 0x7f:
		return "it holds a control character"
	case c == ' ':
		return "it holds white space"
	case c == '%':
		return "it holds a percent sign; names are not percent-decoded and zones are not accepted"
	case c == '@':
		return "it holds user information"
	case c == '/' || c == '\\' || c == '?' || c == '#':
		return "it holds more of a URL than the host"
	case c == '[' || c == ']':
		return "brackets stand around an IPv6 address only"
	case c == '*':
		return "a pattern is no host"
	}
	return "it holds a character that no host name has"
}

// checkLabels says what is wrong with the lengths of name or of its labels, or "".
func checkLabels(name string) string {
	if len(name) > maxName {
		return "it is longer than 253 bytes"
	}
	for rest := name; ; {
		label, after, more := strings.Cut(rest, ".")
		switch {
		case label == "":
			return "it has an empty label"
		case len(label) > maxLabel:
			return "it has a label of more than 63 bytes"
		case !more:
			return ""
		}
		rest = after
	}
}

// canonicalIPv6 takes an IPv6 address, in brackets or not.
func canonicalIPv6(host string) (string, error) {
	bare := host
	if host[0] == '[' {
		var closed bool
		if bare, closed = strings.CutSuffix(host[1:], "]"); !closed {
			return "", &HostError{host, "its bracket is not closed at the end; a port is given apart"}
		}
	}
	if strings.IndexByte(bare, '%') >= 0 {
		// A zone may hold dots: ::ffff:1.2.3.4%x.ok.test ends as a permitted name does, and reaches 1.2.3.4.
		return "", &HostError{host, "zones are not accepted"}
	}
	addr, err := netip.ParseAddr(bare)
	switch {
	case err != nil && host[0] != '[':
		return "", &HostError{host, "it holds a colon and is no IPv6 address; a port is given apart"}
	case err != nil:
		return "", &HostError{host, "it is no IPv6 address"}
	case addr.Is4():
		return "", &HostError{host, "brackets stand around an IPv6 address only"}
	}
	if plain := addr.Unmap().String(); plain != bare {
		return plain, nil
	}
	return bare, nil
}
