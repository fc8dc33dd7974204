package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"mvdan.cc/sh/v3/syntax"
)

// hint prints at most one line after a command that failed: the settings entry that closes a path which the command names.
// It looks at the words of the command only, so that it can miss; it never says what is not so.
func hint(env Env, plan *enforcer.Plan, argv []string, line string) {
	words := argv
	if line != "" {
		words = shellWords(line)
	}
	for _, w := range words {
		path := w
		if rest, ok := strings.CutPrefix(w, "~/"); ok {
			path = filepath.Join(homeDir(env), rest)
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(plan.Dir, path)
		}
		if mount.IsOwn(path) {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if d := plan.Evaluator().CanRead(real); !d.Allowed {
			fmt.Fprintf(env.Stderr, "sandboxctl: %s\n", printable(d.Explain()))
			return
		}
	}
	for _, target := range changedPaths(argv, line) {
		path := target.path
		if !filepath.IsAbs(path) {
			path = filepath.Join(plan.Dir, path)
		}
		parent, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			continue
		}
		path = filepath.Join(parent, filepath.Base(path))
		if mount.IsOwn(path) || strings.HasPrefix(path, "/tmp/") {
			continue
		}
		d := plan.Evaluator().CanWrite(path)
		if d.Allowed && target.replaced {
			d = plan.Evaluator().CanRemove(path)
		}
		if !d.Allowed {
			fmt.Fprintf(env.Stderr, "sandboxctl: %s\n", printable(d.Explain()))
			return
		}
	}
}

// shellWords returns the words of a command line that have no expansion in them.
func shellWords(line string) []string {
	var words []string
	walkShell(line, func(n syntax.Node) {
		if w, ok := n.(*syntax.Word); ok {
			if lit := w.Lit(); lit != "" {
				words = append(words, lit)
			}
		}
	})
	return words
}

// changed is a path that a command line names as something to change.
type changed struct {
	path     string
	replaced bool // by a new file under the same name, or removed
}

// changedPaths returns the files that the redirections and the usual programs of a command line change.
func changedPaths(argv []string, line string) []changed {
	if line == "" {
		return changedBy(argv)
	}
	var out []changed
	walkShell(line, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.Redirect:
			switch n.Op {
			case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
				if lit := n.Word.Lit(); lit != "" {
					out = append(out, changed{path: lit})
				}
			}
		case *syntax.CallExpr:
			var call []string
			for _, w := range n.Args {
				call = append(call, w.Lit()) // "" for what the shell would expand
			}
			out = append(out, changedBy(call)...)
		}
	})
	return out
}

// changedBy returns what one command changes, as far as its words tell.
func changedBy(call []string) []changed {
	if len(call) < 2 {
		return nil
	}
	var operands []string
	for _, w := range call[1:] {
		if w != "" && !strings.HasPrefix(w, "-") {
			operands = append(operands, w)
		}
	}
	if len(operands) == 0 {
		return nil
	}
	last := operands[len(operands)-1]
	switch filepath.Base(call[0]) {
	case "touch", "mkdir", "cp", "ln", "tee", "install":
		return []changed{{path: last}}
	case "rm", "rmdir", "mv":
		var out []changed
		for _, o := range operands {
			out = append(out, changed{path: o, replaced: true})
		}
		return out
	case "sed":
		if slices.ContainsFunc(call, func(w string) bool { return strings.HasPrefix(w, "-i") || w == "--in-place" }) {
			return []changed{{path: last, replaced: true}}
		}
	case "git":
		// These record something in the repository's configuration, which git replaces by a new file.
		writes := func(w string) bool {
			return slices.Contains([]string{"config", "remote", "branch", "push", "submodule"}, w)
		}
		if slices.ContainsFunc(operands, writes) && !slices.Contains(call, "--global") {
			return []changed{{path: ".git/config", replaced: true}}
		}
	}
	return nil
}

func walkShell(line string, visit func(syntax.Node)) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if n != nil {
			visit(n)
		}
		return true
	})
}
