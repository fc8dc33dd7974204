package jsonval

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
)

// number returns a json.Number, or a float64 for what JSON cannot write.
func (d *decoder) number() (any, *SyntaxError) {
	start := d.pos
	sign := ""
	switch c := d.text[d.pos]; {
	case c == '-':
		sign = "-"
		d.pos++
	case c == '+': // JSON5 only: value has looked
		d.pos++
	}
	if d.json5 {
		rest := d.text[d.pos:]
		switch {
		case strings.HasPrefix(rest, "Infinity"):
			d.pos += len("Infinity")
			return math.Inf(1 - 2*len(sign)), d.numberEnds(start)
		case strings.HasPrefix(rest, "NaN"):
			d.pos += len("NaN")
			return math.NaN(), d.numberEnds(start)
		case strings.HasPrefix(rest, "0x"), strings.HasPrefix(rest, "0X"):
			return d.hex(start, sign)
		}
	}
	whole := d.digits()
	fraction, exponent := "", ""
	switch {
	case whole == "" && !(d.json5 && d.pos < len(d.text) && d.text[d.pos] == '.'):
		return nil, d.unexpected("a digit")
	case len(whole) > 1 && whole[0] == '0':
		return nil, d.fail(start, "a number with a leading zero")
	}
	if d.pos < len(d.text) && d.text[d.pos] == '.' {
		d.pos++
		fraction = d.digits()
		if fraction == "" && (!d.json5 || whole == "") {
			return nil, d.unexpected("a digit")
		}
	}
	if d.pos < len(d.text) && (d.text[d.pos] == 'e' || d.text[d.pos] == 'E') {
		from := d.pos
		d.pos++
		if d.pos < len(d.text) && (d.text[d.pos] == '+' || d.text[d.pos] == '-') {
			d.pos++
		}
		if d.digits() == "" {
			return nil, d.unexpected("a digit")
		}
		exponent = d.text[from:d.pos]
	}
	if err := d.numberEnds(start); err != nil {
		return nil, err
	}
	if literal := d.text[start:d.pos]; literal[0] != '+' && whole != "" && (fraction != "" || !strings.Contains(literal, ".")) {
		return json.Number(literal), nil
	}
	// As JSON would write it.
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return json.Number(sign + whole + fraction + exponent), nil
}

func (d *decoder) digits() string {
	from := d.pos
	for d.pos < len(d.text) && '0' <= d.text[d.pos] && d.text[d.pos] <= '9' {
		d.pos++
	}
	return d.text[from:d.pos]
}

// numberEnds refuses a name right after a number, as ECMAScript does. In JSON whatever follows is refused anyway.
func (d *decoder) numberEnds(start int) *SyntaxError {
	if !d.json5 || d.pos >= len(d.text) {
		return nil
	}
	if r, _ := utf8.DecodeRuneInString(d.text[d.pos:]); isIdentifier(r, false) || r == '\\' {
		return d.fail(start, "a number with %q after it", r)
	}
	return nil
}

// hex reads a hexadecimal number of any size. pos is at its "0x".
func (d *decoder) hex(start int, sign string) (any, *SyntaxError) {
	d.pos += 2
	from := d.pos
	for d.pos < len(d.text) && hexDigit(d.text[d.pos]) >= 0 {
		d.pos++
	}
	if d.pos == from {
		return nil, d.unexpected("a hexadecimal digit")
	}
	if err := d.numberEnds(start); err != nil {
		return nil, err
	}
	// Converting takes more than linear time, and no real number is so long.
	if d.pos-from > 1024 {
		return nil, d.fail(start, "a hexadecimal number of %d digits", d.pos-from)
	}
	n, _ := new(big.Int).SetString(d.text[from:d.pos], 16) // the digits were checked
	return json.Number(sign + n.String()), nil
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
