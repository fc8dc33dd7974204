package evaluator

import (
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

func TestExplain(t *testing.T) {
	entry := func(list srtconfig.List, text, path string, dir bool) *srtconfig.PathRule {
		return &srtconfig.PathRule{List: list, Path: path, Dir: dir, Exists: true,
			Source: srtconfig.Source{File: "s.json", Line: 7, Column: 3, Text: text}}
	}
	builtIn := func(path string) *srtconfig.PathRule {
		return &srtconfig.PathRule{List: srtconfig.Protected, Path: path, Source: srtconfig.Source{Text: ".git/x"}}
	}
	ssh := entry(srtconfig.DenyRead, "~/.ssh", "/h/.ssh", true)
	domain := &srtconfig.DomainRule{Source: srtconfig.Source{File: "s.json", Line: 9, Text: "*.evil.test"}}
	for _, c := range []struct {
		d    Decision
		want string
	}{
		{Decision{}, "denied, as nothing was decided"},
		{Decision{Allowed: true, Reason: ReadOpen}, "reading is open: no denyRead entry covers this path"},
		{Decision{Allowed: true, Reason: AllowedByEntry, Rule: entry(srtconfig.AllowRead, "~/ws", "/h/ws", true)},
			`allowed by allowRead "~/ws" (s.json:7)`},
		{Decision{Reason: DeniedByEntry, Op: Read, Rule: ssh},
			`denied by denyRead "~/.ssh" (s.json:7); an allowRead entry for this path opens it`},
		{Decision{Reason: DeniedByEntry, Op: Read, Rule: entry(srtconfig.DenyRead, "./k", "/w/k", false)},
			`denied by denyRead "./k" (s.json:7); an allowRead entry for that very file opens it`},
		{Decision{Reason: DeniedByEntry, Op: Write, Rule: entry(srtconfig.DenyWrite, "./d", "/w/d", true)},
			`denied by denyWrite "./d" (s.json:7), which wins over every allowWrite entry; take it out or narrow it to open it`},
		{Decision{Reason: WriteClosed, Op: Write}, "writing is closed: no allowWrite entry covers this path; add one to open it"},
		{Decision{Reason: Unreadable, Op: Write, Rule: ssh},
			`what cannot be read cannot be written, and denyRead "~/.ssh" (s.json:7) closes it for reading; an allowRead entry for this path opens it`},
		{Decision{Reason: ProtectedPath, Op: Write, Rule: builtIn("/w/.git/hooks")},
			`the protected path ".git/x" may not be written, as programs outside the sandbox trust it; no entry opens it`},
		{Decision{Reason: ProtectedPath, Op: Write, Rule: builtIn("/w/.git/config")},
			`the protected path ".git/x" may not be written, as programs outside the sandbox trust it; filesystem.allowGitConfig opens it`},
		{Decision{Reason: Way, Allowed: true, Op: Read, Rule: ssh},
			`this directory may be listed, but only shows the way to what is re-opened below it, as denyRead "~/.ssh" (s.json:7) closes it`},
		{Decision{Reason: Way, Op: Write, Rule: ssh},
			`this directory only shows the way to what is re-opened below it, as denyRead "~/.ssh" (s.json:7) closes it, so nothing can be made or removed in it; an allowRead entry for this path opens it`},
		{Decision{Reason: Way, Allowed: true, Op: Read},
			"the sandbox has its own directory here, which shows the way to what of the host appears in it and nothing else"},
		{Decision{Reason: Pinned, Op: Remove, Rule: entry(srtconfig.AllowWrite, ".", "/w", true)},
			`allowWrite "." (s.json:7) stands at or below this path, or was reached through it, so its name cannot be taken away; remove what is inside instead, or take that entry out`},
		{Decision{Reason: DeniedByGlob, Op: Read, Glob: &srtconfig.GlobRule{List: srtconfig.DenyRead,
			Source: srtconfig.Source{File: "s.json", Line: 4, Text: "**/*.pem"}}},
			`denied by denyRead "**/*.pem" (s.json:4), whose pattern matches; an allowRead entry for this path opens it`},
		{Decision{Reason: DeniedByGlob, Op: Write, Glob: &srtconfig.GlobRule{List: srtconfig.DenyWrite,
			Source: srtconfig.Source{File: "s.json", Line: 4, Text: "*.lock"}}},
			`denied by denyWrite "*.lock" (s.json:4), whose pattern matches; take it out or narrow it to open it`},
		{Decision{Reason: BadPath, Problem: "it is not absolute"}, "refused, as the path is not absolute and clean: it is not absolute"},
		{Decision{Reason: BadHost, Problem: "it is empty"}, "refused, as there is no one way to read the host: it is empty"},
		{Decision{Reason: NetworkClosed}, "no allowedDomains entry covers this host and port; add one to open it"},
		{Decision{Reason: DeniedByEntry, Op: Connect, Domain: domain},
			`denied by deniedDomains "*.evil.test" (s.json:9), which wins over allowedDomains; take it out or narrow it to open it`},
		{Decision{Reason: DeniedByEntry, Op: Connect, Domain: &srtconfig.DomainRule{Reason: "use the mirror", Source: domain.Source}},
			`denied by deniedDomains "*.evil.test" (s.json:9): use the mirror`},
		{Decision{Reason: AllowedByEntry, Allowed: true, Op: Connect, Domain: domain}, `allowed by allowedDomains "*.evil.test" (s.json:9)`},
	} {
		if got := c.d.Explain(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// Every reason has a sentence of its own, and none ends like a fragment or holds what a settings author can inject.
func TestExplainIsOneCleanSentence(t *testing.T) {
	hostile := srtconfig.Source{File: "a\nb.json", Line: 1, Text: "x\x1b[2J\ny"}
	for r := ReadOpen; r <= NetworkClosed; r++ {
		for op := Read; op <= Connect; op++ {
			d := Decision{Reason: r, Op: op, Problem: "p"}
			if op == Connect {
				d.Domain = &srtconfig.DomainRule{Reason: "because\x1b]0;\n", Source: hostile}
			} else {
				d.Rule = &srtconfig.PathRule{List: srtconfig.DenyRead, Source: hostile}
			}
			text := d.Explain()
			if text == (Decision{}).Explain() {
				t.Errorf("%s has no sentence", r)
			}
			if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) || strings.HasSuffix(text, ".") {
				t.Errorf("%s %s: %q", op, r, text)
			}
		}
	}
}
