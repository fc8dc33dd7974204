// Command sandboxctl runs a command under one settings file, confined by the kernel, and explains what the settings mean.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/spf13/cobra"
)

func main() {
	enforcer.RunInitStage()
	env := processEnv()
	os.Exit(execute(env, os.Args))
}

// execute runs one invocation and returns its exit status.
func execute(env Env, args []string) int {
	root := newRootCmd(env)
	argv := args[1:]
	if filepath.Base(args[0]) == "srt" {
		// An srt user changes one word: the same flags, the command straight behind them.
		argv = append([]string{"run"}, argv...)
	}
	root.SetArgs(argv)
	return report(env, root.Execute())
}

func newRootCmd(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "sandboxctl",
		Short: "Run the programs of a coding agent confined by the kernel, under one settings file",
		Long: `sandboxctl runs one command in Linux namespaces, a Landlock domain and a seccomp filter. What it may read and write
stands in one settings file, in the format of Anthropic's sandbox-runtime (srt).

Reads are open and writes closed by default; there is no network.`,
		Example: `  sandboxctl settings init --profile workspace > sandbox.json
  sandboxctl run --settings sandbox.json -- git status
  sandboxctl explain --settings sandbox.json write .git/hooks/pre-commit`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetIn(env.Stdin)
	root.AddCommand(newRunCmd(env), newExplainCmd(env), newDoctorCmd(env), newSettingsCmd(env), newVersionCmd(env))
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	return root
}

// statusError ends the program with a status of its own and no message.
type statusError struct{ code int }

func (e *statusError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// usageError is a wrong call of the program itself.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Exit statuses of our own; all others are the command's.
const (
	exitDenied      = 1   // explain: the answer is no
	exitRefused     = 125 // sandboxctl refused or failed
	exitNotExecuted = 126
	exitNotFound    = 127
)

// report prints an error, one line with our prefix for each, and returns the exit status.
func report(env Env, err error) int {
	if err == nil {
		return 0
	}
	var status *statusError
	if errors.As(err, &status) {
		return status.code
	}
	for _, line := range errorLines(err) {
		fmt.Fprintf(env.Stderr, "sandboxctl: %s\n", line)
	}
	var exec *enforcer.ExecError
	if errors.As(err, &exec) {
		if errors.Is(exec.Err, os.ErrNotExist) {
			return exitNotFound
		}
		return exitNotExecuted
	}
	return exitRefused
}

// errorLines takes joined errors apart.
func errorLines(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var lines []string
		for _, e := range joined.Unwrap() {
			lines = append(lines, errorLines(e)...)
		}
		return lines
	}
	return []string{printable(err.Error())}
}
