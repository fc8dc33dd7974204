package tools

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sandboxctl/sandboxctl/artifact"
	"github.com/sandboxctl/sandboxctl/tools/gate"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

// TrustTier says where the content of a workspace comes from. It is told to the reader of every medium and is never
// guessed. The zero value is none, and is refused.
type TrustTier string

// The tiers.
const (
	FirstParty        TrustTier = "first-party"
	ThirdPartyPublic  TrustTier = "third-party-public"
	ThirdPartyPrivate TrustTier = "third-party-private"
)

// ArtifactMinter makes the artifacts that reading tools give back. *artifact.Store is one.
type ArtifactMinter interface {
	// File makes an artifact of an open file, which it then owns.
	File(f *os.File, meta artifact.Meta) (*artifact.Artifact, error)
	// Spool begins an artifact that is written.
	Spool(meta artifact.Meta) (*artifact.Spool, error)
}

// MimeResolver finds the MIME type of a file. name is the last part of its path, or ""; head is the beginning of its
// content, at most MimeHeadBytes. It must be safe for concurrent use.
type MimeResolver func(name string, head []byte) string

// Options is what a set of tools is made from.
type Options struct {
	// Handle owns the set. Required, and open.
	Handle *Handle
	// FileSystem is where everything is read and written. Required.
	FileSystem workspace.FileSystem
	// PathTranslator reads the paths that a model writes. Required; workspace.RootedPaths{} is the usual one.
	PathTranslator workspace.PathTranslator
	// Gate approves every call, reads included. Required; there is no default.
	Gate gate.Gate
	// WriteRoot is the absolute host path of the directory below which save_media writes. Required, never inferred; it must
	// exist at or below the file system's root.
	WriteRoot string
	// TrustTier is told of every medium. Required.
	TrustTier TrustTier
	// ArtifactMinter makes artifacts. Nil means an artifact store of the set's own, in the directory for temporary files,
	// which Set.Close removes.
	ArtifactMinter ArtifactMinter
	// MimeResolver finds MIME types. Nil means ResolveMime.
	MimeResolver MimeResolver
	// RegisteredTools are the names that a host offers to its model, those of its own tools included. Only tools among
	// them are in the set, and descriptions name no other. Nil means every tool of the set.
	RegisteredTools []string
	// MaxMediaBytes bounds the content of all staged media together, in bytes; 0 means 256 MiB.
	MaxMediaBytes int64
}

const defaultMaxMediaBytes = 256 << 20

// check fills in what has a default. The errors are *outcome.SetupError.
func (o *Options) check() (epoch uint64, under string, err error) {
	invalid := func(message string, err error) (uint64, string, error) {
		return 0, "", &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: message, Err: err}
	}
	if err := gate.Required(o.Gate); err != nil {
		return 0, "", err
	}
	if o.Handle == nil {
		return invalid("tools need a handle", nil)
	}
	if epoch, err = o.Handle.Epoch(); err != nil {
		return 0, "", &outcome.SetupError{Code: outcome.CodeNotInitialized, Message: "the handle is closed"}
	}
	if o.FileSystem == nil {
		return invalid("tools need a file system", nil)
	}
	if o.PathTranslator == nil {
		return invalid("tools need a path translator", nil)
	}
	switch o.TrustTier {
	case FirstParty, ThirdPartyPublic, ThirdPartyPrivate:
	case "":
		return invalid("tools need a trust tier: first-party, third-party-public or third-party-private", nil)
	default:
		return invalid("trust tier "+strconv.Quote(string(o.TrustTier))+" is none of first-party, third-party-public, third-party-private", nil)
	}
	if o.WriteRoot == "" {
		return invalid("tools need a write root", nil)
	}
	if !filepath.IsAbs(o.WriteRoot) {
		return invalid("the write root must be absolute: "+strconv.Quote(o.WriteRoot), nil)
	}
	if under, err = o.FileSystem.Locate(o.WriteRoot); err != nil {
		return invalid("write root", err)
	}
	if o.MaxMediaBytes < 0 {
		return invalid("the bound on media is negative", nil)
	}
	if o.MaxMediaBytes == 0 {
		o.MaxMediaBytes = defaultMaxMediaBytes
	}
	if o.MimeResolver == nil {
		o.MimeResolver = ResolveMime
	}
	return epoch, under, nil
}

// Set is a set of tools over one workspace. It is safe for concurrent use.
type Set struct {
	options Options
	epoch   uint64
	under   string // backend path of the write root
	minter  ArtifactMinter
	own     *artifact.Store // nil when the minter came with the options
	media   *mediaStore
	repeats outcome.Repeats
	tools   []Tool
	names   []string // registered
}

// New makes the tools. Every error is an *outcome.SetupError. The caller closes the set.
func New(ctx context.Context, options Options) (*Set, error) {
	if err := ctx.Err(); err != nil {
		return nil, &outcome.SetupError{Code: outcome.CodeFailed, Message: "the tools were not made", Err: err}
	}
	s := &Set{options: options}
	var err error
	if s.epoch, s.under, err = s.options.check(); err != nil {
		return nil, err
	}
	s.media = newMediaStore(s.options.MaxMediaBytes)
	if s.minter = s.options.ArtifactMinter; s.minter == nil {
		s.own, err = artifact.NewStore(artifact.Options{Alive: func() error { return s.options.Handle.Check(s.epoch) }})
		if err != nil {
			return nil, &outcome.SetupError{Code: outcome.CodeFailed, Message: "the artifact store", Err: err}
		}
		s.minter = s.own
	}
	definitions := s.definitions()
	s.names = s.options.RegisteredTools
	if s.names == nil {
		for _, d := range definitions {
			s.names = append(s.names, d.name)
		}
	}
	for _, d := range definitions {
		if !s.registered(d.name) {
			continue
		}
		tool, err := s.tool(d)
		if err != nil {
			return nil, &outcome.SetupError{Code: outcome.CodeFailed, Message: "tool " + d.name, Err: err}
		}
		s.tools = append(s.tools, tool)
	}
	return s, nil
}

func (s *Set) definitions() []definition {
	return slices.Concat(s.openTools(), s.listTools(), s.mediaTools(), s.saveTools())
}

func (s *Set) registered(name string) bool { return slices.Contains(s.names, name) }

// Tools gives the tools, in a fixed order.
func (s *Set) Tools() []Tool { return slices.Clone(s.tools) }

// Tool finds a tool by its name.
func (s *Set) Tool(name string) (Tool, bool) {
	for _, t := range s.tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Close frees the artifact store if it is the set's own. It does not close the handle.
func (s *Set) Close() error {
	if s.own == nil {
		return nil
	}
	return s.own.Close()
}
