package srtconfig

import (
	"slices"
	"strings"
	"testing"
)

func TestParseGitConfig(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []gitVariable
	}{
		"plain":           {"[core]\n\thooksPath = x/y\n", []gitVariable{{"core", "hookspath", "x/y"}}},
		"same line":       {"[CORE] HooksPath=x", []gitVariable{{"core", "hookspath", "x"}}},
		"spaces":          {"[ core ]\n  a-b  =  c  d  \n", []gitVariable{{"core", "a-b", "c  d"}}},
		"quoted":          {"[core]\na = \"  x # y \" z ; comment\n", []gitVariable{{"core", "a", "  x # y  z"}}},
		"escapes":         {`[core]` + "\n" + `a = b\\c\"d\te` + "\n", []gitVariable{{"core", "a", "b\\c\"d\te"}}},
		"continued":       {"[core]\na = b\\\n  c\nd = e\n", []gitVariable{{"core", "a", "b  c"}, {"core", "d", "e"}}},
		"windows lines":   {"[core]\r\na = b\r\n", []gitVariable{{"core", "a", "b"}}},
		"sub-section":     {"[includeIf \"gitdir:a]b\"]\npath = x\n[a.b]\nc=d\n", []gitVariable{{"includeif", "path", "x"}, {"a", "c", "d"}}},
		"name alone":      {"[core]\nbare\nx = 1", []gitVariable{{"core", "bare", "true"}, {"core", "x", "1"}}},
		"broken line":     {"[core]\n=?\na = b\n", []gitVariable{{"core", "a", "b"}}},
		"broken section":  {"[core\na = b\n[x]\nc = d", []gitVariable{{"", "a", "b"}, {"x", "c", "d"}}},
		"comments":        {"# [core]\n; a = b\n[core] ; x\na = b", []gitVariable{{"core", "a", "b"}}},
		"byte order mark": {"\ufeff[core]\na=b", []gitVariable{{"core", "a", "b"}}},
		"empty":           {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parseGitConfig(c.text); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzGitConfig(f *testing.F) {
	f.Add("[core]\n\thooksPath = \"x\\\"y\" # z\n[include \"a\"] path=b\\\nc")
	f.Fuzz(func(t *testing.T, text string) {
		for _, v := range parseGitConfig(text) {
			if v.name == "" || strings.ToLower(v.name) != v.name || len(v.value) > max(len(text), len("true")) {
				t.Errorf("%q gave %+v", text, v)
			}
		}
	})
}
