package srtconfig

import (
	"slices"
	"strings"
)

// Key describes one key of the settings file, for the JSON Schema and for docs/settings.md.
type Key struct {
	Path    string // as in "filesystem.denyRead"
	Value   string // what it holds, as in "list of paths"
	Default string // what its absence means
	Meaning string
	// Now is what this version does where that is less than Meaning says; "" where it is not.
	Now    string
	effect effect
}

// effect says what a key does here.
type effect uint8

const (
	effective effect = iota
	refused          // parsed and checked, then an error of Derive
	otherOS          // of another operating system
	srtHelper        // names a helper program of srt
)

// Keys lists every key but those inside "credentials", "windows" and "network.tlsTerminate", in the order of the
// documentation.
func Keys() []Key { return slices.Clone(keyTable[:]) }

// What Now says of several keys.
const (
	egress  = "A run is refused: commands get no network at all yet."
	noConn  = "Checked and derived; there is no connection yet that it could be about."
	sockets = "A run is refused: sockets cannot be told apart by path yet."
	limits  = "A run is refused: this limit cannot be set yet."
	unread  = "Checked and derived; nothing reads it yet."
)

var keyTable = [...]Key{
	{Path: "filesystem.denyRead", Value: "list of paths", Default: "nothing is closed", Meaning: "Closes files, and directories with all below them, to reading, listing and writing. The most specific entry of denyRead, allowRead and allowWrite decides."},
	{Path: "filesystem.allowRead", Value: "list of paths", Default: "nothing is re-opened", Meaning: "Re-opens for reading what denyRead closes around it. At equal paths it wins over denyRead. A denied file is re-opened only by an entry for that very file. An entry that does not exist opens nothing."},
	{Path: "filesystem.allowWrite", Value: "list of paths", Default: "nothing can be written", Meaning: "Opens files, and directories with all below them, to writing. Inside a closed directory it re-opens reading too; at the same path as a denyRead entry the denial stays. An entry that does not exist opens nothing."},
	{Path: "filesystem.denyWrite", Value: "list of paths", Default: "nothing is closed", Meaning: "Closes to writing, whatever allowWrite says at, above or below it."},
	{Path: "filesystem.allowGitConfig", Value: "boolean", Default: "false", Meaning: "Makes .git/config, .git/config.worktree and the files that they include ordinary files. ~/.gitconfig and .git/hooks stay protected, as in srt."},
	{Path: "filesystem.disabled", Value: "boolean", Default: "false", Meaning: "Opens every read and write; the four lists and the protected paths count for nothing."},
	{Path: "network.allowedDomains", Value: "list of domain patterns", Default: "no network", Meaning: "Hosts that may be connected to. An empty list is the same as none.", Now: egress},
	{Path: "network.deniedDomains", Value: "list of domain patterns", Default: "nothing beyond the default", Meaning: "Hosts that are refused before allowedDomains is looked at. \"*\" refuses all, \"*:22\" all at one port."},
	{Path: "network.deniedDomainReasons", Value: "object of strings", Default: "a general reason", Meaning: "The reason that a refusal gives, by entry of deniedDomains in its exact spelling. A key without such an entry is reported.", Now: noConn},
	{Path: "network.strictAllowlist", Value: "boolean", Default: "false", Meaning: "A host that no entry allows is refused without asking the embedding program.", Now: noConn},
	{Path: "network.allowAllDomains", Value: "boolean", Default: "false", Meaning: "Allows every host that deniedDomains does not name.", Now: egress},
	{Path: "network.deniedResolvedAddresses", Value: "list of addresses or CIDR ranges", Default: "the built-in ranges", Meaning: "Addresses that an allowed name may not resolve to, beyond the built-in ones. IPv6 stands without brackets.", Now: noConn},
	{Path: "network.allowUnixSockets", Value: "list of paths", Default: "none", Meaning: "UNIX sockets that may be connected to. No patterns. (srt ignores this key on Linux.)", Now: sockets},
	{Path: "network.allowAllUnixSockets", Value: "boolean", Default: "false", Meaning: "Allows every UNIX socket that can be reached."},
	{Path: "network.allowLocalBinding", Value: "boolean", Default: "false", Meaning: "Passed on in the rules. Inside the sandbox loopback is the sandbox's own."},
	{Path: "network.httpProxyPort", Value: "number, 1 to 65535", Default: "none", Meaning: "Port on loopback of an HTTP proxy of the caller's, which filters in place of ours.", Now: egress},
	{Path: "network.socksProxyPort", Value: "number, 1 to 65535", Default: "none", Meaning: "The same for a SOCKS proxy.", Now: egress},
	{Path: "network.parentProxy.http", Value: "URL", Default: "none", Meaning: "Proxy that plain HTTP goes through on its way out.", Now: noConn},
	{Path: "network.parentProxy.https", Value: "URL", Default: "parentProxy.http", Meaning: "The same for HTTPS.", Now: noConn},
	{Path: "network.parentProxy.noProxy", Value: "string", Default: "none", Meaning: "Hosts that do not go through it, as in NO_PROXY.", Now: noConn},
	{Path: "network.mitmProxy.socketPath", Value: "path", Default: "required in mitmProxy", Meaning: "UNIX socket of a proxy that inspects.", Now: noConn},
	{Path: "network.mitmProxy.domains", Value: "list of domain patterns without port", Default: "required in mitmProxy", Meaning: "Hosts that go through it.", Now: noConn},
	{Path: "network.tlsTerminate", Value: "object", Default: "none", Meaning: "Its keys are checked.", effect: refused},
	{Path: "network.allowMachLookup", Value: "list of strings", Default: "none", Meaning: "macOS only.", effect: otherOS},
	{Path: "sandboxctl.limits.memoryBytes", Value: "number of bytes", Default: "no limit", Meaning: "Memory of all processes of a run together.", Now: limits},
	{Path: "sandboxctl.limits.pids", Value: "number", Default: "no limit", Meaning: "Processes and threads at a time.", Now: limits},
	{Path: "sandboxctl.limits.cpus", Value: "number above 0", Default: "no limit", Meaning: "Processors' worth of time; 0.5 is half of one.", Now: limits},
	{Path: "sandboxctl.limits.wallSeconds", Value: "number above 0", Default: "no limit", Meaning: "Time that a run may take."},
	{Path: "sandboxctl.limits.outputBytes", Value: "number of bytes", Default: "no limit", Meaning: "Output of a run that is kept.", Now: limits},
	{Path: "sandboxctl.limits.tmpBytes", Value: "number of bytes", Default: "the enforcer's", Meaning: "Size of the private /tmp."},
	{Path: "sandboxctl.env.allow", Value: "list of names", Default: "the enforcer's short list alone", Meaning: "Variables of the caller that a command sees. A \"*\" at the end stands for any rest, as in \"LC_*\"."},
	{Path: "sandboxctl.env.set", Value: "object of strings", Default: "none", Meaning: "Variables that a command sees with these values."},
	{Path: "sandboxctl.tmp", Value: "\"private\" or \"host\"", Default: "\"private\"", Meaning: "Which /tmp a command sees. With a private one the working directory may not be /tmp itself."},
	{Path: "sandboxctl.commands.allow", Value: "list of programs", Default: "every program", Meaning: "Programs that the shell tool may start, by name or path.", Now: unread},
	{Path: "sandboxctl.allowPtrace", Value: "boolean", Default: "false", Meaning: "For debuggers. Needs tier full."},
	{Path: "sandboxctl.allowNestedNamespaces", Value: "boolean", Default: "false", Meaning: "For browsers and sandboxes in the sandbox. Needs tier full."},
	{Path: "sandboxctl.seccompProfile", Value: "path", Default: "none", Meaning: "An OCI seccomp JSON file that may only narrow. It must exist, and is protected from writing."},
	{Path: "mandatoryDenySearchDepth", Value: "number, 1 to 10", Default: "3", Meaning: "How many directories below a writable tree protected names are looked for. Not inside node_modules, as in srt."},
	{Path: "enableWeakerNestedSandbox", Value: "boolean", Default: "false", Meaning: "Lets the host's /proc stand in where a fresh one cannot be mounted."},
	{Path: "ignoreViolations", Value: "object of lists of paths", Default: "all are reported", Meaning: "Refusals that are not reported, by command pattern; \"*\" is every command. They stay refused.", Now: unread},
	{Path: "ripgrep.command", Value: "string", Default: "rg", Meaning: "The ripgrep that the search tools start. Required in ripgrep.", Now: unread},
	{Path: "ripgrep.args", Value: "list of strings", Default: "none", Meaning: "Arguments that stand before ours.", Now: unread},
	{Path: "ripgrep.argv0", Value: "string", Default: "the command", Meaning: "The name that it is started under.", Now: unread},
	{Path: "git.safeDirectories", Value: "list of paths", Default: "none", Meaning: "Given to git as safe.directory. Opens nothing.", Now: unread},
	{Path: "credentials", Value: "object", Default: "none", Meaning: "Its keys are checked.", effect: refused},
	{Path: "$schema", Value: "string", Default: "none", Meaning: "For editors. Not read."},
	{Path: "enableWeakerNetworkIsolation", Value: "boolean", Default: "false", Meaning: "macOS only.", effect: otherOS},
	{Path: "allowAppleEvents", Value: "boolean", Default: "false", Meaning: "macOS only.", effect: otherOS},
	{Path: "allowPty", Value: "boolean", Default: "false", Meaning: "macOS only.", effect: otherOS},
	{Path: "windows", Value: "object", Default: "none", Meaning: "Windows only.", effect: otherOS},
	{Path: "seccomp", Value: "object", Default: "none", Meaning: "A helper program of srt.", effect: srtHelper},
	{Path: "bwrapPath", Value: "absolute path", Default: "none", Meaning: "A helper program of srt.", effect: srtHelper},
	{Path: "socatPath", Value: "absolute path", Default: "none", Meaning: "A helper program of srt.", effect: srtHelper},
	{Path: "javaAgentJarPath", Value: "absolute path", Default: "none", Meaning: "A helper program of srt.", effect: srtHelper},
}

// Pointer is the JSON pointer of the key.
func (k Key) Pointer() string { return "/" + strings.ReplaceAll(k.Path, ".", "/") }

// Effect says in words what the key does here; "" when it does what Meaning says.
func (k Key) Effect() string {
	switch k.effect {
	case refused:
		return "Refused: this version cannot give that protection, and does not run without it."
	case otherOS:
		return "Accepted, and reported by settings check; it does nothing on Linux."
	case srtHelper:
		return "Accepted, and reported by settings check; it does nothing here, as no helper program is used."
	}
	return ""
}

// WithoutEffect lists the keys in the settings that are accepted and do nothing here.
func (s *Settings) WithoutEffect() []Warning {
	var out []Warning
	for _, k := range keyTable {
		if k.effect != otherOS && k.effect != srtHelper {
			continue
		}
		if src, ok := s.places[k.Pointer()]; ok {
			out = append(out, Warning{Source: src, Message: k.Path + ": " + k.Effect(), Minor: true})
		}
	}
	return out
}
