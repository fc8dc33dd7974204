package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/enforcer/mount"
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
	"github.com/spf13/cobra"
)

func newExplainCmd(env Env) *cobra.Command {
	var o sessionOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say which settings entry decides, which layer enforces it, and what a program will see",
		Long: `Say which settings entry decides about a path or a host, which layer enforces it, and what a program in the sandbox will
see. Nothing is started.

Exit status: 0 everything is allowed, 1 something is denied.`,
		Example: `  sandboxctl explain read ~/.ssh/id_ed25519
  sandboxctl explain write .git/hooks/pre-commit src/main.go
  sandboxctl explain connect example.com:443
  sandboxctl explain plan`,
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	add := func(use, short string, args cobra.PositionalArgs, run func(*enforcer.Plan, []string) ([]explanation, error)) {
		sub := &cobra.Command{Use: use, Short: short, Args: args}
		o.bind(sub)
		sub.RunE = func(cmd *cobra.Command, argv []string) error {
			rules, err := o.rules(cmd.Context(), env)
			if err != nil {
				return err
			}
			plan, err := enforcer.Explainable(rules)
			if err != nil {
				return err
			}
			answers, err := run(plan, argv)
			if err != nil {
				return err
			}
			return printAnswers(env, answers, asJSON)
		}
		cmd.AddCommand(sub)
	}
	add("read PATH...", "Explain reading", cobra.MinimumNArgs(1), explainPaths(evaluator.Read))
	add("write PATH...", "Explain writing, creating and removing", cobra.MinimumNArgs(1), explainPaths(evaluator.Write))
	add("connect HOST:PORT...", "Explain a connection", cobra.MinimumNArgs(1), explainHosts)
	cmd.AddCommand(newExplainPlanCmd(env, &o, &asJSON))
	return cmd
}

func newExplainPlanCmd(env Env, o *sessionOptions, asJSON *bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print what a launch would do, step by step",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rules, err := o.rules(cmd.Context(), env)
			if err != nil {
				return err
			}
			plan, err := enforcer.Compile(rules, enforcer.FactsOf())
			if err != nil {
				return err
			}
			if *asJSON {
				return writeJSON(env, plan)
			}
			_, err = fmt.Fprint(env.Stdout, plan)
			return err
		},
	}
	o.bind(cmd)
	return cmd
}

// explanation is one answer.
type explanation struct {
	Ask     string `json:"ask"`    // read, write or connect
	Object  string `json:"object"` // as it was asked for
	Path    string `json:"path,omitempty"`
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason"`
	Entry   string `json:"entry,omitempty"` // as written
	List    string `json:"list,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Pointer string `json:"pointer,omitempty"`
	Layer   string `json:"layer"` // what enforces it on a spawned program
	Sees    string `json:"sees"`  // what such a program experiences
	Message string `json:"message"`
}

func explainPaths(op evaluator.Op) func(*enforcer.Plan, []string) ([]explanation, error) {
	return func(plan *enforcer.Plan, paths []string) ([]explanation, error) {
		var out []explanation
		for _, p := range paths {
			real, err := resolveFor(plan, p)
			if err != nil {
				return nil, err
			}
			d := plan.Evaluator().CanRead(real)
			if op == evaluator.Write {
				d = plan.Evaluator().CanWrite(real)
			}
			e := fromDecision(d, p)
			e.Path = real
			e.Layer, e.Sees = experience(plan, op, real, d)
			out = append(out, e)
		}
		return out, nil
	}
}

// resolveFor makes a path absolute against the session's working directory and follows its links, as far as it exists.
func resolveFor(plan *enforcer.Plan, p string) (string, error) {
	if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') {
		p = plan.Rules().Home() + rest
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(plan.Rules().Cwd(), p)
	}
	p = filepath.Clean(p)
	tail := ""
	for dir := p; ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, tail), nil
		}
		if dir == "/" || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.ENOTDIR) {
			return "", err
		}
		tail = filepath.Join(filepath.Base(dir), tail)
	}
}

// experience says which layer enforces a decision about a path and what a program sees.
func experience(plan *enforcer.Plan, op evaluator.Op, path string, d evaluator.Decision) (layer, sees string) {
	if mount.IsOwn(path) {
		return "mounts", "the sandbox's own " + path
	}
	_, err := os.Lstat(path)
	exists := err == nil
	switch {
	case d.Reason == evaluator.PrivateTmp:
		return "mounts", "the sandbox's own /tmp, without this file"
	case d.Reason == evaluator.Way && op == evaluator.Read:
		return "mounts", "a directory that shows only the way to what is re-opened below it"
	case d.Allowed:
		return "none", "the file as it is"
	case d.Reason == evaluator.DeniedByGlob:
		return "evaluator only", "the file tools refuse it; it was not there when the pattern was expanded, and a program can open it until the next run"
	case op == evaluator.Read || d.Reason == evaluator.Unreadable:
		if !exists {
			return "evaluator only", "ENOENT; if a program creates it, it can read it until the next run"
		}
		return "mounts", "EACCES (permission denied), or ENOENT where the directory shows only the way to something else"
	case d.Reason == evaluator.WriteClosed:
		return "mounts, landlock", "EROFS (read-only file system)"
	case !exists:
		return "evaluator only", "the file tools refuse it; a program can create it, as nothing can be mounted on a name that does not exist"
	}
	return "mounts", "EROFS (read-only file system); EBUSY to rename or remove it"
}

func explainHosts(plan *enforcer.Plan, hosts []string) ([]explanation, error) {
	var out []explanation
	for _, h := range hosts {
		host, portText, err := net.SplitHostPort(h)
		if err != nil {
			return nil, &usageError{fmt.Errorf("%q: write HOST:PORT, as in example.com:443", h)}
		}
		port, err := strconv.ParseUint(portText, 10, 16)
		if err != nil || port == 0 {
			return nil, &usageError{fmt.Errorf("%q: a port is 1 to 65535", h)}
		}
		d := plan.Evaluator().CanConnect(host, uint16(port))
		e := fromDecision(d, h)
		e.Layer, e.Sees = "network namespace", "ENETUNREACH: this version gives a command no network"
		out = append(out, e)
	}
	return out, nil
}

func fromDecision(d evaluator.Decision, object string) explanation {
	e := explanation{Ask: d.Op.String(), Object: object, Allowed: d.Allowed, Reason: d.Reason.String(), Message: d.Explain()}
	var src srtconfig.Source
	switch {
	case d.Rule != nil:
		src, e.List = d.Rule.Source, d.Rule.List.String()
	case d.Glob != nil:
		src, e.List = d.Glob.Source, d.Glob.List.String()
	case d.Domain != nil:
		src = d.Domain.Source
	}
	e.Entry, e.File, e.Line, e.Pointer = src.Text, src.File, src.Line, src.Pointer
	return e
}

func printAnswers(env Env, answers []explanation, asJSON bool) error {
	denied := false
	for _, a := range answers {
		denied = denied || !a.Allowed
		if asJSON {
			continue
		}
		word := "allowed"
		if !a.Allowed {
			word = "denied"
		}
		if _, err := fmt.Fprintf(env.Stdout, "%s %s: %s\n  why:   %s\n  layer: %s\n  sees:  %s\n",
			a.Ask, printable(a.Object), word, printable(a.Message), a.Layer, printable(a.Sees)); err != nil {
			return err
		}
	}
	if asJSON {
		if err := writeJSON(env, answers); err != nil {
			return err
		}
	}
	if denied {
		return &statusError{exitDenied}
	}
	return nil
}
