package srtconfig

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// check looks at what the types cannot say. It runs on what could be decoded, also when something could not.
func (d *decoder) check(s *Settings) {
	for _, l := range s.Filesystem.lists() {
		d.checkPaths("/filesystem/"+l.list.String(), l.entries, true)
	}
	d.checkNetwork(&s.Network)
	d.checkOwn(&s.Own)
	d.bounds("/mandatoryDenySearchDepth", int64(s.MandatoryDenySearchDepth), 1, maxSearchDepth)
	for pattern := range s.IgnoreViolations {
		if pattern == "" {
			d.failAt("/ignoreViolations", `an empty command pattern matches nothing; "*" stands for every command`)
		}
	}
	d.checkHelpers(s)
	if s.Credentials != nil {
		d.checkCredentials(s.Credentials)
	}
}

// listEntries is one of the four lists with its entries.
type listEntries struct {
	list    List
	entries []PathEntry
}

// lists returns the four lists in a fixed order, denials first.
func (f *FilesystemSettings) lists() []listEntries {
	return []listEntries{
		{DenyRead, f.DenyRead},
		{AllowRead, f.AllowRead},
		{AllowWrite, f.AllowWrite},
		{DenyWrite, f.DenyWrite},
	}
}

func (d *decoder) checkPaths(pointer string, entries []PathEntry, globs bool) {
	for i, e := range entries {
		at := pointer + "/" + strconv.Itoa(i)
		if d.failedBelow(at) {
			continue
		}
		if err := checkPathText(e, globs); err != nil {
			d.failAt(at, "%w", err)
		}
	}
}

// failedBelow reports that the value at the pointer could not be decoded, so that its zero value says nothing.
func (d *decoder) failedBelow(pointer string) bool {
	return slices.ContainsFunc(d.errs, func(e *SettingsError) bool {
		return e.Pointer == pointer || strings.HasPrefix(e.Pointer, pointer+"/")
	})
}

// holdsVariable reports what a shell would expand. "$" before anything else is an ordinary character.
func holdsVariable(p string) bool {
	for i := range len(p) - 1 {
		if p[i] == '$' && (p[i+1] == '{' || startsName(p[i+1])) {
			return true
		}
	}
	return false
}

func startsName(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// checkPathText refuses the forms that a user expects to be expanded and that nothing here expands: a rule that is
// read in another way than it was meant protects nothing.
func checkPathText(e PathEntry, globs bool) error {
	const asLiteral = `; if that is the real name, write {"path": %q, "literal": true}`
	p := e.Path
	switch {
	case p == "":
		return errors.New(`an empty path; write "." for the working directory`)
	case strings.ContainsRune(p, 0):
		return errors.New("the path holds a NUL character, which no file name can")
	case strings.HasPrefix(p, "~") && p != "~" && !strings.HasPrefix(p, "~/"):
		return fmt.Errorf(`"~name" is not expanded; write the home directory out, or "./%s" for a file of that name`, p)
	case e.Literal:
		return nil
	case strings.TrimSpace(p) == "":
		return fmt.Errorf("the path is blank"+asLiteral, p)
	case strings.TrimSpace(p) != p:
		return fmt.Errorf("the path begins or ends with a space"+asLiteral, p)
	case holdsVariable(p):
		return fmt.Errorf(`variables are not expanded; write the path out, or "~/" for the home directory`+asLiteral, p)
	}
	if globs {
		return checkGlobText(p)
	}
	return nil
}

// checkGlobText refuses a "**" that shares its segment with other text. srt lets it cross slashes there, other tools
// take it for one "*", and a denial that matches less than it seems to is a hole.
func checkGlobText(p string) error {
	for seg := range strings.SplitSeq(p, "/") {
		if seg != "**" && strings.Contains(seg, "**") {
			rest := strings.ReplaceAll(seg, "**", "*")
			return fmt.Errorf(`"**" stands alone between slashes; write %q for this level, or %q for any depth`,
				strings.Replace(p, seg, rest, 1), strings.Replace(p, seg, "**/"+rest, 1))
		}
	}
	return nil
}

func (d *decoder) bounds(pointer string, n, low, high int64) {
	if _, there := d.places[pointer]; !there || d.failedBelow(pointer) || n >= low && n <= high {
		return
	}
	d.failAt(pointer, "want a number from %d to %d, found %d", low, high, n)
}

func (d *decoder) checkDomains(pointer string, entries []string, use PatternUse) {
	for i, e := range entries {
		at := pointer + "/" + strconv.Itoa(i)
		if d.failedBelow(at) {
			continue
		}
		if _, err := ParseDomainPattern(e, use); err != nil {
			d.failAt(at, "domain pattern %q: %w", e, err)
		}
	}
}

func (d *decoder) checkNetwork(n *NetworkSettings) {
	d.checkDomains("/network/allowedDomains", n.AllowedDomains, ForAllow)
	d.checkDomains("/network/deniedDomains", n.DeniedDomains, ForDeny)
	for entry, reason := range n.DeniedDomainReasons {
		at := "/network/deniedDomainReasons/" + escapePointer(entry)
		if reason == "" && !d.failedBelow(at) {
			d.failAt(at, "an empty reason; leave the key out")
		}
	}
	for i, a := range n.DeniedResolvedAddresses {
		at := "/network/deniedResolvedAddresses/" + strconv.Itoa(i)
		if _, err := parseAddressRange(a); err != nil && !d.failedBelow(at) {
			d.failAt(at, "%w", err)
		}
	}
	d.checkPaths("/network/allowUnixSockets", n.AllowUnixSockets, false)
	d.bounds("/network/httpProxyPort", int64(n.HTTPProxyPort), 1, 65535)
	d.bounds("/network/socksProxyPort", int64(n.SOCKSProxyPort), 1, 65535)
	d.checkProxyURL("/network/parentProxy/http", n.ParentProxy.HTTP)
	d.checkProxyURL("/network/parentProxy/https", n.ParentProxy.HTTPS)
	if m := n.MitmProxy; m != nil && !d.failedBelow("/network/mitmProxy") {
		if err := checkPathText(PathEntry{Path: m.SocketPath}, false); err != nil {
			d.failAt("/network/mitmProxy/socketPath", "%w", err)
		}
		if len(m.Domains) == 0 {
			d.failAt("/network/mitmProxy/domains", "an empty list sends nothing through the proxy; name a domain or leave mitmProxy out")
		}
		d.checkDomains("/network/mitmProxy/domains", m.Domains, ForMitm)
	}
	if t := n.TLSTerminate; t != nil {
		if (t.CACertPath == "") != (t.CAKeyPath == "") {
			d.failAt("/network/tlsTerminate", "caCertPath and caKeyPath go together")
		}
		d.checkDomains("/network/tlsTerminate/excludeDomains", t.ExcludeDomains, ForMitm)
	}
	for i, m := range n.AllowMachLookup {
		if strings.Contains(strings.TrimSuffix(m, "*"), "*") {
			d.failAt("/network/allowMachLookup/"+strconv.Itoa(i), `a "*" may only stand at the end`)
		}
	}
}

func (d *decoder) checkProxyURL(pointer, text string) {
	if _, there := d.places[pointer]; !there || d.failedBelow(pointer) {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		d.failAt(pointer, `want the address of a proxy, as in "http://proxy.example.com:3128"`)
	}
}

// parseAddressRange reads an address or a range in CIDR form, IPv6 without brackets. A range of IPv4-mapped IPv6
// addresses is given as the IPv4 range, because the kernel connects the one to the other.
func parseAddressRange(s string) (netip.Prefix, error) {
	bad := func() (netip.Prefix, error) {
		return netip.Prefix{}, fmt.Errorf(`%q is no address or range; write "10.0.0.0/8", "192.0.2.1" or "fc00::/7"`, s)
	}
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		addr, err := netip.ParseAddr(s)
		if err != nil || addr.Zone() != "" {
			return bad()
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	if addr := prefix.Addr(); addr.Is4In6() {
		if prefix.Bits() < 96 {
			return bad()
		}
		prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96)
	}
	return prefix.Masked(), nil
}

// envName reports a name as shells take it, which can never be read as an option or as an assignment.
func envName(s string) bool {
	if s == "" || !startsName(s[0]) {
		return false
	}
	for i := range len(s) {
		if !startsName(s[i]) && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

func (d *decoder) checkOwn(o *OwnSettings) {
	const largest = 1 << 62
	d.bounds("/sandboxctl/limits/memoryBytes", o.Limits.MemoryBytes, 1, largest)
	d.bounds("/sandboxctl/limits/pids", o.Limits.PIDs, 1, 1<<22) // PID_MAX_LIMIT, include/linux/threads.h
	d.bounds("/sandboxctl/limits/outputBytes", o.Limits.OutputBytes, 1, largest)
	d.bounds("/sandboxctl/limits/tmpBytes", o.Limits.TmpBytes, 1, largest)
	d.positive("/sandboxctl/limits/cpus", o.Limits.CPUs)
	d.positive("/sandboxctl/limits/wallSeconds", o.Limits.WallSeconds)
	for i, name := range o.Env.Allow {
		at := "/sandboxctl/env/allow/" + strconv.Itoa(i)
		if !envName(strings.TrimSuffix(name, "*")) && !d.failedBelow(at) {
			d.failAt(at, `%q is no variable name; write letters, digits and "_", and at the end a "*" for any rest, as in "LC_*"`, name)
		}
	}
	for name, value := range o.Env.Set {
		at := "/sandboxctl/env/set/" + escapePointer(name)
		if !envName(name) {
			d.failAt(at, "%q is no variable name", name)
		}
		if strings.ContainsRune(value, 0) {
			d.failAt(at, "the value holds a NUL character")
		}
	}
	for i, c := range o.Commands.Allow {
		at := "/sandboxctl/commands/allow/" + strconv.Itoa(i)
		if !d.failedBelow(at) && (c == "" || strings.ContainsAny(c, "\x00 \t\n")) {
			d.failAt(at, "%q is no program; write its name or its path, without arguments", c)
		}
	}
	if _, there := d.places["/sandboxctl/seccompProfile"]; there && !d.failedBelow("/sandboxctl/seccompProfile") {
		if err := checkPathText(PathEntry{Path: o.SeccompProfile}, false); err != nil {
			d.failAt("/sandboxctl/seccompProfile", "%w", err)
		}
	}
}

func (d *decoder) positive(pointer string, f float64) {
	const largest = 1e9
	if _, there := d.places[pointer]; there && !d.failedBelow(pointer) && (f <= 0 || f > largest) {
		d.failAt(pointer, "want a number above 0, found %v", f)
	}
}

// checkHelpers looks at keys that mean nothing here, as srt does: a file that srt refuses is not to pass unseen.
func (d *decoder) checkHelpers(s *Settings) {
	for pointer, p := range map[string]string{"/bwrapPath": s.BwrapPath, "/socatPath": s.SocatPath, "/javaAgentJarPath": s.JavaAgentJarPath} {
		if _, there := d.places[pointer]; there && !d.failedBelow(pointer) && !path.IsAbs(p) {
			d.failAt(pointer, "want an absolute path, found %q", p)
		}
	}
	if w := s.Windows; w != nil && w.ProxyPortRange != nil && !d.failedBelow("/windows/proxyPortRange") {
		r := w.ProxyPortRange
		if len(r) != 2 || r[0] < 1 || r[1] > 65535 || r[0] > r[1] || r[1]-r[0] > 64 {
			d.failAt("/windows/proxyPortRange", "want [low, high] with at most 64 between them")
		}
	}
	for i, dir := range s.Git.SafeDirectories {
		at := "/git/safeDirectories/" + strconv.Itoa(i)
		if !d.failedBelow(at) && (dir == "" || strings.ContainsRune(dir, 0)) {
			d.failAt(at, "%q is no directory", dir)
		}
	}
	if r := s.Ripgrep; !d.failedBelow("/ripgrep") {
		if _, there := d.places["/ripgrep"]; there && r.Command == "" {
			d.failAt("/ripgrep", `the key "command" is missing, as in {"command": "rg"}`)
		}
	}
}

func (d *decoder) checkCredentials(c *CredentialsSettings) {
	oneOf := func(at, value string, words ...string) {
		if _, there := d.places[at]; there && !d.failedBelow(at) && !slices.Contains(words, value) {
			d.failAt(at, "want one of %q, found %q", words, value)
		}
	}
	masking := func(at string, m CredentialMasking) {
		oneOf(at+"/mode", m.Mode, "deny", "mask")
		oneOf(at+"/onExtractNoMatch", m.OnExtractNoMatch, "warn", "deny", "error")
		oneOf(at+"/decode", m.Decode, "jwt")
		d.checkDomains(at+"/injectHosts", m.InjectHosts, ForMitm)
	}
	for i, f := range c.Files {
		at := "/credentials/files/" + strconv.Itoa(i)
		masking(at, f.CredentialMasking)
		if !d.failedBelow(at) && f.Path == "" {
			d.failAt(at+"/path", "an empty path")
		}
	}
	for i, e := range c.EnvVars {
		at := "/credentials/envVars/" + strconv.Itoa(i)
		masking(at, e.CredentialMasking)
		if !d.failedBelow(at) && !envName(e.Name) {
			d.failAt(at+"/name", "%q is no variable name", e.Name)
		}
	}
	if s := c.SigV4; s != nil {
		oneOf("/credentials/sigv4/streaming", s.Streaming, "deny", "passthrough")
		oneOf("/credentials/sigv4/presigned", s.Presigned, "deny", "passthrough")
		oneOf("/credentials/sigv4/sigv4a", s.SigV4A, "deny", "passthrough")
	}
}
