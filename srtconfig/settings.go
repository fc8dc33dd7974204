package srtconfig

// Settings is one settings file: the shape of srt 0.0.78 (dist/sandbox/sandbox-config.js, SandboxRuntimeConfigSchema)
// and the key "sandboxctl". Its zero value is the strict reading of every section: reads open, no writes, no network.
// Field names are those of the file. A Settings is not changed by anything in this package once it is made.
type Settings struct {
	Schema string `json:"$schema,omitempty" jsonschema:"description=Address of a JSON Schema for editors. Not read."`

	Filesystem FilesystemSettings `json:"filesystem,omitzero"`
	Network    NetworkSettings    `json:"network,omitzero"`
	Own        OwnSettings        `json:"sandboxctl,omitzero"`

	// MandatoryDenySearchDepth is how many directories below a writable tree protected names are looked for.
	// 0 means absent: DefaultSearchDepth.
	MandatoryDenySearchDepth int `json:"mandatoryDenySearchDepth,omitempty" jsonschema:"minimum=1,maximum=10,default=3"`
	// EnableWeakerNestedSandbox lets the host's /proc stand in where a fresh one cannot be mounted.
	EnableWeakerNestedSandbox bool `json:"enableWeakerNestedSandbox,omitempty"`
	// IgnoreViolations maps a command pattern ("*" for all) to path prefixes whose refusals are not reported.
	IgnoreViolations map[string][]string `json:"ignoreViolations,omitempty"`
	Ripgrep          RipgrepSettings     `json:"ripgrep,omitzero"`
	Git              GitSettings         `json:"git,omitzero"`
	// Credentials is parsed and then refused by Derive: masking is not there yet.
	Credentials *CredentialsSettings `json:"credentials,omitempty"`

	EnableWeakerNetworkIsolation bool             `json:"enableWeakerNetworkIsolation,omitempty" jsonschema:"description=macOS only."`
	AllowAppleEvents             bool             `json:"allowAppleEvents,omitempty" jsonschema:"description=macOS only."`
	AllowPty                     bool             `json:"allowPty,omitempty" jsonschema:"description=macOS only."`
	Windows                      *WindowsSettings `json:"windows,omitempty" jsonschema:"description=Windows only."`
	Seccomp                      *SeccompHelper   `json:"seccomp,omitempty" jsonschema:"description=A helper program of srt. Not used here."`
	BwrapPath                    string           `json:"bwrapPath,omitempty" jsonschema:"description=A helper program of srt. Not used here."`
	SocatPath                    string           `json:"socatPath,omitempty" jsonschema:"description=A helper program of srt. Not used here."`
	JavaAgentJarPath             string           `json:"javaAgentJarPath,omitempty" jsonschema:"description=A helper program of srt. Not used here."`

	file   string            // as named
	path   string            // absolute, when Load read it
	places map[string]Source // by JSON pointer
}

// DefaultSearchDepth is mandatoryDenySearchDepth when the settings do not say.
const DefaultSearchDepth = 3

const maxSearchDepth = 10

// FilesystemSettings is the section "filesystem".
type FilesystemSettings struct {
	DenyRead   []PathEntry `json:"denyRead,omitempty"`
	AllowRead  []PathEntry `json:"allowRead,omitempty"`
	AllowWrite []PathEntry `json:"allowWrite,omitempty"`
	DenyWrite  []PathEntry `json:"denyWrite,omitempty"`
	// AllowGitConfig makes .git/config and .git/config.worktree ordinary files. ~/.gitconfig stays protected, as in srt.
	AllowGitConfig bool `json:"allowGitConfig,omitempty"`
	// Disabled opens every read and write, protected paths included.
	Disabled bool `json:"disabled,omitempty"`
}

// PathEntry is one entry of a list of paths: a string, or {"path": "...", "literal": true}.
type PathEntry struct {
	Path    string `json:"path"`
	Literal bool   `json:"literal,omitempty"` // * ? [ ] $ and outer spaces mean themselves; ~/ still means home
}

// NetworkSettings is the section "network".
type NetworkSettings struct {
	AllowedDomains []string `json:"allowedDomains,omitempty"`
	DeniedDomains  []string `json:"deniedDomains,omitempty"`
	// DeniedDomainReasons maps an entry of DeniedDomains, as written there, to the reason that a refusal gives.
	DeniedDomainReasons     map[string]string   `json:"deniedDomainReasons,omitempty"`
	StrictAllowlist         bool                `json:"strictAllowlist,omitempty"`
	AllowAllDomains         bool                `json:"allowAllDomains,omitempty"`
	DeniedResolvedAddresses []string            `json:"deniedResolvedAddresses,omitempty"`
	AllowUnixSockets        []PathEntry         `json:"allowUnixSockets,omitempty"`
	AllowAllUnixSockets     bool                `json:"allowAllUnixSockets,omitempty"`
	AllowLocalBinding       bool                `json:"allowLocalBinding,omitempty"`
	HTTPProxyPort           int                 `json:"httpProxyPort,omitempty" jsonschema:"minimum=1,maximum=65535"`
	SOCKSProxyPort          int                 `json:"socksProxyPort,omitempty" jsonschema:"minimum=1,maximum=65535"`
	ParentProxy             ParentProxySettings `json:"parentProxy,omitzero"`
	MitmProxy               *MitmProxySettings  `json:"mitmProxy,omitempty"`
	// TLSTerminate is parsed and then refused by Derive: nothing here opens TLS.
	TLSTerminate    *TLSTerminateSettings `json:"tlsTerminate,omitempty"`
	AllowMachLookup []string              `json:"allowMachLookup,omitempty" jsonschema:"description=macOS only."`
}

// ParentProxySettings names the proxies that the egress proxy itself goes through.
type ParentProxySettings struct {
	HTTP    string `json:"http,omitempty"`    // URL
	HTTPS   string `json:"https,omitempty"`   // URL; HTTP when empty
	NoProxy string `json:"noProxy,omitempty"` // as in the NO_PROXY variable
}

// MitmProxySettings sends some domains through a proxy that listens on a UNIX socket.
type MitmProxySettings struct {
	SocketPath string   `json:"socketPath" jsonschema:"minLength=1"`
	Domains    []string `json:"domains" jsonschema:"minItems=1"`
}

// TLSTerminateSettings is parsed so that its keys are checked.
type TLSTerminateSettings struct {
	CACertPath       string   `json:"caCertPath,omitempty"`
	CAKeyPath        string   `json:"caKeyPath,omitempty"`
	ExcludeDomains   []string `json:"excludeDomains,omitempty"`
	ExtraCACertPaths []string `json:"extraCaCertPaths,omitempty"`
}

// RipgrepSettings says which ripgrep the search tools start. An empty Command means "rg" from PATH.
type RipgrepSettings struct {
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"` // before every argument of ours
	Argv0   string   `json:"argv0,omitempty"`
}

// GitSettings is the section "git".
type GitSettings struct {
	SafeDirectories []string `json:"safeDirectories,omitempty"` // passed to git as safe.directory; opens no path
}

// OwnSettings is the key "sandboxctl", which srt does not have.
type OwnSettings struct {
	Limits   Limits          `json:"limits,omitzero"`
	Env      EnvSettings     `json:"env,omitzero"`
	Tmp      TmpMode         `json:"tmp,omitempty"`
	Commands CommandSettings `json:"commands,omitzero"`
	// AllowPtrace and AllowNestedNamespaces are for debuggers and browsers; tier full only.
	AllowPtrace           bool `json:"allowPtrace,omitempty"`
	AllowNestedNamespaces bool `json:"allowNestedNamespaces,omitempty"`
	// SeccompProfile is an OCI seccomp JSON file that may only narrow. In Rules it is absolute and resolved.
	SeccompProfile string `json:"seccompProfile,omitempty"`
}

// Limits bounds what one run may use. 0 is no limit of ours, but for TmpBytes, where the enforcer has a default.
type Limits struct {
	MemoryBytes int64   `json:"memoryBytes,omitempty" jsonschema:"minimum=1"`
	PIDs        int64   `json:"pids,omitempty" jsonschema:"minimum=1"`
	CPUs        float64 `json:"cpus,omitempty" jsonschema:"exclusiveMinimum=0"`
	WallSeconds float64 `json:"wallSeconds,omitempty" jsonschema:"exclusiveMinimum=0"`
	OutputBytes int64   `json:"outputBytes,omitempty" jsonschema:"minimum=1"`
	TmpBytes    int64   `json:"tmpBytes,omitempty" jsonschema:"minimum=1"`
}

// EnvSettings says which variables of the caller a command sees. Empty means the enforcer's short harmless list alone.
type EnvSettings struct {
	Allow []string          `json:"allow,omitempty"` // names; a trailing * stands for any rest, as in LC_*
	Set   map[string]string `json:"set,omitempty"`
}

// CommandSettings narrows which programs the shell tool starts. Empty means any.
type CommandSettings struct {
	Allow []string `json:"allow,omitempty"`
}

// SeccompHelper names srt's own seccomp helper, which this program has no use for.
type SeccompHelper struct {
	ApplyPath string `json:"applyPath,omitempty"`
	Argv0     string `json:"argv0,omitempty"`
}

// WindowsSettings means nothing on Linux. It is parsed so that its keys are checked.
type WindowsSettings struct {
	SandboxUser     string          `json:"sandboxUser,omitempty"`
	SublayerGUID    string          `json:"sublayerGuid,omitempty"`
	WFPSublayerGUID string          `json:"wfpSublayerGuid,omitempty"`
	ProxyPortRange  []int           `json:"proxyPortRange,omitempty"`
	SrtWin          *SrtWinSettings `json:"srtWin,omitempty"`
}

// SrtWinSettings names srt's helper on Windows.
type SrtWinSettings struct {
	Path string `json:"path"`
}

// File returns the name of the settings file as it was given; "" for settings that came from no file.
func (s *Settings) File() string { return s.file }

// Source returns where the value at a JSON pointer was written. ok is false when the settings do not hold it.
func (s *Settings) Source(pointer string) (Source, bool) {
	src, ok := s.places[pointer]
	return src, ok
}

// Default returns the built-in settings: reads open, no writes, no network.
func Default() *Settings { return &Settings{} }
