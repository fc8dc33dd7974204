// Package enforcer runs commands confined by the kernel under the rules of package srtconfig.
//
// Settings become a [Plan] ([Compile], pure), and the Plan becomes a running sandbox ([Plan.Start]): namespaces, a file tree of
// its own, no capabilities, a Landlock domain and seccomp filters. [Enforcer] is the same for programs that run many
// commands under one policy.
//
// # Guarantees (tier full)
//
//   - What the evaluator denies, a command and all that it starts cannot do, whatever its uid; docs/two-boundaries.md lists
//     the exceptions.
//   - A layer that cannot be applied ends the launch before the command runs. Nothing is weakened in silence: what the Plan
//     lacks stands in Plan.Degraded.
//   - The command's end, a limit, the end of a context or the death of the calling process ends every process of the sandbox.
//   - Nothing is created on the host, and nothing is left there.
//
// # Does not guarantee
//
//   - Protection of names that do not exist when a command starts.
//   - Anything against a kernel bug; limits on memory, processor time or processes.
//
// # Use
//
//	func main() {
//		enforcer.RunInitStage() // first: the program re-executes itself as the sandbox's PID 1
//		settings, err := srtconfig.Load("sandbox.json")
//		// …
//		rules, err := srtconfig.Derive(ctx, settings, srtconfig.Host{Cwd: cwd, Home: home})
//		// …
//		e, err := enforcer.New(rules)
//		// …
//		defer e.Close()
//		x, err := e.Run(ctx, enforcer.Operation{Argv: []string{"git", "status"}, Stdout: os.Stdout, Stderr: os.Stderr})
//		// …
//		result, err := x.Wait()
//	}
//
// Needs Linux 5.13 with unprivileged user namespaces (or root), Landlock and seccomp.
package enforcer
