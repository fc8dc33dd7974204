package tools

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// patch is one of the three forms, parsed.
type patch interface {
	// apply gives the new content and how many changes were made. It does not touch content, and makes nothing larger
	// than max bytes.
	apply(content []byte, max int64) (patched []byte, changes int, err error)
}

// parsePatch reads the argument of apply_patch, which was held against its schema already.
func parsePatch(raw json.RawMessage) (patch, error) {
	if raw[0] == '{' {
		var args struct {
			Find, Replace, Encoding string
			All                     bool
		}
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, err
		}
		find, err := decodeText("apply_patch", args.Find, args.Encoding)
		if err != nil {
			return nil, err
		}
		replace, err := decodeText("apply_patch", args.Replace, args.Encoding)
		if err != nil {
			return nil, err
		}
		if len(find) == 0 {
			return nil, mismatch("find is empty.")
		}
		return replacement{find: find, replace: replace, all: args.All}, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), envelopeBegin) {
		return parseEnvelope(text)
	}
	return parseUnified(text)
}

func mismatch(detail outcome.Plain) *outcome.Error {
	e := outcome.New(outcome.PatchMismatch, "", nil)
	e.Detail = detail
	return e
}

// replacement is {find, replace, all?}. Nothing in it is a pattern: no $ and no backslash has a meaning.
type replacement struct {
	find, replace []byte
	all           bool
}

func (r replacement) apply(content []byte, max int64) ([]byte, int, error) {
	count := occurrences(content, r.find)
	switch {
	case count == 0:
		return nil, 0, mismatch("The text to find does not occur." + lineEndHint(content, r.find))
	case count > 1 && !r.all:
		return nil, 0, mismatch(outcome.Number("The text to find occurs ", int64(count), " times. Give more of what stands around the one that is meant, or set all."))
	}
	// Counted without overlaps, as they are replaced.
	count = bytes.Count(content, r.find)
	if size := int64(len(content)) + int64(count)*(int64(len(r.replace))-int64(len(r.find))); size > max {
		return nil, 0, outcome.New(outcome.TooLarge, "", nil)
	}
	return bytes.ReplaceAll(content, r.find, r.replace), count, nil
}

// occurrences counts where find begins, overlaps included: "aa" stands in "aaa" at two places, and which one is meant
// cannot be told.
func occurrences(content, find []byte) int {
	count := 0
	for at := 0; ; count++ {
		next := bytes.Index(content[at:], find)
		if next < 0 {
			return count
		}
		at += next + 1
	}
}

// lineEndHint says what a model cannot see in most displays.
func lineEndHint(content, wanted []byte) outcome.Plain {
	if bytes.Contains(content, []byte("\r\n")) && bytes.Contains(wanted, []byte("\n")) && !bytes.Contains(wanted, []byte("\r\n")) {
		return " The medium's lines end in CRLF: write them so."
	}
	return ""
}
