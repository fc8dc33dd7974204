package srtconfig

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// PolicyConflictError says that a policy allows something that the one it should lie within does not.
type PolicyConflictError struct {
	Source  Source // the entry of the inner policy; for what is absent in it, the entry of the outer one that it lacks
	Message string
}

// Error names file, line and key.
func (e *PolicyConflictError) Error() string { return errorAt(e.Source, "%s", e.Message).Error() }

// Code returns CodePolicyConflict.
func (e *PolicyConflictError) Code() string { return CodePolicyConflict }

// NarrowsApartFromPaths returns nil when all that these Rules allow outside the file system (network, /tmp, limits,
// environment, commands, kernel features) outer allows too, else a *PolicyConflictError that names the first entry that
// goes beyond. Paths are the evaluator's to compare, which decides about them. What changes no allowance is not looked
// at: ripgrep, git, ignoreViolations.
func (r *Rules) NarrowsApartFromPaths(outer *Rules) error {
	c := comparison{inner: r, outer: outer}
	for _, check := range []func() *PolicyConflictError{c.switches, c.domains, c.sockets, c.routes, c.limits, c.environment, c.commands} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

type comparison struct{ inner, outer *Rules }

// beyond is a conflict at an entry of the inner policy.
func (c comparison) beyond(pointer, format string, args ...any) *PolicyConflictError {
	src, ok := c.inner.sources[pointer]
	if !ok {
		src = Source{Pointer: pointer}
	}
	return &PolicyConflictError{Source: src, Message: fmt.Sprintf(format, args...)}
}

// lacking is a conflict at an entry of the outer policy that the inner one does not repeat.
func (c comparison) lacking(pointer, format string, args ...any) *PolicyConflictError {
	src, ok := c.outer.sources[pointer]
	if !ok {
		src = Source{Pointer: pointer}
	}
	return &PolicyConflictError{Source: src, Message: fmt.Sprintf(format, args...)}
}

// switches compares what is either allowed or not.
func (c comparison) switches() *PolicyConflictError {
	i, o := c.inner, c.outer
	for _, s := range []struct {
		pointer      string
		inner, outer bool
	}{
		{"/filesystem/disabled", i.disabled, o.disabled},
		{"/enableWeakerNestedSandbox", i.weaker, o.weaker},
		{"/sandboxctl/tmp", i.tmp == TmpHost, o.tmp == TmpHost},
		{"/sandboxctl/allowPtrace", i.own.AllowPtrace, o.own.AllowPtrace},
		{"/sandboxctl/allowNestedNamespaces", i.own.AllowNestedNamespaces, o.own.AllowNestedNamespaces},
		{"/network/allowAllDomains", i.network.AllowAllDomains, o.network.AllowAllDomains},
		{"/network/allowAllUnixSockets", i.network.AllowAllUnixSockets, o.network.AllowAllUnixSockets},
		{"/network/allowLocalBinding", i.network.AllowLocalBinding, o.network.AllowLocalBinding},
	} {
		if s.inner && !s.outer {
			return c.beyond(s.pointer, "the policy around it does not allow this")
		}
	}
	if o.own.SeccompProfile != "" && i.own.SeccompProfile != o.own.SeccompProfile {
		return c.lacking("/sandboxctl/seccompProfile", "the inner policy does not use the seccomp profile %s", o.own.SeccompProfile)
	}
	if o.network.StrictAllowlist && !i.network.StrictAllowlist && !i.network.Closed() {
		return c.lacking("/network/strictAllowlist", "the inner policy does not set strictAllowlist")
	}
	return nil
}

func (c comparison) domains() *PolicyConflictError {
	i, o := c.inner.network, c.outer.network
	for _, a := range i.AllowedDomains {
		if o.AllowAllDomains || slices.ContainsFunc(o.AllowedDomains, func(b DomainRule) bool { return b.Pattern.Covers(a.Pattern) }) {
			continue
		}
		return &PolicyConflictError{a.Source, fmt.Sprintf("the policy around it does not allow %q", a.Source.Text)}
	}
	if i.Closed() {
		return nil
	}
	for _, d := range o.DeniedDomains {
		reached := i.AllowAllDomains || slices.ContainsFunc(i.AllowedDomains, func(a DomainRule) bool { return a.Pattern.overlaps(d.Pattern) })
		if reached && !slices.ContainsFunc(i.DeniedDomains, func(b DomainRule) bool { return b.Pattern.Covers(d.Pattern) }) {
			return &PolicyConflictError{d.Source, fmt.Sprintf("the inner policy does not deny %q", d.Source.Text)}
		}
	}
	for _, d := range o.DeniedResolvedAddresses {
		if !slices.ContainsFunc(i.DeniedResolvedAddresses, func(b AddressRule) bool { return covers(b.Prefix, d.Prefix) }) {
			return &PolicyConflictError{d.Source, fmt.Sprintf("the inner policy does not deny addresses in %s", d.Prefix)}
		}
	}
	return nil
}

func covers(p, q netip.Prefix) bool { return p.Bits() <= q.Bits() && p.Contains(q.Addr()) }

func (c comparison) sockets() *PolicyConflictError {
	if c.outer.network.AllowAllUnixSockets {
		return nil
	}
	for _, s := range c.inner.network.AllowUnixSockets {
		if !slices.ContainsFunc(c.outer.network.AllowUnixSockets, func(o SocketRule) bool { return o.Path == s.Path }) {
			return &PolicyConflictError{s.Source, fmt.Sprintf("the policy around it does not allow the socket %s", s.Path)}
		}
	}
	return nil
}

// routes wants the same proxies: each of them may filter, or lead elsewhere.
func (c comparison) routes() *PolicyConflictError {
	i, o := c.inner.network, c.outer.network
	if i.Closed() {
		return nil
	}
	for _, p := range []struct {
		pointer      string
		inner, outer any
	}{
		{"/network/httpProxyPort", i.HTTPProxyPort, o.HTTPProxyPort},
		{"/network/socksProxyPort", i.SOCKSProxyPort, o.SOCKSProxyPort},
		{"/network/parentProxy", i.ParentProxy, o.ParentProxy},
		{"/network/mitmProxy", i.MitmProxy.String(), o.MitmProxy.String()},
	} {
		if p.inner != p.outer {
			return c.beyond(p.pointer, "the policy around it goes through another proxy")
		}
	}
	return nil
}

// String lists socket and domains; two rules that route alike give the same.
func (m *MitmProxyRule) String() string {
	if m == nil {
		return ""
	}
	domains := make([]string, len(m.Domains))
	for i, d := range m.Domains {
		domains[i] = d.Pattern.String()
	}
	slices.Sort(domains)
	return m.SocketPath + " " + strings.Join(domains, " ")
}

func (c comparison) limits() *PolicyConflictError {
	i, o := c.inner.own.Limits, c.outer.own.Limits
	for _, l := range []struct {
		key          string
		inner, outer float64
	}{
		{"memoryBytes", float64(i.MemoryBytes), float64(o.MemoryBytes)},
		{"pids", float64(i.PIDs), float64(o.PIDs)},
		{"cpus", i.CPUs, o.CPUs},
		{"wallSeconds", i.WallSeconds, o.WallSeconds},
		{"outputBytes", float64(i.OutputBytes), float64(o.OutputBytes)},
		{"tmpBytes", float64(i.TmpBytes), float64(o.TmpBytes)},
	} {
		pointer := "/sandboxctl/limits/" + l.key
		switch {
		case l.outer == 0:
		case l.inner == 0:
			return c.lacking(pointer, "the inner policy has no such limit; it needs one of at most %v", l.outer)
		case l.inner > l.outer:
			return c.beyond(pointer, "the limit of the policy around it is %v", l.outer)
		}
	}
	return nil
}

func (c comparison) environment() *PolicyConflictError {
	i, o := c.inner.own.Env, c.outer.own.Env
	for n, name := range i.Allow {
		if !o.allowsPattern(name) {
			return c.beyond(fmt.Sprintf("/sandboxctl/env/allow/%d", n), "the policy around it does not pass %s on", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(i.Set)) {
		if value, same := o.Set[name]; (!same || value != i.Set[name]) && !o.Allows(name) {
			return c.beyond("/sandboxctl/env/set/"+name, "the policy around it neither sets %s to this value nor passes it on", name)
		}
	}
	return nil
}

// Allows reports whether a variable of the caller is passed on because of Allow. The enforcer's own short list is
// passed on besides.
func (e EnvSettings) Allows(name string) bool {
	return slices.ContainsFunc(e.Allow, func(p string) bool {
		prefix, open := strings.CutSuffix(p, "*")
		return name == p || open && strings.HasPrefix(name, prefix)
	})
}

func (e EnvSettings) allowsPattern(pattern string) bool {
	name, open := strings.CutSuffix(pattern, "*")
	if !open {
		return e.Allows(name)
	}
	return slices.ContainsFunc(e.Allow, func(p string) bool {
		prefix, wide := strings.CutSuffix(p, "*")
		return wide && strings.HasPrefix(name, prefix)
	})
}

func (c comparison) commands() *PolicyConflictError {
	outer := c.outer.own.Commands.Allow
	if len(outer) == 0 {
		return nil
	}
	if len(c.inner.own.Commands.Allow) == 0 {
		return c.lacking("/sandboxctl/commands/allow", "the inner policy allows every command")
	}
	for n, name := range c.inner.own.Commands.Allow {
		if !slices.Contains(outer, name) {
			return c.beyond(fmt.Sprintf("/sandboxctl/commands/allow/%d", n), "the policy around it does not allow the command %s", name)
		}
	}
	return nil
}
