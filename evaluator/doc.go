// Package evaluator decides what [srtconfig.Rules] allow: reading, writing and removing paths, and connecting to hosts.
// It is the one place where the lists of the settings meet, asked by the file tools at each call and by the plan of the
// sandbox when it is made, so that both boundaries give one answer.
//
// # Guarantees
//
//   - A decision depends on the rules and the question alone. There is no clock, no file system and no cache.
//   - The order of the entries does not matter.
//   - What is not understood is denied: a path that is not absolute and clean, a host without a canonical form, and
//     every question to a zero Evaluator.
//   - A path decision is one walk down a compiled tree, without allocation, whatever the number of entries.
//   - Each decision names the entry that decided, and [Decision.Explain] what would change it.
//
// # Does not guarantee
//
//   - It does not resolve symlinks. The caller opens the object and asks about what was opened.
//   - It knows nothing of owners and modes: allowed means that the settings do not stand in the way.
//   - Patterns are matched against the path that is asked about. The kernel knows only what existed at Derive.
//   - It judges names of hosts, not the addresses that they resolve to.
//
// # Precedence
//
// An entry speaks of its path and of all below it, by components: /work does not cover /work2. Depth is the number of
// components; deeper is more specific. Each row has a test of that name, in TestPrecedence.
//
// Reading:
//
//	read-open                  no denyRead at or above the path: allowed
//	denyread-closes            a denyRead at or above: denied, unless a row below re-opens
//	allowread-reopens          an allowRead at or above, as deep as the deepest denyRead or deeper: allowed
//	allowread-at-equal-path    allowRead and denyRead of one path: allowed
//	allowread-above-denyread   an allowRead less deep than the deepest denyRead opens nothing
//	deny-in-allow-in-deny      the deepest of three decides; so for any number
//	allowwrite-reopens         an allowWrite strictly deeper than the deepest denyRead: allowed
//	allowwrite-at-equal-path   allowWrite and denyRead of one path: denied
//	file-deny                  a denied file is opened only by an allowRead that names it
//	way                        a denied directory with something re-opened strictly below may be listed, to show the way
//	glob-denies                a denyRead pattern counts as a denyRead at the deepest component that it matches
//
// Writing, where each row is stronger than those below it:
//
//	protected-wins             a protected path at or above, absent or not: denied
//	denywrite-wins             a denyWrite at or above, also above the allowWrite, and at its path: denied
//	glob-denies-write          a denyWrite pattern that matches the path or a component of it: denied
//	unreadable-is-unwritable   what may not be read: denied
//	way-is-unwritable          a directory that only shows the way: denied
//	allowwrite-opens           an allowWrite at or above: allowed
//	write-closed               anything else: denied
//
// Removing a name, by unlink, rmdir, a rename away or over:
//
//	remove-needs-write         it needs write at the path and at its directory
//	pinned-by-entry            the path of an existing entry of any list, or of a protected one, and each ancestor: denied
//	pinned-by-link             a symlink that an entry was reached through, and each ancestor of one: denied
//
// Before all of these:
//
//	bad-path                   a path that is not absolute and clean: denied
//	disabled                   filesystem.disabled: everything else is allowed
//	private-tmp                below /tmp and /dev/shm of the host, when the sandbox has its own: denied, but for the
//	                           working directory, existing entries below, and listing the way to them
//
// And of all of these:
//
//	home-workspace-project     denyRead ["~"], allowRead ["~/ws"], allowWrite ["~/ws/p"] does what it seems to
//	siblings                   /work and /work2 have nothing in common
//	root-entry                 an entry for "/" covers every path
//
// # Example
//
//	e, err := evaluator.New(rules)
//	if err != nil {
//		return err
//	}
//	if d := e.CanWrite("/home/u/ws/p/main.go"); !d.Allowed {
//		return errors.New(d.Explain()) // e.g.: writing is closed: no allowWrite entry covers this path; add one to open it
//	}
package evaluator
