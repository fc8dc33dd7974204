package srtconfig

import (
	"net/netip"
	"strconv"
	"strings"
)

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
