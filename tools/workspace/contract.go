package workspace

import (
	"context"
	"io"
	"iter"
	"os"

	"github.com/sandboxctl/sandboxctl/tools/frame"
)

// FileSystem is what the tools need of a file system: reads, traversal and writes below one root. [Root] is the usual
// implementation.
//
// Every path is a backend path (see [PathTranslator]). Every error that a model may see is an *outcome.Error; any other
// is told as an I/O failure. An entry that the policy closes must be told exactly as one that is missing. Implementations
// must be safe for concurrent use.
type FileSystem interface {
	// Name names the backend in a message about its own fault.
	Name() string
	// Locate gives the backend path of an absolute host path that lies at or below the root.
	Locate(host string) (string, error)
	// Open opens a regular file for reading; a link that stays below the root is followed.
	Open(ctx context.Context, path string) (File, error)
	// List gives what lies below a directory. An error ends the sequence.
	List(ctx context.Context, req ListRequest) iter.Seq2[frame.Frame[Entry], error]
	// Save writes a whole file.
	Save(ctx context.Context, req SaveRequest) (Saved, error)
}

// File is an open regular file. ReadAt may be called concurrently.
type File interface {
	io.ReaderAt
	io.Closer
	// Path is the backend path of the object itself, after any links.
	Path() string
	// Stamp tells the state of the object now; two equal stamps mean that it was not changed in between.
	Stamp() (Stamp, error)
	// Detach gives the open descriptor to the caller, who closes it. The File is not to be used any more; its Close
	// does nothing.
	Detach() (*os.File, error)
}

// Stamp is the state of a file as the kernel reports it, fine enough to notice a change of content.
type Stamp struct {
	Dev, Ino     uint64
	Size         int64 // bytes
	Mtime, Ctime int64 // nanoseconds since 1970
}

// ListRequest asks for a listing.
type ListRequest struct {
	Path     string
	MaxDepth int // how many levels below Path are listed; 0 means all
}

// EntryType says what an entry is. The zero value is no type.
type EntryType uint8

// The types. A link is shown as a link and never followed.
const (
	TypeFile EntryType = iota + 1
	TypeDirectory
	TypeLink
	TypeOther // a FIFO, socket or device
)

// String gives the word a listing uses.
func (t EntryType) String() string {
	switch t {
	case TypeFile:
		return "file"
	case TypeDirectory:
		return "directory"
	case TypeLink:
		return "link"
	case TypeOther:
		return "other"
	}
	return "unknown"
}

// Entry is one entry of a listing.
type Entry struct {
	Path       string // backend path
	Type       EntryType
	Unreadable bool // a directory that the operating system would not let us read: what it holds is not listed
}

// SaveRequest asks for a file to be written.
type SaveRequest struct {
	Path      string
	Under     string // backend path of the write root; nothing outside is written
	Content   []byte
	Parents   bool  // make missing directories on the way
	Base      *Base // what the content was made from, when that was the file at Path; nil: nothing to compare
	Overwrite bool  // write even though the file is not Base any more
}

// Base is a file as it was when its content was taken.
type Base struct {
	Stamp Stamp
	Sum   [32]byte // SHA-256 of the content
}

// Saved says what a save did.
type Saved struct {
	Path    string // backend path
	Bytes   int64
	Created bool  // there was no file of that name
	InPlace bool  // the settings open the file and not its directory, so it was overwritten and not replaced
	Stamp   Stamp // of the file as saved
}
