package srtconfig

import "net/netip"

// NetworkRules is the network part of Rules. The zero value denies every connection. Denials are looked at first.
type NetworkRules struct {
	AllowedDomains []DomainRule
	DeniedDomains  []DomainRule // Reason holds the entry of deniedDomainReasons
	// StrictAllowlist: a host that no entry allows is refused without asking anyone.
	StrictAllowlist bool
	AllowAllDomains bool // every host that DeniedDomains does not name
	// DeniedResolvedAddresses are addresses that an allowed name may not resolve to, beyond the built-in ones.
	DeniedResolvedAddresses []AddressRule
	AllowUnixSockets        []SocketRule
	AllowAllUnixSockets     bool
	AllowLocalBinding       bool
	HTTPProxyPort           uint16 // an HTTP proxy of the caller's that filters in place of ours; 0: none
	SOCKSProxyPort          uint16 // likewise
	ParentProxy             ParentProxySettings
	MitmProxy               *MitmProxyRule // nil: none
}

// DomainRule is one entry of a list of domains.
type DomainRule struct {
	Pattern DomainPattern
	Reason  string // why a denial stands, for the message; "" when the settings do not say
	Source  Source
}

// AddressRule is one entry of network.deniedResolvedAddresses.
type AddressRule struct {
	Prefix netip.Prefix // masked; an IPv4-mapped IPv6 range is given as the IPv4 range
	Source Source
}

// SocketRule is one UNIX socket of network.allowUnixSockets.
type SocketRule struct {
	Path   string   // absolute and resolved
	Exists bool     // at Derive
	Links  []string // as in PathRule
	Source Source
}

// MitmProxyRule sends connections to Domains through the proxy at SocketPath.
type MitmProxyRule struct {
	SocketPath string // absolute and resolved
	Domains    []DomainRule
	Source     Source
}

// Closed reports that the rules allow no connection to any host and no UNIX socket by name.
func (n NetworkRules) Closed() bool {
	return len(n.AllowedDomains) == 0 && !n.AllowAllDomains && len(n.AllowUnixSockets) == 0 && !n.AllowAllUnixSockets &&
		n.HTTPProxyPort == 0 && n.SOCKSProxyPort == 0
}
