// Package gate asks somebody before a tool acts: every tool, reads and searches included, and before a path is so much
// as looked at.
//
// A bad write can be taken back, a read cannot: what was read is in the conversation and in its logs. So there is no
// default decider, and building tools without one fails with E_SANDBOX_GATE_REQUIRED.
//
// Guarantees:
//   - What runs is what was decided about: a [Call] holds its own copy of the exact bytes, and its digest.
//   - What is shown ([Call.Shown]) is the whole call, on one line, in plain ASCII: control characters, marks that turn
//     the reading order, invisible and look-alike characters appear as escapes. It is never cut.
//   - Only a verdict that says so approves. An error, a program that fails, an answer that does not parse, and the zero
//     [Verdict] do not.
//   - Declined, no answer in time, a decider that failed, and a caller that cancelled are told apart by [Ask].
//
// Does not guarantee: that an answer ever comes. A wait is a real wait, ended by the caller's context alone; a decider
// that does not heed the context is left behind, and its late answer is dropped. Nor that a rule about a path holds for
// what a link leads to: rules match the path as it is asked for; what may be read is for the settings to say.
//
// Key types: [Gate], [Call], [Verdict], [Exec], [Rules].
//
//	g, err := gate.ParseSpec("rules:/etc/sandboxctl/gate.json", gate.Deps{Warn: os.Stderr})
//	err = gate.Ask(ctx, g, gate.NewCall("open_file", args))
package gate
