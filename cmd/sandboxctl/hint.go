package main

import (
	"fmt"
	"path/filepath"
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
	for _, target := range writeTargets(argv, line) {
		if !filepath.IsAbs(target) {
			target = filepath.Join(plan.Dir, target)
		}
		parent, err := filepath.EvalSymlinks(filepath.Dir(target))
		if err != nil {
			continue
		}
		target = filepath.Join(parent, filepath.Base(target))
		if mount.IsOwn(target) || strings.HasPrefix(target, "/tmp/") {
			continue
		}
		if d := plan.Evaluator().CanWrite(target); !d.Allowed {
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

// writers are programs whose last operand is written to.
var writers = map[string]bool{"touch": true, "mkdir": true, "cp": true, "mv": true, "ln": true, "tee": true, "install": true, "rm": true, "rmdir": true}

// writeTargets returns the files that redirections and the usual programs of a command line write to.
func writeTargets(argv []string, line string) []string {
	if line == "" {
		if len(argv) > 1 && writers[filepath.Base(argv[0])] {
			return argv[len(argv)-1:]
		}
		return nil
	}
	var targets []string
	walkShell(line, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.Redirect:
			switch n.Op {
			case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
				if lit := n.Word.Lit(); lit != "" {
					targets = append(targets, lit)
				}
			}
		case *syntax.CallExpr:
			if len(n.Args) > 1 && writers[n.Args[0].Lit()] {
				if lit := n.Args[len(n.Args)-1].Lit(); lit != "" {
					targets = append(targets, lit)
				}
			}
		}
	})
	return targets
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
