package evaluator

import (
	"errors"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// network is the compiled form of the network rules.
type network struct {
	denied, allowed domainIndex
	all             bool // every host that denied does not name
}

// domainIndex finds the entries that may match a host without a look at the others.
type domainIndex struct {
	rules  []srtconfig.DomainRule // in the order of the settings
	byHost map[string][]int32     // by the host of the pattern, which a matching host equals or ends in; ascending
}

func compileNetwork(n srtconfig.NetworkRules) *network {
	return &network{
		denied:  indexDomains(n.DeniedDomains),
		allowed: indexDomains(n.AllowedDomains),
		all:     n.AllowAllDomains,
	}
}

func indexDomains(rules []srtconfig.DomainRule) domainIndex {
	x := domainIndex{rules: rules, byHost: make(map[string][]int32, len(rules))}
	for i := range rules {
		host := rules[i].Pattern.Host()
		x.byHost[host] = append(x.byHost[host], int32(i))
	}
	return x
}

// first returns the first entry, in the order of the settings, that matches a canonical host, or nil.
func (x *domainIndex) first(host string, port uint16) *srtconfig.DomainRule {
	if len(x.rules) == 0 {
		return nil
	}
	best := x.firstOf("", host, port, int32(len(x.rules))) // "*" has no host
	for suffix, more := host, true; more; _, suffix, more = strings.Cut(suffix, ".") {
		best = x.firstOf(suffix, host, port, best)
	}
	if int(best) == len(x.rules) {
		return nil
	}
	return &x.rules[best]
}

// firstOf returns the lowest index below best of an entry filed under key that matches, or best.
func (x *domainIndex) firstOf(key, host string, port uint16, best int32) int32 {
	for _, i := range x.byHost[key] {
		if i >= best {
			break
		}
		if x.rules[i].Pattern.Match(host, port) {
			return i
		}
	}
	return best
}

// CanConnect says whether a program may connect to host at a TCP port. The host is a name or an address as the program
// gave it; it is brought to its canonical form first, see [CanonicalHost], and that form is the one to dial. Denials
// are looked at before what is allowed, as srt 0.0.78 does (dist/sandbox/sandbox-manager.js, filterNetworkRequest).
//
// It decides about names: what an allowed name resolves to is judged when the connection is made. Loopback inside the
// sandbox is the sandbox's own and not asked about here. With a canonical host it does not allocate.
func (e *Evaluator) CanConnect(host string, port uint16) Decision {
	d := Decision{Op: Connect}
	if e.network == nil {
		d.Reason = NetworkClosed
		return d
	}
	canonical, err := CanonicalHost(host)
	if bad, ok := errors.AsType[*HostError](err); ok {
		d.Reason, d.Problem = BadHost, bad.Problem
		return d
	}
	if port == 0 {
		d.Reason, d.Problem = BadHost, "port 0 is none that can be connected to"
		return d
	}
	if d.Domain = e.network.denied.first(canonical, port); d.Domain != nil {
		d.Reason = DeniedByEntry
		return d
	}
	if d.Domain = e.network.allowed.first(canonical, port); d.Domain != nil {
		d.Allowed, d.Reason = true, AllowedByEntry
		return d
	}
	if e.network.all {
		d.Allowed, d.Reason = true, AllDomains
		return d
	}
	d.Reason = NetworkClosed
	return d
}
