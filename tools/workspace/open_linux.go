package workspace

import (
	"context"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Open implements [FileSystem]. It takes constant time and memory, whatever the size of the file.
func (r *Root) Open(ctx context.Context, path string) (File, error) {
	if err := ctx.Err(); err != nil {
		return nil, outcome.New(outcome.Aborted, path, err)
	}
	o, err := r.lookup(path)
	if err != nil {
		return nil, err
	}
	defer o.close()
	switch o.kind() {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return nil, outcome.New(outcome.IsDirectory, path, nil)
	default:
		return nil, outcome.New(outcome.NotRegularFile, path, nil)
	}
	// O_NONBLOCK: a lease on the file would otherwise hold the open until its holder gives it back.
	fd, err := r.reopen(o.fd, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, outcome.New(outcome.IOFailure, path, err)
	}
	return &rootFile{file: os.NewFile(uintptr(fd), o.rel), rel: o.rel}, nil
}

// rootFile is an open file of a Root. It shows nothing of *os.File but reading.
type rootFile struct {
	file     *os.File
	rel      string
	detached bool
}

// ReadAt implements [io.ReaderAt].
func (f *rootFile) ReadAt(p []byte, off int64) (int, error) { return f.file.ReadAt(p, off) }

// Close implements [io.Closer].
func (f *rootFile) Close() error {
	if f.detached {
		return nil
	}
	return f.file.Close()
}

// Detach implements [File].
func (f *rootFile) Detach() (*os.File, error) {
	f.detached = true
	return f.file, nil
}

// Path implements [File].
func (f *rootFile) Path() string { return f.rel }

// Stamp implements [File].
func (f *rootFile) Stamp() (s Stamp, err error) {
	err = with(f.file, func(fd int) (err error) {
		s, err = stampOf(fd)
		return err
	})
	return s, err
}
