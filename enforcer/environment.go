package enforcer

import (
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// harmless are the variables that a command gets without asking. A name that ends in * stands for a prefix.
var harmless = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "COLORTERM", "TZ"}

// EnvOptions says what more a caller passes on than the harmless variables and the settings' own.
type EnvOptions struct {
	Allow []string          // names; a trailing * stands for a prefix
	Set   map[string]string // values
	All   bool              // everything of the caller's environment
}

// Environment builds a command's environment out of the caller's. It is denied by default: secrets, LD_PRELOAD, BASH_ENV,
// GIT_CONFIG_*, NODE_OPTIONS and all else that changes what a program does stay out unless they are named.
// The result is sorted; later sources win: caller's environment, settings, options.
func Environment(caller []string, settings srtconfig.EnvSettings, o EnvOptions) []string {
	vars := map[string]string{}
	for _, e := range caller {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" {
			continue
		}
		if o.All || named(name, harmless) || named(name, settings.Allow) || named(name, o.Allow) {
			vars[name] = value
		}
	}
	for _, set := range []map[string]string{settings.Set, o.Set} {
		for name, value := range set {
			vars[name] = value
		}
	}
	env := make([]string, 0, len(vars))
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

func named(name string, patterns []string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(name, prefix) || p == name {
			return true
		}
	}
	return false
}
