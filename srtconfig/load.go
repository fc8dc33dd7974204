package srtconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Load reads and parses a settings file. The file must be a regular file, or a link to one; a FIFO or a device is
// refused without waiting for it. Nothing stands in for a file that cannot be read: the error is a *SettingsError.
// Messages show the name as given.
func Load(name string) (*Settings, error) {
	at := Source{File: name}
	if name == "" {
		return nil, errorAt(at, "no settings file is named")
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, errorAt(at, "%w", err)
	}
	// One byte more than is allowed tells a file that is too long from one that just fits.
	text, err := readRegular(abs, MaxSettingsBytes+1)
	if err != nil {
		return nil, errorAt(at, "%w", err)
	}
	s, err := Parse(text, name)
	if err != nil {
		return nil, err
	}
	s.path = abs
	return s, nil
}

// readRegular reads at most the given number of bytes of a regular file.
func readRegular(name string, most int64) ([]byte, error) {
	// O_NONBLOCK keeps a FIFO without a writer from holding the program up (open(2)); on a regular file it says nothing.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, plainPathError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, plainPathError(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("this is %s, not a regular file", fileKind(info.Mode()))
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, plainPathError(err)
	}
	return text, nil
}

// plainPathError drops operation and path, which the message has already.
func plainPathError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("%w: %w", errLinkLoop, err)
	}
	return err
}

func fileKind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}
