package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/enforcer/stage"
	"github.com/spf13/cobra"
)

type runOptions struct {
	session   sessionOptions
	line      string
	debug     bool
	quiet     bool
	terminal  bool
	env       []string
	envAll    bool
	timeout   time.Duration
	require   string
	printPlan bool
}

func newRunCmd(env Env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARG...]",
		Short: "Run one command in the sandbox",
		Long: `Run one command in the sandbox, with this program's standard input and output, and exit with its status.

Exit status: the command's own; 128+n when signal n ended it; 124 at the wall limit; 125 when sandboxctl refused or failed;
126 when the command cannot be executed; 127 when it was not found. Messages of sandboxctl go to standard error.`,
		Example: `  sandboxctl run -- git status
  sandboxctl run --settings sandbox.json -c 'make test | tail -5'
  sandboxctl run --env CI=1 --env GOFLAGS --timeout 5m -- go test ./...`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			argv, err := o.argv(args)
			if err != nil {
				return &usageError{err}
			}
			return o.run(cmd.Context(), env, argv)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // what follows the command's name is the command's
	o.session.bind(cmd)
	f.StringVarP(&o.line, "command", "c", "", "run `STRING` with /bin/sh -c")
	f.BoolVarP(&o.debug, "debug", "d", false, "print the plan and what is done, on standard error")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no remarks about settings and refusals")
	f.BoolVarP(&o.terminal, "tty", "t", false, "give the command a terminal of its own")
	f.StringArrayVarP(&o.env, "env", "e", nil, "pass on the variable `NAME`, or set NAME=VALUE; may be given again")
	f.BoolVar(&o.envAll, "env-all", false, "pass on the whole environment, secrets included")
	f.DurationVar(&o.timeout, "timeout", 0, "end the command after `DURATION`, as in 90s (exit 124)")
	f.StringVar(&o.require, "require", "", "refuse to run in less than this `TIER`: full")
	f.BoolVar(&o.printPlan, "dry-run", false, "print the plan and start nothing")
	return cmd
}

func (o *runOptions) argv(args []string) ([]string, error) {
	switch {
	case o.line != "" && len(args) > 0:
		return nil, fmt.Errorf("either -c STRING or a command, not both")
	case o.line != "":
		return []string{"/bin/sh", "-c", o.line}, nil
	case len(args) == 0:
		return nil, fmt.Errorf("no command: sandboxctl run [flags] -- COMMAND [ARG...]")
	}
	return args, nil
}

func (o *runOptions) run(ctx context.Context, env Env, argv []string) error {
	if o.require != "" && o.require != enforcer.TierFull.String() {
		return &usageError{fmt.Errorf("--require %s: the only tier of this version is full", o.require)}
	}
	if o.printPlan {
		plan, err := o.plan(ctx, env)
		if err == nil {
			fmt.Fprint(env.Stderr, plan)
		}
		return err
	}
	envOptions, err := o.environment(env)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	notified := make(chan struct{})
	go func() { // the first call starts threads, which takes as long as a fork
		notify(signals)
		close(notified)
	}()
	// PID 1 of the sandbox comes up on another processor while the rules are derived here.
	runtime.LockOSThread()
	prepared, err := enforcer.Prepare(enforcer.Streams{Stdin: env.Stdin, Stdout: env.OutFile, Stderr: env.ErrFile, Terminal: o.terminal})
	if err != nil {
		return err
	}
	plan, err := o.plan(ctx, env)
	if err != nil {
		prepared.Close()
		return err
	}
	if o.debug {
		fmt.Fprint(env.Stderr, plan)
	}
	if o.timeout > 0 {
		plan = plan.WithWall(o.timeout)
	}
	<-notified
	result, err := o.start(ctx, env, plan, prepared, signals, enforcer.Command{Argv: argv, Env: enforcer.Environment(env.Environ, plan.Env, envOptions)})
	if err != nil {
		return err
	}
	return o.finish(env, plan, argv, result)
}

func (o *runOptions) plan(ctx context.Context, env Env) (*enforcer.Plan, error) {
	settings, err := o.session.load(env)
	if err != nil {
		return nil, err
	}
	if o.debug {
		fmt.Fprintf(env.Stderr, "sandboxctl: settings: %s\n", printable(o.session.describe(settings)))
	}
	rules, err := o.session.derive(ctx, env, settings)
	if err != nil {
		return nil, err
	}
	plan, err := enforcer.Compile(rules, enforcer.FactsOf())
	if err != nil {
		return nil, err
	}
	if !o.quiet {
		warn(env, plan.Warnings)
	}
	return plan, nil
}

func (o *runOptions) environment(env Env) (enforcer.EnvOptions, error) {
	out := enforcer.EnvOptions{All: o.envAll, Set: map[string]string{}}
	for _, e := range o.env {
		name, value, set := strings.Cut(e, "=")
		switch {
		case name == "":
			return out, &usageError{fmt.Errorf("--env %q: a variable has a name", e)}
		case set:
			out.Set[name] = value
		default:
			out.Allow = append(out.Allow, name)
		}
	}
	if o.envAll && !o.quiet {
		fmt.Fprintln(env.Stderr, "sandboxctl: --env-all: the command sees every variable, tokens and passwords included")
	}
	return out, nil
}

// start runs the command and passes on the signals that reach this process meanwhile.
func (o *runOptions) start(ctx context.Context, env Env, plan *enforcer.Plan, prepared *enforcer.Prepared, signals <-chan os.Signal, c enforcer.Command) (enforcer.Result, error) {
	proc, err := plan.StartPrepared(ctx, prepared, c)
	if err != nil {
		return enforcer.Result{}, err
	}
	if o.terminal {
		restore, err := attachTerminal(env, proc)
		if err != nil {
			proc.Kill()
			_, _ = proc.Wait()
			return enforcer.Result{}, err
		}
		defer restore()
	}
	go passOn(signals, proc)
	return proc.Wait()
}

// notify asks for the signals that are passed on, but for those that are ignored, as under nohup.
func notify(signals chan<- os.Signal) {
	for _, s := range stage.PassedOn() {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
}

// passOn ends with the process.
func passOn(signals <-chan os.Signal, proc *enforcer.Process) {
	for s := range signals {
		_ = proc.Signal(s.(syscall.Signal)) // it may have just ended
		if s == syscall.SIGTERM {
			time.AfterFunc(enforcer.DefaultGrace, proc.Kill)
		}
	}
}

// exitTimedOut is the status at the wall limit, as of timeout(1).
const exitTimedOut = 124

func (o *runOptions) finish(env Env, plan *enforcer.Plan, argv []string, r enforcer.Result) error {
	if r.TimedOut {
		fmt.Fprintf(env.Stderr, "sandboxctl: the wall limit of %s ended the command; raise --timeout or sandboxctl.limits.wallSeconds\n", plan.Wall)
		return &statusError{exitTimedOut}
	}
	if r.Code == 0 {
		return nil
	}
	if !o.quiet {
		hint(env, plan, argv, o.line)
	}
	return &statusError{r.Code}
}
