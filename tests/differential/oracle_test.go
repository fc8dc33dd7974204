package differential

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// oracle says what a program should experience, from the evaluator's answers alone. It walks paths on the host.
type oracle struct {
	judge *evaluator.Evaluator
	root  string // of the tree
	cwd   string
}

func newOracle(root string, rules *srtconfig.Rules) (*oracle, error) {
	judge, err := evaluator.New(rules)
	if err != nil {
		return nil, err
	}
	o := &oracle{judge: judge, root: root, cwd: rules.Cwd()}
	return o, nil
}

// place is where a path leads on the host.
type place struct {
	path    string // resolved; its last component may be absent
	mode    fs.FileMode
	exists  bool
	hidden  bool               // the way leads through a directory that does not show the next name
	blocked evaluator.Decision // with blocked.Op != 0: the way leads through a directory that may not be entered
}

// errNoWay is a path that leads nowhere on the host either, which says nothing about the sandbox.
var errNoWay = errors.New("leads nowhere on the host")

// walk follows a path as a program in the sandbox would, with the links of the host.
func (o *oracle) walk(name string, follow bool) (place, error) {
	if !path.IsAbs(name) {
		name = o.cwd + "/" + name
	}
	p := place{path: "/", mode: fs.ModeDir, exists: true}
	rest := strings.Split(strings.Trim(name, "/"), "/")
	for hops := 0; len(rest) > 0; {
		component := rest[0]
		rest = rest[1:]
		switch {
		case component == "" || component == ".":
			continue
		case !p.exists || !p.mode.IsDir():
			return p, errNoWay
		}
		o.enter(&p)
		if component == ".." {
			p.path = path.Dir(p.path)
			continue
		}
		parent := p
		p.path = path.Join(p.path, component)
		info, err := os.Lstat(p.path)
		if errors.Is(err, fs.ErrNotExist) {
			p.exists, p.mode = false, 0
			continue
		}
		if err != nil {
			return p, err
		}
		p.mode = info.Mode().Type()
		if !o.shows(parent.path, p.path) {
			p.hidden = true
		}
		if p.mode&fs.ModeSymlink == 0 || len(rest) == 0 && !follow {
			continue
		}
		if hops++; hops > 40 {
			return p, errNoWay
		}
		text, err := os.Readlink(p.path)
		if err != nil {
			return p, err
		}
		p.path, p.mode = parent.path, parent.mode
		if path.IsAbs(text) {
			p.path, p.mode = "/", fs.ModeDir
		}
		rest = append(strings.Split(strings.Trim(text, "/"), "/"), rest...)
	}
	return p, nil
}

// enter notes that the way leads through p.
func (o *oracle) enter(p *place) {
	if d := o.judge.CanRead(p.path); !d.Allowed && p.blocked.Op == 0 {
		p.blocked = d
	}
}

// shows reports whether a directory shows the name of what is in it.
func (o *oracle) shows(dir, child string) bool {
	return o.judge.CanRead(dir).Reason != evaluator.Way || o.judge.CanRead(child).Allowed
}

// verdict is what should be experienced. The decisions that deny are kept, to tell known differences.
type verdict struct {
	place
	to      string // of a rename or link: the new name, resolved
	denials []evaluator.Decision
	absent  []bool   // beside denials: the path of the decision does not exist on the host
	names   []string // of opList: what should be seen
	oneWay  bool     // the kernel may refuse what the evaluator allows, for a reason that is no denial (EXDEV)
}

func (v *verdict) ask(d evaluator.Decision, absent bool) {
	if !d.Allowed {
		v.denials = append(v.denials, d)
		v.absent = append(v.absent, absent)
	}
}

func (v *verdict) allowed() bool { return len(v.denials) == 0 && !v.hidden && v.blocked.Op == 0 }

// judgeProbe answers a question. errNoWay is for those that would fail without a sandbox too.
func (o *oracle) judgeProbe(q question) (verdict, error) {
	name := string(q.Path)
	follow := slices.Contains([]operation{opRead, opList, opEnter, opWrite, opTruncate, opThrough}, q.Op)
	at, err := o.walk(name, follow)
	v := verdict{place: at}
	if err != nil {
		return v, err
	}
	if !o.within(at.path) || !fits(q.Op, at) {
		return v, errNoWay
	}
	if (q.Op == opReplace || q.Op == opThrough) && at.hidden {
		// In the sandbox's own /tmp there is nothing to replace and no link, and what is made in its place would stay.
		return v, errNoWay
	}
	can := o.judge
	switch q.Op {
	case opRead:
		v.ask(can.CanRead(at.path), false)
	case opList, opEnter:
		v.ask(can.CanRead(at.path), false)
		if q.Op == opList {
			v.names, err = o.listing(at.path)
		}
	case opWrite, opTruncate:
		v.ask(can.CanWrite(at.path), false)
	case opCreate, opThrough, opMkdir, opSymlink:
		v.ask(can.CanWrite(at.path), true)
	case opUnlink, opRmdir:
		v.ask(can.CanRemove(at.path), false)
	case opRename, opReplace, opExchange, opMove, opHardLink:
		to, err := o.walk(string(q.To), false)
		if err != nil || to.exists || !o.within(to.path) || strings.HasPrefix(to.path, at.path+"/") {
			return v, errNoWay
		}
		if q.Op == opHardLink {
			v.ask(can.CanWrite(at.path), false)
		} else {
			v.ask(can.CanRemove(at.path), false)
		}
		v.ask(can.CanWrite(to.path), true)
		v.to, v.hidden = to.path, v.hidden || to.hidden
		if v.blocked.Op == 0 {
			v.blocked = to.blocked
		}
		v.oneWay = q.Op == opMove || q.Op == opHardLink
	}
	return v, err
}

// within keeps probes to the tree: what a link to / leads to is the host's, and changes meanwhile.
func (o *oracle) within(p string) bool { return strings.HasPrefix(p, o.root+"/") || p == o.root }

// fits reports whether an operation could work on the object without a sandbox.
func fits(op operation, at place) bool {
	switch op {
	case opCreate, opThrough, opMkdir, opSymlink:
		return !at.exists
	case opRead, opWrite, opTruncate, opReplace:
		return at.exists && at.mode.IsRegular()
	case opList, opEnter, opRmdir:
		return at.exists && at.mode.IsDir()
	case opUnlink, opHardLink:
		return at.exists && !at.mode.IsDir()
	}
	return at.exists
}

// listing returns the names that a program should see in a directory, sorted.
func (o *oracle) listing(at string) ([]string, error) {
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if o.shows(at, path.Join(at, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
