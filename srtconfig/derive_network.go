package srtconfig

import "strconv"

// refuseMissingFeatures refuses keys that parse and whose protection does not exist here: to run without it would be
// weaker than what was asked for.
func (d *deriver) refuseMissingFeatures() {
	if d.settings.Network.TLSTerminate != nil {
		d.fail(d.source("/network/tlsTerminate", ""), "this version does not open TLS connections; take the key out to run without that inspection")
	}
	if d.settings.Credentials != nil {
		d.fail(d.source("/credentials", ""), `this version does not mask credentials; deny the files with filesystem.denyRead, and leave the variables out of sandboxctl.env`)
	}
}

func (d *deriver) network() NetworkRules {
	n := d.settings.Network
	out := NetworkRules{
		AllowedDomains:      d.domains("/network/allowedDomains", n.AllowedDomains, ForAllow),
		DeniedDomains:       d.domains("/network/deniedDomains", n.DeniedDomains, ForDeny),
		StrictAllowlist:     n.StrictAllowlist,
		AllowAllDomains:     n.AllowAllDomains,
		AllowUnixSockets:    d.sockets(n.AllowUnixSockets),
		AllowAllUnixSockets: n.AllowAllUnixSockets,
		AllowLocalBinding:   n.AllowLocalBinding,
		HTTPProxyPort:       uint16(n.HTTPProxyPort),
		SOCKSProxyPort:      uint16(n.SOCKSProxyPort),
		ParentProxy:         n.ParentProxy,
	}
	used := 0
	for i := range out.DeniedDomains {
		if reason, ok := n.DeniedDomainReasons[out.DeniedDomains[i].Source.Text]; ok {
			out.DeniedDomains[i].Reason = reason
			used++
		}
	}
	if used < len(n.DeniedDomainReasons) {
		d.warnUnusedReasons()
	}
	for i, a := range n.DeniedResolvedAddresses {
		src := d.source("/network/deniedResolvedAddresses/"+strconv.Itoa(i), a)
		prefix, err := parseAddressRange(a)
		if err != nil {
			d.fail(src, "%w", err)
			continue
		}
		out.DeniedResolvedAddresses = append(out.DeniedResolvedAddresses, AddressRule{Prefix: prefix, Source: src})
	}
	if n.AllowAllDomains && len(n.AllowedDomains) > 0 {
		d.warn(d.source("/network/allowAllDomains", ""), "network.allowAllDomains opens every host; network.allowedDomains then adds nothing")
	}
	if m := n.MitmProxy; m != nil {
		src := d.source("/network/mitmProxy/socketPath", m.SocketPath)
		if r, ok := d.socketPath(PathEntry{Path: m.SocketPath}, src); ok {
			out.MitmProxy = &MitmProxyRule{SocketPath: r.path, Domains: d.domains("/network/mitmProxy/domains", m.Domains, ForMitm), Source: src}
		}
	}
	return out
}

func (d *deriver) warnUnusedReasons() {
	for entry := range d.settings.Network.DeniedDomainReasons {
		denied := false
		for _, e := range d.settings.Network.DeniedDomains {
			denied = denied || e == entry
		}
		if !denied {
			d.warn(d.source("/network/deniedDomainReasons/"+escapePointer(entry), entry),
				"the reason for %q is never given: network.deniedDomains has no entry of exactly that spelling", entry)
		}
	}
}

func (d *deriver) domains(pointer string, entries []string, use PatternUse) []DomainRule {
	var out []DomainRule
	for i, e := range entries {
		src := d.source(pointer+"/"+strconv.Itoa(i), e)
		p, err := ParseDomainPattern(e, use)
		if err != nil {
			d.fail(src, "domain pattern %q: %w", e, err)
			continue
		}
		out = append(out, DomainRule{Pattern: p, Source: src})
	}
	return out
}

func (d *deriver) sockets(entries []PathEntry) []SocketRule {
	var out []SocketRule
	for i, e := range entries {
		src := d.source("/network/allowUnixSockets/"+strconv.Itoa(i), e.Path)
		if r, ok := d.socketPath(e, src); ok {
			out = append(out, SocketRule{Path: r.path, Exists: r.exists, Links: r.links, Source: src})
		}
	}
	return out
}

func (d *deriver) socketPath(e PathEntry, src Source) (resolved, bool) {
	err := checkPathText(e, false)
	if err == nil {
		var base, rest string
		if base, rest, err = d.start(e.Path); err == nil {
			var r resolved
			if r, err = d.links.resolve(base + "/" + rest); err == nil {
				return r, true
			}
		}
	}
	d.fail(src, "%w", err)
	return resolved{}, false
}

// own gives the settings under "sandboxctl" with the profile's path resolved.
func (d *deriver) own() OwnSettings {
	o := d.settings.Own.clone()
	if o.SeccompProfile == "" {
		return o
	}
	src := d.source("/sandboxctl/seccompProfile", o.SeccompProfile)
	r, ok := d.socketPath(PathEntry{Path: o.SeccompProfile}, src)
	if ok && (!r.exists || r.dir) {
		d.fail(src, "seccompProfile %q is no file", r.path)
	}
	o.SeccompProfile = r.path
	return o
}
