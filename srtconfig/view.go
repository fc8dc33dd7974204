package srtconfig

import (
	"encoding/json"
	"fmt"
)

// pathView is a PathRule as MarshalJSON writes it.
type pathView struct {
	List   string   `json:"list"`
	Path   string   `json:"path"`
	Kind   string   `json:"kind"` // "directory" or "file"
	Exists bool     `json:"exists"`
	Links  []string `json:"links,omitempty"`
	From   string   `json:"from"`
	Entry  string   `json:"entry"`
}

type globView struct {
	List    string `json:"list"`
	Pattern string `json:"pattern"`
	From    string `json:"from"`
	Entry   string `json:"entry"`
}

type domainView struct {
	Pattern string `json:"pattern"`
	Reason  string `json:"reason,omitempty"`
	From    string `json:"from"`
}

type networkView struct {
	AllowAllDomains         bool                `json:"allowAllDomains"`
	AllowedDomains          []domainView        `json:"allowedDomains"`
	DeniedDomains           []domainView        `json:"deniedDomains"`
	StrictAllowlist         bool                `json:"strictAllowlist"`
	DeniedResolvedAddresses []string            `json:"deniedResolvedAddresses"`
	AllowUnixSockets        []string            `json:"allowUnixSockets"`
	AllowAllUnixSockets     bool                `json:"allowAllUnixSockets"`
	AllowLocalBinding       bool                `json:"allowLocalBinding"`
	HTTPProxyPort           uint16              `json:"httpProxyPort,omitempty"`
	SOCKSProxyPort          uint16              `json:"socksProxyPort,omitempty"`
	ParentProxy             ParentProxySettings `json:"parentProxy,omitzero"`
	MitmProxy               string              `json:"mitmProxy,omitempty"`
}

type warningView struct {
	From    string `json:"from,omitempty"`
	Message string `json:"message"`
	Minor   bool   `json:"minor"`
}

type rulesView struct {
	Cwd                string              `json:"cwd"`
	Home               string              `json:"home"`
	FilesystemDisabled bool                `json:"filesystemDisabled"`
	Tmp                TmpMode             `json:"tmp"`
	WeakerNested       bool                `json:"enableWeakerNestedSandbox"`
	SearchDepth        int                 `json:"mandatoryDenySearchDepth"`
	Paths              []pathView          `json:"paths"`
	Globs              []globView          `json:"patterns"`
	Network            networkView         `json:"network"`
	Own                OwnSettings         `json:"sandboxctl"`
	Ripgrep            RipgrepSettings     `json:"ripgrep,omitzero"`
	Git                GitSettings         `json:"git,omitzero"`
	IgnoreViolations   map[string][]string `json:"ignoreViolations,omitempty"`
	Warnings           []warningView       `json:"warnings"`
}

// MarshalJSON writes the rules for a reader: every path with the entry that it comes from. It is not read back.
// Names that are no UTF-8 are written with U+FFFD, as encoding/json does.
func (r *Rules) MarshalJSON() ([]byte, error) {
	v := rulesView{
		Cwd: r.cwd, Home: r.home, FilesystemDisabled: r.disabled, Tmp: r.tmp, WeakerNested: r.weaker, SearchDepth: r.depth,
		Paths: []pathView{}, Globs: []globView{}, Warnings: []warningView{},
		Network: r.network.view(), Own: r.own, Ripgrep: r.ripgrep, Git: r.git, IgnoreViolations: r.ignore,
	}
	for _, p := range r.paths {
		kind := "file"
		if p.Dir {
			kind = "directory"
		}
		v.Paths = append(v.Paths, pathView{p.List.String(), p.Path, kind, p.Exists, p.Links, p.Source.String(), p.Source.Text})
	}
	for _, g := range r.globs {
		v.Globs = append(v.Globs, globView{g.List.String(), g.Pattern, g.Source.String(), g.Source.Text})
	}
	for _, w := range r.warnings {
		from := ""
		if w.Source != (Source{}) {
			from = w.Source.String()
		}
		v.Warnings = append(v.Warnings, warningView{from, w.Message, w.Minor})
	}
	return json.Marshal(v)
}

func (n NetworkRules) view() networkView {
	v := networkView{
		AllowAllDomains: n.AllowAllDomains, StrictAllowlist: n.StrictAllowlist,
		AllowedDomains: domainViews(n.AllowedDomains), DeniedDomains: domainViews(n.DeniedDomains),
		DeniedResolvedAddresses: []string{}, AllowUnixSockets: []string{}, AllowAllUnixSockets: n.AllowAllUnixSockets,
		AllowLocalBinding: n.AllowLocalBinding, HTTPProxyPort: n.HTTPProxyPort, SOCKSProxyPort: n.SOCKSProxyPort,
		ParentProxy: n.ParentProxy, MitmProxy: n.MitmProxy.String(),
	}
	for _, a := range n.DeniedResolvedAddresses {
		v.DeniedResolvedAddresses = append(v.DeniedResolvedAddresses, a.Prefix.String())
	}
	for _, s := range n.AllowUnixSockets {
		v.AllowUnixSockets = append(v.AllowUnixSockets, s.Path)
	}
	return v
}

func domainViews(rules []DomainRule) []domainView {
	out := []domainView{}
	for _, d := range rules {
		out = append(out, domainView{d.Pattern.String(), d.Reason, d.Source.String()})
	}
	return out
}

// String is "file:line" for an entry of a file, the pointer for one that was set in code, and "built in" for the rest.
func (s Source) String() string {
	switch {
	case s.Line > 0:
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	case s.Pointer != "":
		return s.Pointer
	}
	return "built in"
}

// MarshalJSON writes a plain string unless the entry is literal.
func (e PathEntry) MarshalJSON() ([]byte, error) {
	if !e.Literal {
		return json.Marshal(e.Path)
	}
	type plain PathEntry // without the method, which would call itself
	return json.Marshal(plain(e))
}
