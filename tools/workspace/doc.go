// Package workspace gives our own file tools their view of the disk: a path translator, and one directory held open,
// below which files are opened, listed and saved under a policy.
//
// The tools run in this process and not in the kernel's sandbox, so what stands here is the boundary.
//
// Guarantees:
//   - Nothing outside the root is opened, listed or written, whatever links there are and whoever swaps them meanwhile.
//     Paths are walked by the kernel from a held descriptor (openat2 with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS;
//     for writes RESOLVE_NO_SYMLINKS too). Without openat2 (Linux 5.6) there is no [Root].
//   - The policy judges the object that was opened, by the path the kernel gives for it, and that same object is then
//     read. No name is walked twice.
//   - What the policy closes is told exactly as what is not there, its type, its errors and the links through it
//     included.
//   - FIFOs, sockets and devices are never opened, only looked at.
//   - A save replaces a file at once or not at all, follows no link, and leaves nothing when it fails.
//
// Does not guarantee:
//   - Anything about hard links: a file with a second name inside the root is judged by the name it was reached by.
//   - That a mount below the root is the file system one thinks; it is judged by its path like everything else.
//   - That a change made to a file in the instant between the last look and the rename of a save survives.
//   - That kill -9 in the middle of a save leaves no file named .sandboxctl-*.tmp.
//   - That the time an answer takes hides what is closed.
//
// Key types: [PathTranslator], [FileSystem], [Root], [Judge].
//
//	ws, err := workspace.NewRoot("/home/dev/project", judge)
//	backend, err := workspace.RootedPaths{}.ToBackend("/src/main.go")
//	file, err := ws.Open(ctx, backend)
package workspace
