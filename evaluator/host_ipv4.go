package evaluator

import (
	"net/netip"
	"strings"
)

// endsInNumber reports whether the last label of name is a number, decimal or hexadecimal. No top-level domain is
// one, and a resolver takes such a name for an address (WHATWG URL, "ends in a number checker").
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits, base := last, uint64(10)
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		digits, base = hex, 16
	}
	for i := 0; i < len(digits); i++ {
		if digit(digits[i]) >= base {
			return false
		}
	}
	return true
}

// plainIPv4 reads name as inet_aton(3) does: up to four numbers, of which the last fills the bytes that are left.
// A name that is plain already is returned as it is.
func plainIPv4(name string) (string, bool) {
	var parts [4]uint64
	n := 0
	for rest, more := name, true; more; n++ {
		if n == len(parts) {
			return "", false
		}
		var part string
		part, rest, more = strings.Cut(rest, ".")
		v, ok := ipv4Number(part)
		if !ok || more && v > 255 {
			return "", false
		}
		parts[n] = v
	}
	last := parts[n-1]
	if last >= 1<<(8*uint(5-n)) {
		return "", false
	}
	address := last
	for i, v := range parts[:n-1] {
		address |= v << (8 * uint(3-i))
	}
	addr := netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)})
	var buf [15]byte
	if plain := addr.AppendTo(buf[:0]); string(plain) != name {
		return string(plain), true
	}
	return name, true
}

// ipv4Number reads one part: "0x" before hexadecimal digits or none, "0" before octal digits, else decimal. Numbers
// above 32 bits are no part of an address.
func ipv4Number(s string) (uint64, bool) {
	base := uint64(10)
	switch {
	case s == "":
		return 0, false
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	var v uint64
	for i := 0; i < len(s); i++ {
		d := digit(s[i])
		if d >= base {
			return 0, false
		}
		if v = v*base + d; v > 1<<32-1 {
			return 0, false
		}
	}
	return v, true
}

// digit is the value of a hexadecimal digit in lower case, and 255 for any other byte.
func digit(c byte) uint64 {
	switch {
	case '0' <= c && c <= '9':
		return uint64(c - '0')
	case 'a' <= c && c <= 'f':
		return uint64(c-'a') + 10
	}
	return 255
}
