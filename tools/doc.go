// Package tools gives a model its hands: workspace tools that open, list, stage, patch and save files, each behind a gate.
//
// open_file and its kin observe: they give back the handle of an artifact, never text. stage_file authors: it gives back
// a medium in memory, which apply_patch changes and save_media writes. Nothing is on disk until save_media.
//
// Guarantees:
//   - Every tool asks the gate, about the exact bytes of the call, before a path is translated or anything opened.
//   - Every error that a tool returns is an *outcome.Error: a closed set, worded with what to do next, without host paths.
//     What the policy closes is told as what is missing.
//   - Arguments that the schema does not name are refused, and so are two of one name; the schema that is advertised is the
//     check that is made.
//   - Bytes are kept: $, CRLF, byte order marks, NULs and a missing final line feed come out of a patch as they went in.
//   - A listing is whole, or says what cut it, or is an error.
//   - After Handle.Close every tool and every reader fails with E_SANDBOX_NOT_INITIALIZED.
//
// Does not guarantee: that code outside this process keeps to any of it. These tools are our own code, and the evaluator
// is their boundary; programs that are spawned run in the sandbox's. See package workspace for what its files promise.
//
// Key types: [Options], [Set], [Tool], [Handle], [Medium].
//
//	set, err := tools.New(ctx, tools.Options{
//		Handle: tools.NewHandle(), FileSystem: root, PathTranslator: workspace.RootedPaths{}, Gate: g,
//		WriteRoot: "/home/dev/project", TrustTier: tools.FirstParty,
//	})
//	open, _ := set.Tool("open_file")
//	result, err := open.Handler(ctx, []byte(`{"path":"main.go"}`))
package tools
