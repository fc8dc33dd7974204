// Package artifact keeps what tools produce out of a model's context, and answers queries about it.
//
// An artifact is a stream that was spooled to a private file, or an open file. A tool returns its [Handle]; the
// model then asks for what it needs by name and call id, through the table that [Queries] returns.
//
// # Guarantees
//
//   - Opening a file reads nothing of it: time and memory do not depend on its size. Memory of text queries is
//     bounded for any content: a line of 200 MB, NUL bytes, no line end at all.
//   - A [Result] is never longer than Options.MaxResultBytes and always valid UTF-8. What was cut, and how to ask
//     for the rest, is said in its notes; bytes that are not UTF-8 are replaced and counted there.
//   - A file that changed since it was opened is noticed by every later query, and said.
//   - After [Store.Close], or once Options.Alive says that the owner is gone, every operation fails with
//     [ErrNotInitialized] (E_SANDBOX_NOT_INITIALIZED), queries under way included. Nothing is read any more.
//   - Spools are in a directory of mode 0700 under random names, without a name at all where the filesystem can
//     (O_TMPFILE), within one quota, and gone after Close; after a kill -9 no bytes stay where O_TMPFILE works, and
//     the next store removes the directory.
//   - A [Spool] neither blocks nor fails its producer when a limit is reached: it goes on counting, and keeps the
//     beginning and the end.
//   - Arguments that a query does not take are refused.
//
// # Does not guarantee
//
//   - A snapshot: a file is read as it is at the time of the query. A change within one tick of the filesystem's
//     clock that keeps the size is not noticed (see [Identity]).
//   - That old artifacts stay: the least recently used are dropped when the quota or the number of artifacts is
//     reached. Asking for one says so.
//   - Policy: which file may be opened is decided by who opens it; see [Store.Reopen].
//
// # Conventions of the queries
//
// Lines, bytes and records count from 0, and ends are exclusive. A line ends after '\n', which belongs to it, and
// "\r\n" stays as it is. The encoding argument of artifact_head, artifact_tail and artifact_cat says how bytes are
// shown: utf-8 (the default), utf-16 (by its byte order mark, else little endian), utf-16le, utf-16be, latin1, hex
// or base64; that of artifact_estimate_tokens names a tokenizer. artifact_cat takes a range of lines or of bytes.
//
// JSON artifacts are json, json5, jsonl or ndjson by their name and MIME type, and by their content where that
// differs: settings with comments are read as JSON5, values one a line as jsonl. Numbers are shown as they are
// written; filters compare them as float64. Documents above Options.MaxJSONBytes are refused, while jsonl and
// ndjson of any size are read line by line. The records of a document are the elements of a root array.
//
// # Key types
//
// [Store] mints and finds artifacts; [Artifact] has a method for each query; [Query] is such a method with its
// name, description and schema; [Spool] receives a stream; [Descriptor] lets another process open the same.
//
// # Example
//
//	store, err := artifact.NewStore(artifact.Options{Alive: session.Alive})
//	defer store.Close()
//	a, err := store.File(f, artifact.Meta{Name: "build.log"})
//	for _, q := range artifact.Queries() {
//		register(q.Name, q.Description, q.InputSchema, func(ctx context.Context, args json.RawMessage) (artifact.Result, error) {
//			return q.Run(ctx, store, args)
//		})
//	}
package artifact
