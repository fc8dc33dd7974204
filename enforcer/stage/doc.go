// Package stage is the part of a launch that runs inside the new namespaces: the program re-executes itself, and that
// process, PID 1 of the sandbox, builds the file tree, gives up its rights, restricts one thread, starts the command on
// it, reaps, passes signals on and reports how the command ended.
//
// The launcher hands over one descriptor besides the standard ones, a control socket (protocol.go draws what goes over it),
// and sends a sealed memory file with the [Spec] over it. Nothing is decided here: the Spec says it all.
//
// # Guarantees
//
//   - The command starts with descriptors 0, 1 and 2 only, no capability in any set, no_new_privs, default signal
//     dispositions and an empty signal mask, no core dumps, inside a Landlock domain and behind the seccomp filters.
//   - A step that fails ends the stage before the command starts; the launcher learns the layer, the call and the errno.
//   - When the launcher dies, the stage dies, and with PID 1 every process of the sandbox.
//   - The stage's memory, environment and arguments hold nothing that the command may not know; it is not dumpable.
//
// # Does not guarantee
//
// Anything after a bug in the kernel's namespaces; and nothing that the stage reports is believed more than the
// command's own output would be.
//
// Sources: user_namespaces(7), pid_namespaces(7), prctl(2), capabilities(7), signalfd(2).
package stage
