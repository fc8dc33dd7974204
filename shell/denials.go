package shell

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// maxDenials bounds the lines about one command.
const maxDenials = 8

// denials says what the rules deny of the paths and addresses that stand in a command line literally, one clause each. They
// are true whether or not the command failed because of them.
func denials(command, dir string, rules *srtconfig.Rules, judge *evaluator.Evaluator) []string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	w := &watcher{command: command, dir: dir, rules: rules, judge: judge}
	first := firstCall(file)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			w.call(n, n == first)
		case *syntax.Redirect:
			w.redirect(n)
		}
		return len(w.told) < maxDenials
	})
	return w.told
}

// firstCall is the command that surely runs first, in the shell itself; nil if it is no plain one.
func firstCall(file *syntax.File) *syntax.CallExpr {
	if len(file.Stmts) == 0 {
		return nil
	}
	cmd := file.Stmts[0].Cmd
	for {
		switch c := cmd.(type) {
		case *syntax.CallExpr:
			return c
		case *syntax.BinaryCmd:
			if c.Op != syntax.AndStmt {
				return nil
			}
			cmd = c.X.Cmd
		default:
			return nil
		}
	}
}

type watcher struct {
	command string
	dir     string // what relative paths start from; "" when that is not known
	rules   *srtconfig.Rules
	judge   *evaluator.Evaluator
	told    []string
}

// writers are programs that write the paths they are given: all of them, or the last. Others only count as readers.
var writers = map[string]struct {
	last bool // the last path alone; the others are read
	ask  func(*evaluator.Evaluator, string) evaluator.Decision
}{
	"touch": {false, (*evaluator.Evaluator).CanWrite}, "mkdir": {false, (*evaluator.Evaluator).CanWrite}, "tee": {false, (*evaluator.Evaluator).CanWrite},
	"truncate": {false, (*evaluator.Evaluator).CanWrite}, "chmod": {false, (*evaluator.Evaluator).CanWrite}, "chown": {false, (*evaluator.Evaluator).CanWrite},
	"rm": {false, (*evaluator.Evaluator).CanRemove}, "rmdir": {false, (*evaluator.Evaluator).CanRemove}, "unlink": {false, (*evaluator.Evaluator).CanRemove},
	"cp": {true, (*evaluator.Evaluator).CanWrite}, "mv": {true, (*evaluator.Evaluator).CanWrite}, "ln": {true, (*evaluator.Evaluator).CanWrite}, "install": {true, (*evaluator.Evaluator).CanWrite},
}

// talkers only print their arguments.
var talkers = []string{"echo", "printf", "test", "[", ":", "true", "false", "exit", "return"}

func (w *watcher) call(c *syntax.CallExpr, first bool) {
	if len(c.Args) == 0 {
		return
	}
	name, ok := literal(c.Args[0])
	if !ok || slices.Contains(talkers, name) {
		return
	}
	if name == "cd" || name == "pushd" || name == "popd" {
		w.enter(c.Args[1:], name == "cd" && first)
		return
	}
	writer, writes := writers[path.Base(name)]
	args := c.Args[1:]
	for i, word := range args {
		text, ok := literal(word)
		if !ok || text == "" || strings.HasPrefix(text, "-") {
			continue
		}
		if w.address(text) {
			continue
		}
		if writes && (!writer.last || i == len(args)-1) {
			w.path(text, writer.ask)
		} else {
			w.path(text, (*evaluator.Evaluator).CanRead)
		}
	}
}

// enter follows a change of directory at the very beginning. After any other, relative paths are not looked at.
func (w *watcher) enter(args []*syntax.Word, first bool) {
	target, ok := "", false
	if first && len(args) == 1 {
		target, ok = literal(args[0])
	}
	if !ok || target == "-" || target == "" {
		w.dir = ""
		return
	}
	w.path(target, (*evaluator.Evaluator).CanRead)
	w.dir, _ = w.resolve(target)
}

func (w *watcher) redirect(r *syntax.Redirect) {
	if r.Word == nil {
		return
	}
	text, ok := literal(r.Word)
	if !ok || text == "" {
		return
	}
	switch r.Op {
	case syntax.RdrIn:
		w.path(text, (*evaluator.Evaluator).CanRead)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		w.path(text, (*evaluator.Evaluator).CanWrite)
	}
}

// resolve gives the absolute path of what a command calls text; "" and false when it cannot be told.
func (w *watcher) resolve(text string) (string, bool) {
	switch {
	case strings.HasPrefix(text, "/"):
	case text == "~" || strings.HasPrefix(text, "~/"):
		if w.rules.Home() == "" {
			return "", false
		}
		text = w.rules.Home() + text[1:]
	case w.dir == "":
		return "", false
	default:
		text = w.dir + "/" + text
	}
	return path.Clean(text), true
}

// path tells of a path that the rules close.
func (w *watcher) path(text string, ask func(*evaluator.Evaluator, string) evaluator.Decision) {
	abs, ok := w.resolve(text)
	if !ok {
		return
	}
	for _, own := range []string{"/dev", "/proc", "/sys"} { // the sandbox has its own, of which the rules do not speak
		if within(own, abs) {
			return
		}
	}
	d := ask(w.judge, abs)
	if d.Allowed || d.Reason == evaluator.PrivateTmp || d.Reason == evaluator.BadPath || w.ignored(abs) {
		return
	}
	w.tell(d.Op.String() + " " + outcome.Quote(text) + reason(d))
}

// address tells of a URL that the rules keep the command from, and reports whether text is a URL.
func (w *watcher) address(text string) bool {
	ports := map[string]uint16{"http": 80, "https": 443, "ftp": 21, "ssh": 22, "git": 9418, "ws": 80, "wss": 443}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || ports[u.Scheme] == 0 {
		return false
	}
	port := ports[u.Scheme]
	if p, err := strconv.ParseUint(u.Port(), 10, 16); err == nil && p > 0 {
		port = uint16(p)
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1" {
		return true // the sandbox has a loopback of its own
	}
	if d := w.judge.CanConnect(host, port); !d.Allowed {
		w.tell("connect " + outcome.Quote(host+":"+strconv.Itoa(int(port))) + reason(d))
	}
	return true
}

func (w *watcher) tell(clause string) {
	if !slices.Contains(w.told, clause) && len(w.told) < maxDenials {
		w.told = append(w.told, clause)
	}
}

// ignored is the settings' ignoreViolations, which srt matches as parts of the command and of the path
// (dist/sandbox/sandbox-violation-store.js, 0.0.78).
func (w *watcher) ignored(abs string) bool {
	for command, paths := range w.rules.IgnoreViolations() {
		if command != "*" && !strings.Contains(w.command, command) {
			continue
		}
		if slices.ContainsFunc(paths, func(part string) bool { return strings.Contains(abs, part) }) {
			return true
		}
	}
	return false
}

// reason names the entry that decided, by its place in the settings: what it says may be a path of the host.
func reason(d evaluator.Decision) string {
	switch {
	case d.Reason == evaluator.ProtectedPath:
		return ", a protected path"
	case d.Reason == evaluator.WriteClosed:
		return ", which no entry of filesystem.allowWrite opens"
	case d.Reason == evaluator.NetworkClosed:
		return ", which no entry of network.allowedDomains opens"
	case d.Rule != nil:
		return entry(d.Rule.Source)
	case d.Glob != nil:
		return entry(d.Glob.Source)
	case d.Domain != nil:
		return entry(d.Domain.Source)
	}
	return ""
}

// entry turns /filesystem/denyRead/2 into filesystem.denyRead[2].
func entry(s srtconfig.Source) string {
	parts := strings.Split(strings.TrimPrefix(s.Pointer, "/"), "/")
	if s.Pointer == "" {
		return ", by a built-in rule"
	}
	last := len(parts) - 1
	if _, err := strconv.Atoi(parts[last]); err == nil && last > 0 {
		parts[last-1] += "[" + parts[last] + "]"
		parts = parts[:last]
	}
	return ", by " + strings.Join(parts, ".")
}
