package workspace

import (
	"context"
	"errors"
	"iter"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// List implements [FileSystem]. Entries come directory by directory, each directory before what it holds, the names of
// one directory in the order of their bytes. What the judge closes is left out, and with it everything below that is not
// open in its own right; nothing else changes by it.
//
// Links are not followed, except where Path itself leads through some; entries then carry the real path. A directory that
// cannot be read is marked and the listing goes on; one that vanishes meanwhile is listed as empty. Memory grows with the
// largest directory (16 bytes and the name for each entry) and the depth, not with the size of the tree. One descriptor
// is held for each level that has subdirectories.
func (r *Root) List(ctx context.Context, req ListRequest) iter.Seq2[frame.Frame[Entry], error] {
	return func(yield func(frame.Frame[Entry], error) bool) {
		o, err := r.lookup(req.Path)
		if err != nil {
			yield(frame.Frame[Entry]{}, err)
			return
		}
		rel, kind := o.rel, o.kind()
		if kind != unix.S_IFDIR {
			o.close()
			what := outcome.NotDirectory
			if kind != unix.S_IFREG {
				what = outcome.NotRegularFile
			}
			yield(frame.Frame[Entry]{}, outcome.New(what, req.Path, nil))
			return
		}
		dir, err := r.reopen(o.fd, unix.O_RDONLY|unix.O_DIRECTORY)
		o.close()
		if err != nil {
			yield(frame.Frame[Entry]{}, outcome.New(outcome.IOFailure, req.Path, err))
			return
		}
		l := lister{ctx: ctx, root: r, names: newNames(), yield: yield, maxDepth: req.MaxDepth, skip: len(r.abs("x")) - 1}
		defer l.names.free()
		if err := l.names.read(dir); err != nil {
			unix.Close(dir)
			yield(frame.Frame[Entry]{}, outcome.New(outcome.IOFailure, req.Path, err))
			return
		}
		if err := l.entries(dir, strings.TrimSuffix(r.abs(rel), "/"), mark{}, 1); err != nil {
			if err != errStopped {
				yield(frame.Frame[Entry]{}, outcome.New(outcome.Aborted, req.Path, err))
			}
			return
		}
		bound := frame.Bound("")
		if l.cut {
			bound = frame.MaxDepth
		}
		yield(frame.End[Entry](bound), nil)
	}
}

// errStopped says that the consumer wants no more.
var errStopped = errors.New("stopped")

type lister struct {
	ctx      context.Context // of the one call of List that this value lives for
	root     *Root
	names    *names
	yield    func(frame.Frame[Entry], error) bool
	maxDepth int
	skip     int    // bytes of an absolute path before its backend path
	paths    []byte // of the batch that is being made
	cut      bool
}

// entries yields what stands in the stack above from, which is the content of dir at the absolute path at, and closes
// dir. It returns errStopped or the error of the context.
func (l *lister) entries(dir int, at string, from mark, depth int) error {
	defer func() { unix.Close(dir) }()
	var batch [batchNames]listed
	for i, end := from.count, l.names.count; i < end; {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		some := l.batch(&batch, at, i, end)
		i += len(some)
		for _, e := range some {
			if !l.root.judge.CanRead(e.abs).Allowed {
				continue
			}
			if err := l.entry(dir, e, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// listed is an entry by its absolute path.
type listed struct {
	abs  string
	kind EntryType
}

const batchNames = 128

// batch makes the paths of the next entries, in one string. In the order of their names, names lie all over the memory:
// gathered in a loop that does nothing else, the processor waits for many of them at once.
func (l *lister) batch(into *[batchNames]listed, at string, from, end int) []listed {
	refs := l.names.refs()[from:min(end, from+batchNames)]
	var ends [batchNames]int
	l.paths = l.paths[:0]
	for i, r := range refs {
		l.paths = append(append(append(l.paths, at...), '/'), l.names.at(r)...)
		ends[i] = len(l.paths)
	}
	all, start := string(l.paths), 0
	for i, r := range refs {
		into[i] = listed{abs: all[start:ends[i]], kind: r.kind}
		start = ends[i]
	}
	return into[:len(refs)]
}

// entry yields one entry, and all below it.
func (l *lister) entry(dir int, e listed, depth int) error {
	item := Entry{Path: e.abs[l.skip:], Type: e.kind}
	if e.kind == TypeDirectory {
		if depth != l.maxDepth {
			return l.directory(dir, item, e.abs, depth)
		}
		l.cut = true
	}
	if !l.yield(frame.Of(item), nil) {
		return errStopped
	}
	return nil
}

// directory yields a directory and what it holds. It is read before it is yielded, so that its entry can say when that
// did not work.
func (l *lister) directory(parent int, entry Entry, abs string, depth int) error {
	name := abs[strings.LastIndexByte(abs, '/')+1:]
	// O_NOFOLLOW: it was a directory when its name was read, and may be a link to elsewhere now.
	sub, err := openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	below := l.names.mark()
	if err == nil {
		if err = l.names.read(sub); err != nil {
			l.names.release(below)
			unix.Close(sub)
		}
	}
	opened := err == nil
	switch err {
	case nil, unix.ENOENT, unix.ENOTDIR, unix.ELOOP:
	default:
		entry.Unreadable = true
	}
	if !l.yield(frame.Of(entry), nil) {
		if opened {
			unix.Close(sub)
		}
		return errStopped
	}
	if !opened {
		return nil
	}
	err = l.entries(sub, abs, below, depth+1)
	l.names.release(below)
	return err
}
