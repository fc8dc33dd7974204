package differential

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

type operation string

const (
	opRead     operation = "read"     // open a file and read it
	opList     operation = "list"     // open a directory and list it
	opEnter    operation = "enter"    // chdir
	opWrite    operation = "write"    // open for writing, append a byte, take it back
	opTruncate operation = "truncate" // by path, to the size it has
	opCreate   operation = "create"   // exclusively
	opThrough  operation = "through"  // create what a dangling link names
	opMkdir    operation = "mkdir"
	opSymlink  operation = "symlink"
	opUnlink   operation = "unlink"
	opRmdir    operation = "rmdir"
	opRename   operation = "rename"   // to a new name in the same directory
	opReplace  operation = "replace"  // make a new file beside it and rename that over it
	opExchange operation = "exchange" // make a new file beside it and exchange the two
	opMove     operation = "move"     // to a new name in another directory
	opHardLink operation = "hardlink" // a second name in another directory
)

// question is one probe as it is sent into the sandbox. Names are bytes: they need not be UTF-8.
type question struct {
	Op   operation `json:"op"`
	Path []byte    `json:"path"` // absolute, or relative to the working directory
	To   []byte    `json:"to,omitempty"`
	// Back and BackTo are Path and To without links, for the way back: the link may be what was moved.
	Back   []byte `json:"back,omitempty"`
	BackTo []byte `json:"backTo,omitempty"`
}

func (q question) String() string {
	if len(q.To) > 0 {
		return fmt.Sprintf("%s %q -> %q", q.Op, q.Path, q.To)
	}
	return fmt.Sprintf("%s %q", q.Op, q.Path)
}

// answer is what the program in the sandbox experienced.
type answer struct {
	Errno syscall.Errno `json:"errno,omitempty"` // 0 = it worked
	Undo  string        `json:"undo,omitempty"`  // why it could not be undone
	Data  []byte        `json:"data,omitempty"`
	Names [][]byte      `json:"names,omitempty"`
	Dev   uint64        `json:"dev,omitempty"`
	Ino   uint64        `json:"ino,omitempty"`
}

// prober answers questions inside the sandbox.
type prober struct{ cwd int }

// probeLoop is the life of the helper: questions as lines on standard input, answers on standard output.
func probeLoop() error {
	cwd, err := unix.Open(".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the working directory: %w", err)
	}
	p := prober{cwd}
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(out)
	for {
		var q question
		if err := in.Decode(&q); errors.Is(err, io.EOF) {
			return out.Flush()
		} else if err != nil {
			return err
		}
		if err := enc.Encode(p.answer(q)); err != nil {
			return err
		}
	}
}

func (p prober) answer(q question) answer {
	path, to, back, backTo := string(q.Path), string(q.To), string(q.Back), string(q.BackTo)
	var a answer
	var err error
	undo := func() error { return nil }
	switch q.Op {
	case opRead:
		err = withFile(path, unix.O_RDONLY|unix.O_NONBLOCK, &a, func(fd int) error {
			a.Data, err = readUpTo(fd)
			return err
		})
	case opList:
		err = withFile(path, unix.O_RDONLY|unix.O_DIRECTORY, &a, func(fd int) error {
			a.Names, err = listNames(fd)
			return err
		})
	case opEnter:
		err = unix.Chdir(path)
		undo = func() error { return unix.Fchdir(p.cwd) }
	case opWrite:
		err = withFile(path, unix.O_WRONLY, &a, appendAndTakeBack)
	case opTruncate:
		var st unix.Stat_t
		if err = unix.Stat(path, &st); err == nil {
			err = unix.Truncate(path, st.Size)
		}
	case opCreate, opThrough:
		flags := unix.O_CREAT | unix.O_WRONLY
		if q.Op == opCreate {
			flags |= unix.O_EXCL
		}
		err = withFile(path, flags, &a, nil)
		undo = func() error { return unix.Unlink(back) }
	case opMkdir:
		err = unix.Mkdir(path, 0o755)
		undo = func() error { return unix.Rmdir(back) }
	case opSymlink:
		err = unix.Symlink("nowhere", path)
		undo = func() error { return unix.Unlink(back) }
	case opUnlink:
		again := maker(path, back)
		err = unix.Unlink(path)
		undo = again
	case opRmdir:
		err = unix.Rmdir(path)
		undo = func() error { return unix.Mkdir(back, 0o755) }
	case opRename, opMove:
		err = unix.Rename(path, to)
		undo = func() error { return unix.Rename(backTo, back) }
	case opHardLink:
		err = unix.Link(path, to)
		undo = func() error { return unix.Unlink(backTo) }
	case opReplace:
		content, _ := os.ReadFile(path) // what may be replaced can be read; else the attempt fails anyway
		if err = makeFile(to, content); err != nil {
			break
		}
		if err = unix.Rename(to, path); err != nil {
			return a.finish(err, unix.Unlink(backTo))
		}
	case opExchange:
		if err = makeFile(to, nil); err != nil {
			break
		}
		if err = exchange(path, to); err != nil {
			return a.finish(err, unix.Unlink(backTo))
		}
		undo = func() error { return errors.Join(exchange(back, backTo), unix.Unlink(backTo)) }
	default:
		return answer{Undo: "unknown operation " + string(q.Op)}
	}
	if err != nil {
		return a.finish(err, nil)
	}
	return a.finish(nil, undo())
}

func (a answer) finish(err, undo error) answer {
	if undo != nil {
		a.Undo = undo.Error()
	}
	if err != nil && !errors.As(err, &a.Errno) {
		a.Undo = "not a kernel's answer: " + err.Error()
	}
	return a
}

func withFile(path string, flags int, a *answer, use func(fd int) error) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	a.Dev, a.Ino = st.Dev, st.Ino
	if use == nil {
		return nil
	}
	return use(fd)
}

func readUpTo(fd int) ([]byte, error) {
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	return buf[:max(n, 0)], err
}

func listNames(fd int) ([][]byte, error) {
	var names []string
	buf := make([]byte, 8192)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
	out := make([][]byte, len(names))
	for i, name := range names {
		out[i] = []byte(name)
	}
	return out, nil
}

func appendAndTakeBack(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if _, err := unix.Pwrite(fd, []byte("+"), st.Size); err != nil {
		return err
	}
	return unix.Ftruncate(fd, st.Size)
}

func makeFile(path string, content []byte) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), filepath.Base(path))
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// maker returns what makes the file or link at path again, under the name back, after it was removed.
func maker(path, back string) func() error {
	if text, err := os.Readlink(path); err == nil {
		return func() error { return unix.Symlink(text, back) }
	}
	content, err := os.ReadFile(path)
	return func() error {
		if err != nil {
			return fmt.Errorf("it could be removed and not read: %w", err)
		}
		return makeFile(back, content)
	}
}
