// Package shell runs command lines in the kernel sandbox and keeps their output as an artifact.
//
// Guarantees:
//   - A command runs under the settings of its Enforcer and nothing else decides what it can do. Its working directory is
//     below the workspace, and neither widens nor narrows anything.
//   - Standard output and standard error come in the order in which they were written, whole or with a line that says how
//     much is missing, in bounded memory.
//   - A command that ran is a result, whatever its status and also when the time limit ended it. An error means that it
//     never ran, or that the caller cancelled it.
//   - When Run returns, everything that the command started is gone, with no wait for pipes that it left open.
//   - What a model reads holds no host path that it did not write itself, apart from what the command printed.
//
// Does not guarantee:
//   - That every denial is told. The kernel refuses in silence; the lines "[sandbox] denied: …" come from looking at the
//     command afterwards, at the paths and addresses that stand in it literally.
//   - That the list of allowed commands holds anything: it is advice, read from the text. A program on it can start any
//     other one. The sandbox is the boundary.
//
// Key types: [Shell], [Request], [Result], [AllowList].
//
//	sh, err := shell.New(shell.Options{Enforcer: e, Root: dir, Spools: store})
//	if err != nil {
//		return err
//	}
//	r, err := sh.Run(ctx, shell.Request{Command: "git status --short"})
//	if err != nil {
//		return err // it never ran
//	}
//	fmt.Println(r.Preview)
package shell
