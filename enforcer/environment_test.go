package enforcer

import (
	"slices"
	"testing"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

func TestEnvironment(t *testing.T) {
	caller := []string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "SECRET=s", "LD_PRELOAD=/x.so", "BASH_ENV=/e", "GIT_CONFIG_COUNT=1",
		"NODE_OPTIONS=--x", "SSH_AUTH_SOCK=/s", "GITHUB_TOKEN=t", "TMPDIR=/scratch", "=odd", "NOVALUE", "CI=1", "CARGO_HOME=/c"}
	for _, tc := range []struct {
		name     string
		settings srtconfig.EnvSettings
		options  EnvOptions
		want     []string
	}{
		{"only the harmless by default", srtconfig.EnvSettings{}, EnvOptions{}, []string{"HOME=/h", "LC_ALL=C", "PATH=/bin"}},
		{"the settings add names and values", srtconfig.EnvSettings{Allow: []string{"CI", "CARGO_*"}, Set: map[string]string{"A": "1"}}, EnvOptions{},
			[]string{"A=1", "CARGO_HOME=/c", "CI=1", "HOME=/h", "LC_ALL=C", "PATH=/bin"}},
		{"the call wins over the settings, and they over the caller", srtconfig.EnvSettings{Set: map[string]string{"HOME": "/s", "A": "1"}},
			EnvOptions{Set: map[string]string{"A": "2"}}, []string{"A=2", "HOME=/s", "LC_ALL=C", "PATH=/bin"}},
		{"a name is not a prefix", srtconfig.EnvSettings{Allow: []string{"SEC"}}, EnvOptions{}, []string{"HOME=/h", "LC_ALL=C", "PATH=/bin"}},
	} {
		if got := Environment(caller, tc.settings, tc.options); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := Environment(caller, srtconfig.EnvSettings{}, EnvOptions{All: true}); len(got) != 13 || !slices.Contains(got, "SECRET=s") {
		t.Errorf("all: %q", got)
	}
}
