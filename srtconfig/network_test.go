package srtconfig

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestNetworkRules(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Home, "run/agent.sock", "sock => run/agent.sock")
	rules := mustDerive(t, host, `{"network": {
		"allowedDomains": ["*.a.test:443"], "deniedDomains": ["bad.a.test", "*:22"],
		"deniedDomainReasons": {"*:22": "no ssh", "other.test": "never given"},
		"deniedResolvedAddresses": ["10.1.2.3/8", "::ffff:192.0.2.0/120", "fc00::/7", "192.0.2.1"],
		"allowUnixSockets": ["~/sock", "/run/none.sock"], "httpProxyPort": 3128,
		"mitmProxy": {"socketPath": "mitm.sock", "domains": ["a.test"]}, "allowLocalBinding": true}}`)
	n := rules.Network()
	if n.Closed() || len(n.AllowedDomains) != 1 || n.AllowedDomains[0].Pattern.String() != "*.a.test:443" || n.AllowedDomains[0].Source.Line != 2 {
		t.Errorf("allowed: %+v", n.AllowedDomains)
	}
	if len(n.DeniedDomains) != 2 || n.DeniedDomains[0].Reason != "" || n.DeniedDomains[1].Reason != "no ssh" {
		t.Errorf("denied: %+v", n.DeniedDomains)
	}
	wantWarning(t, rules, "/network/deniedDomainReasons/other.test", "never given")
	var ranges []string
	for _, a := range n.DeniedResolvedAddresses {
		ranges = append(ranges, a.Prefix.String())
	}
	if got := strings.Join(ranges, " "); got != "10.0.0.0/8 192.0.2.0/24 fc00::/7 192.0.2.1/32" {
		t.Errorf("ranges %s", got)
	}
	if s := n.AllowUnixSockets; len(s) != 2 || s[0].Path != host.Home+"/run/agent.sock" || !s[0].Exists || len(s[0].Links) != 1 || s[1].Exists {
		t.Errorf("sockets: %+v", s)
	}
	if n.MitmProxy == nil || n.MitmProxy.SocketPath != host.Cwd+"/mitm.sock" || n.HTTPProxyPort != 3128 || !n.AllowLocalBinding {
		t.Errorf("%+v", n)
	}
	// What is handed out is a copy.
	n.AllowedDomains[0] = DomainRule{}
	n.MitmProxy.SocketPath = ""
	if again := rules.Network(); again.AllowedDomains[0].Pattern.String() != "*.a.test:443" || again.MitmProxy.SocketPath == "" {
		t.Error("the rules changed through a copy")
	}
}

// An absent section, an empty one and an empty list all mean no network.
func TestNoNetworkByDefault(t *testing.T) {
	host := tempHost(t)
	for _, settings := range []string{`{}`, `{"network": {}}`, `{"network": {"allowedDomains": []}}`, `{"network": {"deniedDomains": ["a.test"]}}`, `{"network": {"allowLocalBinding": true}}`} {
		if !mustDerive(t, host, settings).Network().Closed() {
			t.Errorf("%s opens the network", settings)
		}
	}
	if mustDerive(t, host, `{"network": {"allowAllDomains": true}}`).Network().Closed() {
		t.Error("the control is closed")
	}
}

func TestNarrowing(t *testing.T) {
	host := tempHost(t)
	plant(t, host.Cwd, "a.json = {}", "b.json = {}")
	const network = `{"network": {"allowedDomains": ["*.a.test", "b.test:443"], "deniedDomains": ["x.a.test"], "deniedResolvedAddresses": ["10.0.0.0/8"], "allowUnixSockets": ["/run/s"]%s}}`
	net := func(more string) string { return strings.Replace(network, "%s", more, 1) }
	own := func(s string) string { return `{"sandboxctl": ` + s + `}` }
	for _, c := range []struct {
		inner, outer string
		pointer      string // of the conflict; "" for none
	}{
		{`{}`, `{}`, ""},
		{`{}`, net(""), ""},
		{net(""), net(""), ""},
		{net(""), `{}`, "/network/allowedDomains/0"},
		{`{"network": {"allowedDomains": ["c.b.a.test", "b.test:443"], "deniedDomains": ["x.a.test"], "deniedResolvedAddresses": ["10.0.0.0/7"]}}`, net(""), ""},
		{`{"network": {"allowedDomains": ["b.test"], "deniedResolvedAddresses": ["10.0.0.0/8"]}}`, net(""), "/network/allowedDomains/0"},
		{`{"network": {"allowedDomains": ["b.test:443"], "deniedResolvedAddresses": ["10.0.0.0/8"]}}`, net(""), ""},                       // the denied name is out of reach
		{`{"network": {"allowedDomains": ["*.a.test"], "deniedResolvedAddresses": ["10.0.0.0/8"]}}`, net(""), "/network/deniedDomains/0"}, // and here it is not
		{`{"network": {"allowedDomains": ["b.test:443"], "deniedResolvedAddresses": ["10.0.0.0/9"]}}`, net(""), "/network/deniedResolvedAddresses/0"},
		{`{"network": {"allowUnixSockets": ["/run/other"]}}`, `{"network": {"allowUnixSockets": ["/run/s"]}}`, "/network/allowUnixSockets/0"},
		{`{"network": {"allowUnixSockets": ["/run/other"]}}`, `{"network": {"allowAllUnixSockets": true}}`, ""},
		{`{"network": {"allowAllUnixSockets": true}}`, `{"network": {"allowUnixSockets": ["/run/s"]}}`, "/network/allowAllUnixSockets"},
		{`{"network": {"allowAllDomains": true}}`, net(""), "/network/allowAllDomains"},
		{`{"network": {"allowedDomains": ["q.test"]}}`, `{"network": {"allowAllDomains": true}}`, ""},
		{`{"network": {"allowAllDomains": true}}`, `{"network": {"allowAllDomains": true, "deniedDomains": ["q.test"]}}`, "/network/deniedDomains/0"},
		{net(""), net(`, "strictAllowlist": true`), "/network/strictAllowlist"},
		{net(`, "strictAllowlist": true`), net(""), ""},
		{net(""), net(`, "httpProxyPort": 80`), "/network/httpProxyPort"},
		{net(`, "parentProxy": {"http": "http://p.test"}`), net(""), "/network/parentProxy"},
		{net(""), net(`, "mitmProxy": {"socketPath": "/m", "domains": ["a.test"]}`), "/network/mitmProxy"},
		{`{}`, net(`, "mitmProxy": {"socketPath": "/m", "domains": ["a.test"]}`), ""},
		{`{"network": {"allowLocalBinding": true}}`, `{}`, "/network/allowLocalBinding"},
		{`{"filesystem": {"disabled": true}}`, `{}`, "/filesystem/disabled"},
		{`{}`, `{"filesystem": {"disabled": true}}`, ""},
		{`{"enableWeakerNestedSandbox": true}`, `{}`, "/enableWeakerNestedSandbox"},
		{own(`{"tmp": "host"}`), own(`{}`), "/sandboxctl/tmp"},
		{own(`{}`), own(`{"tmp": "host"}`), ""},
		{own(`{"allowPtrace": true}`), own(`{}`), "/sandboxctl/allowPtrace"},
		{own(`{"allowNestedNamespaces": true}`), own(`{}`), "/sandboxctl/allowNestedNamespaces"},
		{own(`{"limits": {"pids": 10}}`), own(`{"limits": {"pids": 20}}`), ""},
		{own(`{"limits": {"pids": 30}}`), own(`{"limits": {"pids": 20}}`), "/sandboxctl/limits/pids"},
		{own(`{}`), own(`{"limits": {"pids": 20}}`), "/sandboxctl/limits/pids"},
		{own(`{"limits": {"memoryBytes": 2, "cpus": 1, "wallSeconds": 1, "outputBytes": 1, "tmpBytes": 1}}`), own(`{}`), ""},
		{own(`{"limits": {"memoryBytes": 2}}`), own(`{"limits": {"memoryBytes": 1}}`), "/sandboxctl/limits/memoryBytes"},
		{own(`{"limits": {"cpus": 2}}`), own(`{"limits": {"cpus": 1}}`), "/sandboxctl/limits/cpus"},
		{own(`{"limits": {"wallSeconds": 2}}`), own(`{"limits": {"wallSeconds": 1}}`), "/sandboxctl/limits/wallSeconds"},
		{own(`{"limits": {"outputBytes": 2}}`), own(`{"limits": {"outputBytes": 1}}`), "/sandboxctl/limits/outputBytes"},
		{own(`{"limits": {"tmpBytes": 2}}`), own(`{"limits": {"tmpBytes": 1}}`), "/sandboxctl/limits/tmpBytes"},
		{own(`{"env": {"allow": ["LC_ALL", "LC_*"]}}`), own(`{"env": {"allow": ["L*"]}}`), ""},
		{own(`{"env": {"allow": ["L*"]}}`), own(`{"env": {"allow": ["LC_*"]}}`), "/sandboxctl/env/allow/0"},
		{own(`{"env": {"allow": ["LC_*"]}}`), own(`{"env": {"allow": ["LC_"]}}`), "/sandboxctl/env/allow/0"},
		{own(`{"env": {"allow": ["A"]}}`), own(`{"env": {"set": {"A": "1"}}}`), "/sandboxctl/env/allow/0"},
		{own(`{"env": {"set": {"A": "1"}}}`), own(`{"env": {"set": {"A": "1", "B": "2"}}}`), ""},
		{own(`{"env": {"set": {"A": "2"}}}`), own(`{"env": {"set": {"A": "1"}}}`), "/sandboxctl/env/set/A"},
		{own(`{"env": {"set": {"A": "2"}}}`), own(`{"env": {"allow": ["A"]}}`), ""},
		{own(`{"commands": {"allow": ["git"]}}`), own(`{"commands": {"allow": ["git", "rg"]}}`), ""},
		{own(`{"commands": {"allow": ["make"]}}`), own(`{"commands": {"allow": ["git"]}}`), "/sandboxctl/commands/allow/0"},
		{own(`{}`), own(`{"commands": {"allow": ["git"]}}`), "/sandboxctl/commands/allow"},
		{own(`{"seccompProfile": "a.json"}`), own(`{}`), ""},
		{own(`{"seccompProfile": "a.json"}`), own(`{"seccompProfile": "b.json"}`), "/sandboxctl/seccompProfile"},
	} {
		inner, outer := mustDerive(t, host, c.inner), mustDerive(t, host, c.outer)
		err := inner.NarrowsApartFromPaths(outer)
		if c.pointer == "" {
			if err != nil {
				t.Errorf("%s within %s: %v", c.inner, c.outer, err)
			}
			continue
		}
		conflict, ok := err.(*PolicyConflictError)
		if !ok || conflict.Source.Pointer != c.pointer || conflict.Code() != "E_SANDBOX_POLICY_CONFLICT" {
			t.Errorf("%s within %s: %v, want a conflict at %s", c.inner, c.outer, err, c.pointer)
		}
	}
}

func TestRulesAsJSON(t *testing.T) {
	const golden = "testdata/rules.golden.json"
	host := tempHost(t)
	plant(t, host.Home, "key.pem", "keys/x", "p/link => ../keys")
	rules := mustDerive(t, host, `{"filesystem": {"denyRead": ["~/.ssh", "~/*.pem", "link"], "allowWrite": ["gone"]},
		"network": {"allowedDomains": ["a.test:443"], "deniedDomains": ["*:22"], "deniedDomainReasons": {"*:22": "no"}, "deniedResolvedAddresses": ["10.0.0.0/8"]},
		"sandboxctl": {"tmp": "host", "limits": {"pids": 5}}}`)
	got, err := rules.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	// One value a line, and a home that is everywhere the same.
	var lines bytes.Buffer
	if err := json.Indent(&lines, got, "", " "); err != nil {
		t.Fatal(err)
	}
	got = bytes.ReplaceAll(lines.Bytes(), []byte(host.Home), []byte("/home/test"))
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
