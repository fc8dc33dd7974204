package evaluator

import (
	"errors"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// Evaluator answers what the rules of one session allow. It is immutable and safe for concurrent use.
// The zero value is not usable, but denies: every question is answered by a zero Decision with its Op.
type Evaluator struct {
	tree       *tree // nil in a zero Evaluator only
	readGlobs  []glob
	writeGlobs []glob
	disabled   bool
	network    *network
}

// ErrNoRules says that rules were nil or the zero value, which Derive never returns.
var ErrNoRules = errors.New("the evaluator needs rules that were derived from settings")

// New compiles rules. It returns ErrNoRules for nil and for zero Rules; any other error is a fault of the program that
// made the rules, as Derive only makes absolute and clean paths.
func New(rules *srtconfig.Rules) (*Evaluator, error) {
	if rules == nil || rules.Cwd() == "" {
		return nil, ErrNoRules
	}
	e, err := newEvaluator(inputOf(rules))
	if err != nil {
		return nil, err
	}
	e.disabled = rules.FilesystemDisabled()
	e.network = compileNetwork(rules.Network())
	return e, nil
}

func inputOf(rules *srtconfig.Rules) input {
	return input{
		cwd:        rules.Cwd(),
		privateTmp: rules.Tmp() == srtconfig.TmpPrivate,
		paths:      rules.Paths(),
		globs:      compileGlobs(rules.Globs()),
	}
}

func newEvaluator(in input) (*Evaluator, error) {
	e := &Evaluator{
		readGlobs:  ofList(in.globs, srtconfig.DenyRead),
		writeGlobs: ofList(in.globs, srtconfig.DenyWrite),
		network:    compileNetwork(srtconfig.NetworkRules{}),
	}
	t, err := compile(in, e.readGlobs)
	if err != nil {
		return nil, err
	}
	e.tree = t
	return e, nil
}

// CanRead says whether path may be opened for reading, or listed when it is a directory. A directory that is allowed
// with the reason Way may be listed, but only those of its children be shown that are readable themselves.
//
// path is the object that was opened, absolute and clean, as for every path below: resolved through symlinks by the
// caller. Any other path is denied with the reason BadPath. CanRead does not allocate.
func (e *Evaluator) CanRead(path string) Decision {
	p, d := e.find(path)
	if d.Reason == 0 {
		d = e.read(p, path)
	}
	d.Op = Read
	return d
}

// CanWrite says whether the content at path may be changed, or the name made where it is absent. It does not allocate.
func (e *Evaluator) CanWrite(path string) Decision {
	p, d := e.find(path)
	if d.Reason == 0 {
		d = e.write(p, path)
	}
	d.Op = Write
	return d
}

// CanRemove says whether the name at path may be taken away: by unlink, rmdir, a rename away or a rename over it. A
// rename asks CanRemove of its old name, and CanWrite of its new one, or CanRemove where that exists. It does not
// allocate.
func (e *Evaluator) CanRemove(path string) Decision {
	p, d := e.find(path)
	if d.Reason == 0 {
		d = e.remove(p, path)
	}
	d.Op = Remove
	return d
}

// find returns where path stands, or a decision that has a reason already.
func (e *Evaluator) find(path string) (place, Decision) {
	if e.tree == nil {
		return place{}, Decision{Reason: BadPath, Problem: "there are no rules"}
	}
	p, problem := e.tree.find(path)
	if problem != "" {
		return p, Decision{Reason: BadPath, Problem: problem}
	}
	if e.disabled {
		return p, Decision{Allowed: true, Reason: Disabled}
	}
	return p, Decision{}
}
