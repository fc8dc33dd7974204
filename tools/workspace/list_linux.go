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
		if err := l.names.read(dir); err != nil {
			unix.Close(dir)
			yield(frame.Frame[Entry]{}, outcome.New(outcome.IOFailure, req.Path, err))
			return
		}
		if err := l.entries(dir, strings.TrimSuffix(r.abs(rel), "/"), mark{last: -1}, 1); err != nil {
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
	skip     int // bytes of an absolute path before its backend path
	cut      bool
}

// entries yields what stands in the stack above from, which is the content of dir at the absolute path at, and closes
// dir. It returns errStopped or the error of the context.
func (l *lister) entries(dir int, at string, from mark, depth int) error {
	defer func() { unix.Close(dir) }()
	end := len(l.names.refs)
	for i := from.refs; i < end; i++ {
		if (i-from.refs)%1024 == 0 {
			if err := l.ctx.Err(); err != nil {
				return err
			}
		}
		ref := l.names.refs[i]
		abs := at + "/" + string(l.names.at(ref))
		if !l.root.judge.CanRead(abs).Allowed {
			continue
		}
		entry := Entry{Path: abs[l.skip:], Type: ref.kind}
		if ref.kind != TypeDirectory || depth == l.maxDepth {
			l.cut = l.cut || ref.kind == TypeDirectory
			if !l.yield(frame.Of(entry), nil) {
				return errStopped
			}
			continue
		}
		if err := l.directory(dir, entry, abs, depth); err != nil {
			return err
		}
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
