package artifact

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Result is the answer to a query. String is at most Options.MaxResultBytes long and always valid UTF-8.
type Result struct {
	// Text is what was asked for.
	Text string `json:"text"`
	// Notes say what a reader of Text has to know: what was cut and how to get the rest, that the file changed,
	// that bytes were not UTF-8.
	Notes []string `json:"notes,omitempty"`
	// Truncated is set when Text is not all that was asked for. A note then says how to ask for the rest.
	Truncated bool `json:"truncated,omitempty"`
	// Changed is set when the file is no longer what it was when it was opened.
	Changed bool `json:"changed,omitempty"`
}

// String returns the text followed by the notes, each in brackets on a line of its own.
func (r Result) String() string {
	if len(r.Notes) == 0 {
		return r.Text
	}
	var b strings.Builder
	b.WriteString(r.Text)
	if r.Text != "" && !strings.HasSuffix(r.Text, "\n") {
		b.WriteByte('\n')
	}
	for _, n := range r.Notes {
		b.WriteString("[" + n + "]\n")
	}
	return b.String()
}

// notesBytes is the part of a result that is kept for notes.
const notesBytes = 2 << 10

// output collects one result within its bound.
type output struct {
	text    []byte
	limit   int // of text
	notes   []string
	room    int // for notes
	cut     bool
	changed bool
	// replaced counts the bytes that were not UTF-8.
	replaced int64
}

func newOutput(limit int) *output {
	return &output{limit: limit - notesBytes, room: notesBytes}
}

// left is how many bytes of text there is room for.
func (o *output) left() int { return o.limit - len(o.text) }

// note adds a remark. What does not fit into the room for notes is left out: notes are short and few.
func (o *output) note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !utf8.ValidString(n) {
		n = strings.ToValidUTF8(n, "\ufffd")
	}
	if cost := len(n) + len("\n[]\n"); cost <= o.room {
		o.room -= cost
		o.notes = append(o.notes, n)
	}
}

// str appends valid UTF-8 as far as there is room, cut between characters, and reports whether all of it fitted.
func (o *output) str(s string) bool {
	if len(s) <= o.left() {
		o.text = append(o.text, s...)
		return true
	}
	n := max(0, o.left())
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	o.text = append(o.text, s[:n]...)
	return false
}

// whole appends s if there is room for all of it, and reports whether there was.
func (o *output) whole(s string) bool {
	if len(s) > o.left() {
		return false
	}
	o.text = append(o.text, s...)
	return true
}

// bytes appends content that may be anything: invalid UTF-8 becomes U+FFFD. It returns how many bytes of b it
// took, which are fewer when there was no room for the next character.
func (o *output) bytes(b []byte) int {
	if len(b) <= o.left() && utf8.Valid(b) {
		o.text = append(o.text, b...)
		return len(b)
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if utf8.RuneLen(r) > o.left() {
			return i
		}
		if r == utf8.RuneError && size == 1 {
			o.replaced++
		}
		o.text = utf8.AppendRune(o.text, r)
		i += size
	}
	return len(b)
}

func (o *output) result() Result {
	if o.replaced > 0 {
		o.note("%d bytes are not UTF-8 and are shown as U+FFFD; artifact_cat with encoding latin1, utf-16, hex or base64 shows them", o.replaced)
	}
	return Result{Text: string(o.text), Notes: o.notes, Truncated: o.cut, Changed: o.changed}
}
