package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandboxctl/sandboxctl/srtconfig"
	"github.com/sandboxctl/sandboxctl/tools/frame"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Ripgrep searches with the program ripgrep, which a [Runner] starts in a sandbox. It is safe for concurrent use.
//
// Memory does not grow with the results, the files or the lines. Names and lines are carried as bytes. Links are not
// followed. Files that ripgrep takes for binary, those with a NUL byte, give no matches after it.
type Ripgrep struct {
	runner  Runner
	program srtconfig.RipgrepSettings
	root    *root
}

// RipgrepOptions says how to search.
type RipgrepOptions struct {
	// Root is the workspace: an absolute directory. Required.
	Root string
	// Runner starts ripgrep, under settings that are the boundary of what it can read. Required.
	Runner Runner
	// Judge says which names may be shown: ripgrep lists the name of a file that it may not open. Required.
	Judge Judge
	// Program is the section "ripgrep" of the settings; its zero value is "rg" from PATH.
	Program srtconfig.RipgrepSettings
}

// NewRipgrep opens the workspace. Errors are *outcome.SetupError. The caller closes it.
func NewRipgrep(o RipgrepOptions) (*Ripgrep, error) {
	if o.Runner == nil || o.Judge == nil {
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "a search needs a runner and a judge"}
	}
	r, err := openRoot(o.Root, o.Judge)
	if err != nil {
		return nil, err
	}
	if o.Program.Command == "" {
		o.Program.Command = "rg"
	}
	return &Ripgrep{runner: o.Runner, program: o.Program, root: r}, nil
}

// Close lets go of the workspace. Searches that begin later fail.
func (r *Ripgrep) Close() error { return r.root.dir.Close() }

// SupportsFollow is false: nothing has shown that what links lead to stays within the settings.
func (r *Ripgrep) SupportsFollow() bool { return false }

// SearchContent implements [Search].
func (r *Ripgrep) SearchContent(ctx context.Context, q ContentQuery) iter.Seq2[frame.Frame[Match], error] {
	return func(yield func(frame.Frame[Match], error) bool) {
		produce(ctx, q.Path, q.Limit, yield, func(found emit[Match]) (frame.Bound, error) {
			if err := q.Validate(r.SupportsFollow()); err != nil {
				return "", err
			}
			n, err := q.narrowing()
			if err != nil {
				return "", err
			}
			return r.search(ctx, q.Scope, n, &errorLines{pattern: q.Pattern}, contentArguments(q), func(s *selection, out io.Reader) error {
				return readMatches(out, s, found)
			})
		})
	}
}

// FindPaths implements [Search].
func (r *Ripgrep) FindPaths(ctx context.Context, q PathQuery) iter.Seq2[frame.Frame[string], error] {
	return func(yield func(frame.Frame[string], error) bool) {
		produce(ctx, q.Path, q.Limit, yield, func(found emit[string]) (frame.Bound, error) {
			if err := q.Validate(r.SupportsFollow()); err != nil {
				return "", err
			}
			n, err := q.narrowing()
			if err != nil {
				return "", err
			}
			return r.search(ctx, q.Scope, n, &errorLines{}, []string{"--files", "--null"}, func(s *selection, out io.Reader) error {
				return readPaths(out, s, found)
			})
		})
	}
}

// errEnough ends the reading of a search whose rest is not wanted.
var errEnough = errors.New("enough")

// search runs ripgrep once, and once more where only that tells whether the depth has cut something off.
func (r *Ripgrep) search(ctx context.Context, scope Scope, n narrowing, errs *errorLines, mode []string, read func(*selection, io.Reader) error) (frame.Bound, error) {
	if scope.Follow {
		// Validate has refused it, unless somebody makes this adapter declare what it cannot hold.
		return "", followRefused(contentTool)
	}
	if err := ctx.Err(); err != nil {
		return "", ended(ctx, scope.Path)
	}
	begin, err := r.root.find(scope.Path)
	if err != nil {
		return "", err
	}
	s := &selection{root: r.root, start: begin, narrowing: n, hidden: scope.Hidden}
	errs.selection = s
	args := append(mode, scopeArguments(scope, n)...)
	err = r.run(ctx, scope.Path, append(args, depthArgument(scope)...), errs, func(out io.Reader) error { return read(s, out) })
	if scope.Report != nil {
		*scope.Report = Report{Withheld: errs.withheld, Failed: errs.failed}
	}
	if err != nil || scope.MaxDepth == nil || !begin.dir {
		return "", err
	}
	deeper, err := r.deeper(ctx, scope, s)
	if err != nil || !deeper {
		return "", err
	}
	return frame.MaxDepth, nil
}

// deeper reports whether there is a file below the depth that the search was not to go beyond. ripgrep does not tell, so
// it lists names without the bound until there is one.
func (r *Ripgrep) deeper(ctx context.Context, scope Scope, s *selection) (bool, error) {
	found := false
	args := append([]string{"--files", "--null"}, scopeArguments(scope, s.narrowing)...)
	err := r.run(ctx, scope.Path, args, &errorLines{selection: s}, func(out io.Reader) error {
		return readPaths(out, s, func(name string) bool {
			found = found || strings.Count(s.below(name), "/") >= *scope.MaxDepth
			return !found
		})
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, err
}

// pipeBytes is the size of the pipe from ripgrep. The default of 64 KiB makes the two wait for each other.
const pipeBytes = 1 << 20

// run starts ripgrep, gives its output to read, and tells how it ended. When read does not want more, ripgrep is killed.
// It is gone when run returns.
func (r *Ripgrep) run(ctx context.Context, asked string, args []string, errs *errorLines, read func(io.Reader) error) error {
	out, in, err := os.Pipe()
	if err != nil {
		return outcome.New(outcome.IOFailure, asked, err)
	}
	defer out.Close()
	// The pipe is only slower without it: an ordinary user may be over a quota of pipe memory (pipe(7)).
	_, _ = unix.FcntlInt(in.Fd(), unix.F_SETPIPE_SZ, pipeBytes)
	argv := append([]string{r.program.Command}, r.program.Args...)
	argv = append(append(argv, args...), "--", errs.selection.start.argument())
	proc, err := r.runner.Start(ctx, Command{Argv: argv, Argv0: r.program.Argv0, Dir: r.root.path, Stdout: in, Stderr: errs})
	in.Close()
	if err != nil {
		return notStarted(ctx, asked, err)
	}
	// A search leaves nothing behind that would need the time that a cancelled command is otherwise given.
	stop := context.AfterFunc(ctx, proc.Kill)
	defer stop()
	readErr := read(out)
	if readErr != nil {
		proc.Kill()
	}
	end, err := proc.Wait()
	switch {
	case ctx.Err() != nil:
		return ended(ctx, asked)
	case errors.Is(readErr, errEnough):
		return readErr
	}
	return conclude(asked, errs, end, err, readErr)
}

// argument is the start as ripgrep is given it. Every path that it writes then begins with "./".
func (s start) argument() string {
	if s.path == "." {
		return "./"
	}
	return "./" + s.path
}

// selection says which of the files that ripgrep tells of are results.
type selection struct {
	root      *root
	start     start
	narrowing narrowing
	hidden    bool
	last      []byte // the file that was asked about last, with its answer: matches come file by file
	name      string
	keep      bool
}

// take gives the path of a file relative to the root, and whether it is a result. raw is as ripgrep wrote it.
func (s *selection) take(raw []byte) (string, bool) {
	if s.last != nil && bytes.Equal(raw, s.last) {
		return s.name, s.keep
	}
	s.last = append(s.last[:0], raw...)
	s.name = strings.TrimPrefix(string(raw), "./")
	s.keep = s.narrowing.keeps(s.below(s.name)) && (s.hidden || !dotted(s.below(s.name))) && s.root.shows(s.name)
	return s.name, s.keep
}

// below gives the path from the start on; of a start that is a file, its own name.
func (s *selection) below(name string) string {
	switch {
	case !s.start.dir:
		return path.Base(name)
	case s.start.path == ".":
		return name
	}
	return strings.TrimPrefix(name, s.start.path+"/")
}

// dotted reports whether a part of a path begins with a dot. Of a start that is a file the name was asked for.
func dotted(name string) bool { return strings.HasPrefix(name, ".") || strings.Contains(name, "/.") }

func readMatches(out io.Reader, s *selection, found emit[Match]) error {
	m := newMessages(out)
	complete := false
	for {
		err := m.next()
		switch {
		case err == io.EOF && complete:
			return nil
		case err == io.EOF:
			return errNoSummary
		case err != nil:
			return err
		}
		switch m.kind {
		case summaryMessage:
			complete = true
		case matchMessage:
			if name, ok := s.take(m.path); ok && !found(m.match(name)) {
				return errEnough
			}
		}
	}
}

func readPaths(out io.Reader, s *selection, found emit[string]) error {
	names := bufio.NewReaderSize(out, maxPath)
	for {
		raw, err := names.ReadSlice(0)
		switch {
		case err == io.EOF && len(raw) == 0:
			return nil
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		if name, ok := s.take(raw[:len(raw)-1]); ok && !found(name) {
			return errEnough
		}
	}
}
