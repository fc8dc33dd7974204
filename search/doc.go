// Package search finds lines and names in a workspace: the contract that any search keeps, one that runs ripgrep in the
// kernel sandbox, one in memory, and a conformance suite for others.
//
// Guarantees:
//   - Results come as a lazy sequence of items and exactly one done frame; a search that broke off is an error and never
//     "that was all". Omitting a limit or a depth means none.
//   - Nothing that a query holds becomes an option of ripgrep, and no configuration file of its own is read.
//   - A glob narrows: what is hidden or ignored stays so unless the query says otherwise. (ripgrep's own --glob brings it
//     back.)
//   - What the settings close is not in the results, neither as a line nor as a name. A closed start reads like a missing
//     one. What was withheld on the way is counted in the [Report].
//   - [Ripgrep] holds a bounded amount of memory, whatever it finds, and leaves no process behind.
//
// Does not guarantee:
//   - An order of files, between two runs or at all. With a limit, which results come is up to ripgrep's threads.
//   - That files are complete: ripgrep leaves out those with a NUL byte, and what changes meanwhile may be missed.
//   - [Ripgrep] with a Runner of the session's own settings reads whatever those open: a directory that another process
//     swaps for a link at the right moment leads it out of the workspace. [Confined] narrows the sandbox so that it does not.
//
// Key types: [Search], [ContentQuery], [PathQuery], [Match], [Report], [Ripgrep], [Memory].
//
//	s, err := search.NewRipgrep(search.RipgrepOptions{Root: dir, Runner: search.Sandboxed(e), Judge: judge})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	q, err := search.DecodeContent(arguments, s.SupportsFollow())
//	if err != nil {
//		return err
//	}
//	done, err := frame.Each(s.SearchContent(ctx, q), func(m search.Match) error { return show(m) })
package search
