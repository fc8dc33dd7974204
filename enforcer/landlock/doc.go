// Package landlock restricts a thread, and what it starts, with a Landlock ruleset.
//
// [Compile] is pure: it turns the writable places of a sandbox and the kernel's ABI version into a [Plan].
// [Plan.Prepare] makes the rulesets, and
// [Domains.Enter] puts the calling thread into them. Nothing is downgraded in silence: a right that the kernel's
// ABI does not know stands in [Plan.Missing], with the layer that covers for it.
//
// In tier full the mounts decide which path may be read and written. This layer closes what mounts cannot:
//
//   - A descriptor that the command was given (its standard input, say) opened again through /proc/self/fd with more
//     rights: the file lies on the host's own mount, which the read-only view does not cover.
//   - Signals to processes outside, as to those of the same process group (kill(0, …) crosses PID namespaces), and to
//     the sandbox's PID 1.
//   - Access to other processes that ptrace(2) rules would grant (/proc/PID/environ, mem, root, fd), PID 1 included.
//   - ioctl(2) on devices other than terminals and the harmless ones of the sandbox's /dev.
//   - Any change to mounts, whatever the capabilities.
//
// # Does not cover
//
// stat(2), chdir(2), chmod(2), chown(2), xattr and utimes; descriptors as they were opened before; UDP.
//
// Needs no_new_privs and Linux 5.13; scopes need ABI 6 (6.12), ioctl ABI 5 (6.10), truncate ABI 3 (6.2), renames between
// directories ABI 2 (5.19). Source: the kernel's userspace-api/landlock document.
package landlock
