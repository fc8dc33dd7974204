package srtconfig

import (
	"maps"
	"slices"
)

// Rules hand out copies, so that they stay as Derive made them.

func (n NetworkRules) clone() NetworkRules {
	n.AllowedDomains = slices.Clone(n.AllowedDomains)
	n.DeniedDomains = slices.Clone(n.DeniedDomains)
	n.DeniedResolvedAddresses = slices.Clone(n.DeniedResolvedAddresses)
	n.AllowUnixSockets = slices.Clone(n.AllowUnixSockets)
	if n.MitmProxy != nil {
		m := *n.MitmProxy
		m.Domains = slices.Clone(m.Domains)
		n.MitmProxy = &m
	}
	return n
}

func (o OwnSettings) clone() OwnSettings {
	o.Env.Allow = slices.Clone(o.Env.Allow)
	o.Env.Set = maps.Clone(o.Env.Set)
	o.Commands.Allow = slices.Clone(o.Commands.Allow)
	return o
}

func (g RipgrepSettings) clone() RipgrepSettings {
	g.Args = slices.Clone(g.Args)
	return g
}

func (g GitSettings) clone() GitSettings {
	g.SafeDirectories = slices.Clone(g.SafeDirectories)
	return g
}

func cloneLists(m map[string][]string) map[string][]string {
	out := maps.Clone(m)
	for k, v := range out {
		out[k] = slices.Clone(v)
	}
	return out
}
