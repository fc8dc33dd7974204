package evaluator

import (
	"fmt"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// Explain says in one sentence, without a final full stop, why the decision is what it is, which entry of the settings
// decided (as written, with file and line) and what would change it. It is meant for a person and for a model: it holds
// no path but what the settings say, and no control character.
func (d Decision) Explain() string {
	switch d.Reason {
	case ReadOpen:
		return "reading is open: no denyRead entry covers this path"
	case AllowedByEntry:
		return "allowed by " + d.entry()
	case AllDomains:
		return "allowed by network.allowAllDomains, and no deniedDomains entry names this host and port"
	case Disabled:
		return "filesystem.disabled is set: every path may be read and written"
	case Way:
		return d.explainWay()
	case DeniedByEntry:
		return d.explainDenied()
	case DeniedByGlob:
		return "denied by " + d.entry() + ", whose pattern matches; " + d.reopen()
	case WriteClosed:
		return "writing is closed: no allowWrite entry covers this path; add one to open it"
	case ProtectedPath:
		return d.explainProtected()
	case Unreadable:
		return "what cannot be read cannot be written, and " + d.entry() + " closes it for reading; " + d.reopen()
	case PrivateTmp:
		return `the sandbox has its own /tmp and /dev/shm, in which of the host's only the working directory and the entries ` +
			`of the settings appear; add an entry for this path, or set sandboxctl.tmp to "host"`
	case Pinned:
		return d.entry() + " stands at or below this path, or was reached through it, so its name cannot be taken away; " +
			"remove what is inside instead, or take that entry out"
	case BadPath:
		return "refused, as the path is not absolute and clean: " + d.Problem
	case BadHost:
		return "refused, as there is no one way to read the host: " + d.Problem
	case NetworkClosed:
		return "no allowedDomains entry covers this host and port; add one to open it"
	}
	return "denied, as nothing was decided"
}

func (d Decision) explainWay() string {
	if d.Rule == nil && d.Glob == nil {
		return "the sandbox has its own directory here, which shows the way to what of the host appears in it and nothing else"
	}
	if d.Op != Read {
		return "this directory only shows the way to what is re-opened below it, as " + d.entry() +
			" closes it, so nothing can be made or removed in it; " + d.reopen()
	}
	return "this directory may be listed, but only shows the way to what is re-opened below it, as " + d.entry() + " closes it"
}

func (d Decision) explainDenied() string {
	switch {
	case d.Domain != nil && d.Domain.Reason != "":
		return fmt.Sprintf("denied by %s: %s", d.entry(), plainText(d.Domain.Reason))
	case d.Domain != nil:
		return "denied by " + d.entry() + ", which wins over allowedDomains; take it out or narrow it to open it"
	case d.Rule != nil && d.Rule.List == srtconfig.DenyWrite:
		return "denied by " + d.entry() + ", which wins over every allowWrite entry; take it out or narrow it to open it"
	}
	return "denied by " + d.entry() + "; " + d.reopen()
}

// reopen says what opens a path for reading that Rule or Glob closes; for a denyWrite pattern nothing but its end does.
func (d Decision) reopen() string {
	if d.Glob != nil && d.Glob.List == srtconfig.DenyWrite {
		return "take it out or narrow it to open it"
	}
	if d.Rule != nil && d.Rule.Exists && !d.Rule.Dir {
		return "an allowRead entry for that very file opens it"
	}
	return "an allowRead entry for this path opens it"
}

func (d Decision) explainProtected() string {
	if d.Rule == nil {
		return "this path is protected"
	}
	text := d.entry() + " may not be written, as programs outside the sandbox trust it"
	if strings.HasSuffix(d.Rule.Path, "/config") || strings.HasSuffix(d.Rule.Path, "/config.worktree") {
		return text + "; filesystem.allowGitConfig opens it"
	}
	return text + "; no entry opens it"
}

// entry names what decided, as the settings write it.
func (d Decision) entry() string {
	switch {
	case d.Rule != nil:
		return entryText(d.Rule.List.String(), d.Rule.Source)
	case d.Glob != nil:
		return entryText(d.Glob.List.String(), d.Glob.Source)
	case d.Domain != nil && d.Allowed:
		return entryText("allowedDomains", d.Domain.Source)
	case d.Domain != nil:
		return entryText("deniedDomains", d.Domain.Source)
	}
	return "no entry"
}

// entryText is, for example, denyRead "~/.ssh" (settings.json:12), or: the protected path ".git/hooks".
func entryText(list string, s srtconfig.Source) string {
	if list == srtconfig.Protected.String() {
		list = "the protected path"
	}
	text := fmt.Sprintf("%s %q", list, s.Text)
	if s.File == "" {
		return text
	}
	if s.Line == 0 {
		return fmt.Sprintf("%s (%s)", text, plainText(s.File))
	}
	return fmt.Sprintf("%s (%s:%d)", text, plainText(s.File), s.Line)
}

// plainText keeps what a settings file or its name holds from moving a cursor or starting a line.
func plainText(s string) string {
	quoted := fmt.Sprintf("%q", s)
	if quoted == `"`+s+`"` {
		return s
	}
	return quoted
}
