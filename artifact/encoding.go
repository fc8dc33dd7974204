package artifact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"unicode/utf16"
	"unicode/utf8"
)

// The encodings in which content can be shown. The zero value is utf-8.
const (
	encodingUTF8    = "utf-8"
	encodingUTF16   = "utf-16" // by its byte order mark, else little endian
	encodingUTF16LE = "utf-16le"
	encodingUTF16BE = "utf-16be"
	encodingLatin1  = "latin1"
	encodingHex     = "hex"
	encodingBase64  = "base64"
)

// decoder shows content in one encoding.
type decoder struct {
	name string
	// unit is the number of bytes that belong together: ranges of bytes are cut to it.
	unit int64
	// lineEnd is the end of a line, at a multiple of its length from the start of the file.
	lineEnd []byte
	// room is how many bytes of content are enough to fill so many bytes of text.
	room func(text int) int64
	// show appends content and returns how many bytes it took.
	show func(o *output, b []byte) int
}

// decoderFor returns the decoder of an encoding. start holds the first bytes of the content, for its byte order.
func decoderFor(encoding string, start []byte) decoder {
	one := func(text int) int64 { return int64(text) + utf8.UTFMax }
	switch encoding {
	case encodingUTF16:
		if bytes.HasPrefix(start, []byte{0xfe, 0xff}) {
			return decoderFor(encodingUTF16BE, nil)
		}
		return decoderFor(encodingUTF16LE, nil)
	case encodingUTF16LE:
		d := decoder{name: encoding, unit: 2, lineEnd: []byte{'\n', 0}}
		d.room = func(text int) int64 { return 2*int64(text) + 4 }
		d.show = func(o *output, b []byte) int { return showUTF16(o, b, 0) }
		return d
	case encodingUTF16BE:
		d := decoder{name: encoding, unit: 2, lineEnd: []byte{0, '\n'}}
		d.room = func(text int) int64 { return 2*int64(text) + 4 }
		d.show = func(o *output, b []byte) int { return showUTF16(o, b, 1) }
		return d
	case encodingLatin1:
		return decoder{name: encoding, unit: 1, lineEnd: newline, room: one, show: showLatin1}
	case encodingHex:
		return decoder{name: encoding, unit: 1, lineEnd: newline, room: one, show: showHex}
	case encodingBase64:
		return decoder{name: encoding, unit: 1, lineEnd: newline, room: one, show: showBase64}
	}
	return decoder{name: encodingUTF8, unit: 1, lineEnd: newline, room: one, show: (*output).bytes}
}

// readable reports whether the encoding gives text, and not a picture of bytes.
func (d decoder) readable() bool { return d.name != encodingHex && d.name != encodingBase64 }

// showUTF16 shows code units of which the low byte is at low. A byte order mark at the start is not shown.
func showUTF16(o *output, b []byte, low int) int {
	unit := func(i int) rune { return rune(b[i+low]) | rune(b[i+1-low])<<8 }
	i := 0
	for i+1 < len(b) {
		r, size := unit(i), 2
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if i+3 < len(b) {
				pair = utf16.DecodeRune(r, unit(i+2))
			}
			if r = pair; r != utf8.RuneError {
				size = 4
			} else {
				o.replaced += 2
			}
		}
		if utf8.RuneLen(r) > o.left() {
			return i
		}
		if r != '\ufeff' || i > 0 {
			o.text = utf8.AppendRune(o.text, r)
		}
		i += size
	}
	if i < len(b) && o.left() >= utf8.RuneLen(utf8.RuneError) { // half a code unit at the end
		o.text = utf8.AppendRune(o.text, utf8.RuneError)
		o.replaced++
		i++
	}
	return i
}

func showLatin1(o *output, b []byte) int {
	for i, c := range b {
		if utf8.RuneLen(rune(c)) > o.left() {
			return i
		}
		o.text = utf8.AppendRune(o.text, rune(c))
	}
	return len(b)
}

func showHex(o *output, b []byte) int {
	n := min(len(b), o.left()/2)
	o.text = hex.AppendEncode(o.text, b[:n])
	return n
}

func showBase64(o *output, b []byte) int {
	n := len(b)
	if most := o.left() / 4 * 3; n > most {
		n = most
	}
	o.text = base64.StdEncoding.AppendEncode(o.text, b[:n])
	return n
}
