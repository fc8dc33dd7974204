// Package srtconfig reads settings in the format of Anthropic's sandbox-runtime (srt 0.0.78) and turns them into Rules,
// the one policy type that the evaluator and the enforcer read.
//
//	settings, err := srtconfig.Load("settings.json")
//	if err != nil {
//		return err // each mistake with file, line, column and JSON pointer
//	}
//	rules, err := srtconfig.Derive(ctx, settings, srtconfig.Host{Cwd: cwd, Home: home, Executable: self})
//	if err != nil {
//		return err
//	}
//	for _, w := range rules.Warnings() {
//		fmt.Fprintln(os.Stderr, w.Source, w.Message)
//	}
//
// # What it guarantees
//
// Parse looks at bytes alone: no file, no environment. It takes nothing that it does not understand: an unknown key, a
// repeated one, null, or a path that a shell would expand is an error, because a rule that is read otherwise than it was
// meant protects nothing. What is absent has its strict reading. Nothing falls back to defaults after an error.
//
// Derive reads the host and changes nothing on it. Every path in Rules is absolute, clean, and was free of symlinks when
// Derive looked; the links that led there are in PathRule.Links. Patterns of all lists, and protected names, are found in at most one walk, which
// follows no link and has a Budget; a walk that would exceed it is an error that names the patterns, never fewer matches.
// Protected paths are there whether or not they exist. A key whose protection this version cannot give is refused.
//
// Rules are immutable and safe for concurrent use, and so are Settings as long as nobody assigns to their fields.
//
// # What it does not
//
// Rules are a picture of one moment. Files that are made later, and links that the host changes later, are for those who
// use the rules: the evaluator matches GlobRules again, the enforcer opens every path without following links.
// It takes no decision about a path, and does not compare the paths of two policies: the evaluator does.
// Whether the enforcer can carry a rule out is the enforcer's to say.
//
// # Key types
//
// Settings is the file. Host is what Derive must know. Rules holds PathRule, GlobRule, NetworkRules and OwnSettings, each
// with the Source that it was written at. Glob and DomainPattern are the matchers. SettingsError (E_INVALID_SANDBOX_CONFIG)
// and PolicyConflictError (E_SANDBOX_POLICY_CONFLICT) are the errors that a caller acts on.
package srtconfig
