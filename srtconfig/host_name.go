package srtconfig

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// CanonicalHost gives the one spelling of a host that patterns are matched against and that is to be dialled: lower
// case, no trailing dot, international names in their ASCII form, every numeric spelling of an IPv4 address that
// inet_aton(3) takes ("127.1", "0x7f.1", "2130706433") as dotted decimal, IPv6 compressed and without brackets, and
// IPv4-mapped IPv6 as IPv4. A NUL, a control character, a space, a zone or a "%" is an error.
func CanonicalHost(host string) (string, error) {
	bare := host
	if inner, ok := strings.CutPrefix(host, "["); ok {
		closed, ok := strings.CutSuffix(inner, "]")
		if !ok {
			return "", fmt.Errorf("host %q: the bracket is never closed", host)
		}
		addr, err := netip.ParseAddr(closed)
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", fmt.Errorf("host %q: brackets hold an IPv6 address without a zone", host)
		}
		return addr.Unmap().String(), nil
	}
	if strings.Contains(bare, ":") {
		addr, err := netip.ParseAddr(bare)
		if err != nil || addr.Zone() != "" {
			return "", fmt.Errorf("host %q is no IPv6 address", host)
		}
		return addr.Unmap().String(), nil
	}
	for i := range len(bare) {
		if bare[i] >= 0x80 {
			ascii, err := idna.Lookup.ToASCII(bare)
			if err != nil {
				return "", fmt.Errorf("host %q: %w", host, err)
			}
			bare = ascii
			break
		}
	}
	bare = strings.TrimSuffix(bare, ".")
	if bare == "" {
		return "", errors.New("the host is empty")
	}
	if err := checkName(bare); err != nil {
		return "", fmt.Errorf("host %q: %w", host, err)
	}
	bare = strings.ToLower(bare)
	if addr, ok := literalAddr(bare); ok {
		return addr.String(), nil
	}
	if numericLabel(bare[strings.LastIndexByte(bare, '.')+1:]) {
		return "", fmt.Errorf("host %q ends in a number and is no address", host)
	}
	return bare, nil
}

// literalAddr reads an IPv4 address in any spelling that inet_aton(3) takes: one to four numbers, decimal, octal (0…)
// or hexadecimal (0x…), the last of which fills all bytes that are left.
func literalAddr(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 || !numericLabel(parts[len(parts)-1]) {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(octalAsGo(p), 0, 64)
		if err != nil || strings.ContainsRune(p, '_') {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			if n > 0xff {
				return netip.Addr{}, false
			}
			sum |= n << (24 - 8*i)
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, false
		}
		sum |= n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// octalAsGo keeps strconv from reading Go's own prefixes 0b and 0o, which inet_aton does not know.
func octalAsGo(p string) string {
	if len(p) > 1 && p[0] == '0' && (p[1]|0x20 == 'b' || p[1]|0x20 == 'o') {
		return "x"
	}
	return p
}

// numericLabel reports a last label that makes resolvers take the whole name for an address (WHATWG URL, "ends in a
// number"): all digits, or 0x and hexadecimal digits.
func numericLabel(s string) bool {
	if s == "" {
		return false
	}
	if len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		return strings.Trim(s[2:], "0123456789abcdefABCDEF") == ""
	}
	return strings.Trim(s, "0123456789") == ""
}
