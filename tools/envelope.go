package tools

import (
	"strings"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

const (
	envelopeBegin  = "*** Begin Patch"
	envelopeEnd    = "*** End Patch"
	envelopeUpdate = "*** Update File: "
	envelopeEOF    = "*** End of File"
)

// parseEnvelope reads
//
//	*** Begin Patch
//	*** Update File: name
//	@@ a line to look for first
//	 context
//	-old
//	+new
//	*** End of File
//	*** End Patch
//
// with one file. The name is not used. @@ begins a change; several @@ lines in a row narrow the place down. An empty line
// is an empty line of context. *** End of File says that the change stands at the end.
func parseEnvelope(text string) (patch, error) {
	lines := strings.Split(strings.Trim(text, " \t\r\n"), "\n")
	if strings.TrimRight(lines[0], " \t\r") != envelopeBegin || len(lines) < 2 || strings.TrimRight(lines[len(lines)-1], " \t\r") != envelopeEnd {
		return nil, mismatch("It must begin with the line *** Begin Patch and end with *** End Patch.")
	}
	lines = lines[1 : len(lines)-1]
	if len(lines) == 0 || !strings.HasPrefix(lines[0], envelopeUpdate) {
		return nil, mismatch("*** Begin Patch must be followed by *** Update File: only the lines of a medium can be changed, no file made, removed or renamed.")
	}
	p := envelopeParser{}
	for i, line := range lines[1:] {
		if err := p.line(line); err != "" {
			return nil, mismatch(outcome.Number("Line ", int64(i+3), " of the patch ") + err)
		}
	}
	p.finish()
	if len(p.hunks) == 0 {
		return nil, mismatch("It changes nothing.")
	}
	return p.hunks, nil
}

// envelopeParser takes the lines after the name of the file.
type envelopeParser struct {
	hunks   hunks
	current *hunk
	lines   int  // of the current hunk
	changed bool // the current hunk adds or removes something
	ended   bool // it had *** End of File
}

func (p *envelopeParser) finish() {
	if p.current != nil && p.changed {
		p.hunks = append(p.hunks, *p.current)
	}
	p.current, p.lines, p.changed, p.ended = nil, 0, false, false
}

func (p *envelopeParser) begin() *hunk {
	if p.current == nil {
		p.current = &hunk{at: -1, bareEnd: true}
	}
	return p.current
}

// line returns what is wrong with it, "" for nothing.
func (p *envelopeParser) line(line string) outcome.Plain {
	switch {
	case strings.TrimRight(line, " \t\r") == envelopeEOF:
		if p.current == nil {
			return "ends a change that did not begin."
		}
		p.current.atEnd, p.ended = true, true
		return ""
	case strings.HasPrefix(line, "*** "):
		return "begins another file, or names an action that a medium has not; patch each medium by itself."
	case strings.HasPrefix(line, "@@"):
		if p.lines > 0 {
			p.finish()
		}
		h := p.begin()
		if anchor := strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(line, "@@"), " "), "\r"); anchor != "" {
			h.after = append(h.after, []byte(anchor))
		}
		return ""
	case p.ended:
		return "comes after *** End of File."
	}
	h := p.begin()
	p.lines++
	mark, text := byte(' '), []byte("\n")
	if line != "" {
		mark, text = line[0], []byte(line[1:]+"\n")
	}
	switch mark {
	case ' ':
		h.old, h.new = append(h.old, text), append(h.new, text)
	case '-':
		h.old, p.changed = append(h.old, text), true
	case '+':
		h.new, p.changed = append(h.new, text), true
	default:
		return "begins with none of space, -, + and @@."
	}
	return ""
}
