package srtconfig

// CredentialsSettings is the section "credentials". It is parsed, so that its keys are checked, and then refused by
// Derive: to run without the masking that it asks for would hand the secrets over.
type CredentialsSettings struct {
	Files                []CredentialFile `json:"files,omitempty"`
	EnvVars              []CredentialEnv  `json:"envVars,omitempty"`
	AllowPlaintextInject bool             `json:"allowPlaintextInject,omitempty"`
	AWSPairs             []AWSPair        `json:"awsPairs,omitempty"`
	SigV4                *SigV4Policy     `json:"sigv4,omitempty"`
}

// CredentialFile is a file whose content is a secret.
type CredentialFile struct {
	Path string `json:"path" jsonschema:"minLength=1"`
	CredentialMasking
}

// CredentialEnv is an environment variable whose value is a secret.
type CredentialEnv struct {
	Name string `json:"name" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$"`
	CredentialMasking
}

// CredentialMasking is what files and variables have in common.
type CredentialMasking struct {
	Mode             string   `json:"mode" jsonschema:"enum=deny,enum=mask"`
	Extract          string   `json:"extract,omitempty"`
	OnExtractNoMatch string   `json:"onExtractNoMatch,omitempty" jsonschema:"enum=warn,enum=deny,enum=error"`
	Decode           string   `json:"decode,omitempty" jsonschema:"enum=jwt"`
	MaskClaims       []string `json:"maskClaims,omitempty"`
	MaskDuplicates   bool     `json:"maskDuplicates,omitempty"`
	InjectHosts      []string `json:"injectHosts,omitempty"`
}

// AWSPair groups masked variables into one AWS credential.
type AWSPair struct {
	AccessKeyIDVar     string `json:"accessKeyIdVar"`
	SecretAccessKeyVar string `json:"secretAccessKeyVar"`
	SessionTokenVar    string `json:"sessionTokenVar,omitempty"`
}

// SigV4Policy says what becomes of requests that cannot be signed anew.
type SigV4Policy struct {
	Streaming string `json:"streaming,omitempty" jsonschema:"enum=deny,enum=passthrough"`
	Presigned string `json:"presigned,omitempty" jsonschema:"enum=deny,enum=passthrough"`
	SigV4A    string `json:"sigv4a,omitempty" jsonschema:"enum=deny,enum=passthrough"`
}
