package srtconfig

import (
	"strings"
)

// gitVariable is one line of a git configuration file.
type gitVariable struct {
	section string // lower case; what stands in quotes after it is left out
	name    string // lower case
	value   string
}

// parseGitConfig reads the syntax of git-config(1), "Syntax": sections with an optional quoted name, quoted and
// continued values, comments. Git refuses a file with a malformed line; here such a line is skipped, and the rest still
// counts, so that a broken file does not take protection away. Running git would obey the file that is looked at.
func parseGitConfig(text string) []gitVariable {
	var out []gitVariable
	section := ""
	text = strings.TrimPrefix(text, "\ufeff")
	for text != "" {
		text = strings.TrimLeft(text, " \t\r\n\v\f")
		if text == "" {
			break
		}
		switch text[0] {
		case '#', ';':
			text = afterLine(text)
		case '[':
			section, text = gitSection(text)
		default:
			var v gitVariable
			v, text = gitLine(text)
			if v.name != "" {
				v.section = section
				out = append(out, v)
			}
		}
	}
	return out
}

func afterLine(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// gitSection reads `[name]` or `[name "sub"]`. A quoted name may hold a bracket.
func gitSection(text string) (name, rest string) {
	quoted := false
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return "", text[i:]
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ']' && !quoted:
			head, _, _ := strings.Cut(text[1:i], `"`)
			head = strings.TrimSpace(head)
			head, _, _ = strings.Cut(head, ".")
			return strings.ToLower(head), text[i+1:]
		}
	}
	return "", ""
}

// gitLine reads `name = value`, or a name alone, which means true.
func gitLine(text string) (gitVariable, string) {
	end := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	})
	if end == 0 {
		return gitVariable{}, afterLine(text)
	}
	if end < 0 {
		end = len(text)
	}
	v := gitVariable{name: strings.ToLower(text[:end])}
	rest := strings.TrimLeft(text[end:], " \t")
	if !strings.HasPrefix(rest, "=") {
		v.value = "true"
		return v, afterLine(rest)
	}
	v.value, rest = gitValue(rest[1:])
	return v, rest
}

// gitValue reads a value up to the end of its last line. Spaces around it go; those in quotes stay.
func gitValue(text string) (value, rest string) {
	var b strings.Builder
	text = strings.TrimLeft(text, " \t")
	quoted := false
	kept := 0 // length without the spaces at the end
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			return b.String()[:kept], text[i+1:]
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case '\n':
				continue
			case '\r':
				if i+1 < len(text) && text[i+1] == '\n' {
					i++
				}
				continue
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'b':
				b.WriteByte('\b')
			default:
				b.WriteByte(text[i])
			}
			kept = b.Len()
			continue
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:kept], afterLine(text[i:])
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			b.WriteByte(c)
			continue
		}
		b.WriteByte(c)
		kept = b.Len()
	}
	return b.String()[:kept], ""
}
