// Package srtconfig reads settings in the format of Anthropic's sandbox-runtime (srt 0.0.78) and turns them into Rules,
// the one policy type that both the evaluator and the enforcer read.
//
// Parse looks at bytes alone. Derive looks at the host: it makes every path absolute, follows its symlinks once,
// expands patterns, and adds the protected paths.
//
//	settings, err := srtconfig.Parse([]byte(`{"filesystem": {"allowWrite": ["."]}}`), "settings.json")
//	if err != nil {
//		return err
//	}
//	rules, err := srtconfig.Derive(ctx, settings, srtconfig.Host{Cwd: cwd, Home: home})
package srtconfig
