package enforcer

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// Enforcer runs commands under one policy. Each run is a sandbox of its own. It is safe for concurrent use.
// A program that uses it calls [RunInitStage] as the first statement of main.
type Enforcer struct {
	launches sync.WaitGroup // those between begin and running, which Close has to see through

	mu       sync.Mutex
	plan     *Plan // of the last run, or of New
	closed   bool
	running  map[*Execution]struct{}
	records  map[string][]Diagnostic
	recorded []string // correlation ids, oldest first
}

// maxRecords bounds how many runs keep their diagnostics.
const maxRecords = 256

// New makes an Enforcer for a policy. Errors are those of [Compile].
func New(rules *srtconfig.Rules) (*Enforcer, error) {
	plan, err := Compile(rules, FactsOf())
	if err != nil {
		return nil, err
	}
	return &Enforcer{plan: plan, running: map[*Execution]struct{}{}, records: map[string][]Diagnostic{}}, nil
}

// Supported tries whether this host gives tier full: nil, or what is missing, a [*FeatureError] or a probe that could not
// be carried out.
func Supported(ctx context.Context) error {
	r, err := Probe(ctx)
	if err != nil {
		return err
	}
	for _, c := range r.Checks {
		if c.Needed && c.State != Present {
			return &FeatureError{Feature: c.Name, Reason: c.Detail, Remedy: "run sandboxctl doctor"}
		}
	}
	return nil
}

// Dependencies says what the host lacks (Errors: runs are refused) and what works with less (Warnings). Tier full depends on
// the kernel alone, on no program.
type Dependencies struct {
	Errors   []string
	Warnings []string
}

// Dependencies probes the host. The error tells of a probe that could not be carried out.
func (e *Enforcer) Dependencies(ctx context.Context) (Dependencies, error) {
	r, err := Probe(ctx)
	if err != nil {
		return Dependencies{}, err
	}
	var d Dependencies
	for _, c := range r.Checks {
		switch {
		case c.State == Present:
		case c.Needed:
			d.Errors = append(d.Errors, c.Name+": "+c.Detail)
		default:
			d.Warnings = append(d.Warnings, c.Name+": "+c.Detail)
		}
	}
	return d, nil
}

// Rules returns the effective policy, as it was resolved for the last run.
func (e *Enforcer) Rules() *srtconfig.Rules { return e.Plan().rules }

// Plan returns what the last run did, or the first will do if nothing changes until then.
func (e *Enforcer) Plan() *Plan {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.plan
}

// refresh resolves the policy anew: what a command made must be protected from the next.
func (e *Enforcer) refresh(ctx context.Context) (*Plan, error) {
	rules, err := e.Rules().Refresh(ctx)
	if err != nil {
		return nil, err
	}
	plan, err := Compile(rules, FactsOf())
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.plan = plan
	return plan, nil
}

// Narrow returns an Enforcer for a policy that allows no more than this one; else the error of [evaluator.Narrows], with the code
// E_SANDBOX_POLICY_CONFLICT. Closing the outer Enforcer does not close it.
func (e *Enforcer) Narrow(rules *srtconfig.Rules) (*Enforcer, error) {
	if err := evaluator.Narrows(rules, e.Rules()); err != nil {
		return nil, err
	}
	return New(rules)
}

// Operation is one command for an Enforcer.
type Operation struct {
	Argv []string
	Env  []string // the whole environment, see [Environment]; nil = what the settings and the harmless list let through of ours
	Dir  string   // see [Command]
	// Stdin is read until the command ends; nil = /dev/null. A reader that is no *os.File is copied by a goroutine, which is
	// left behind in its last Read.
	Stdin io.Reader
	// Stdout and Stderr get output as it comes; nil = discarded. *os.File values are handed to the command itself.
	Stdout, Stderr io.Writer
	Terminal       bool          // see [Command]; Stdin, Stdout and Stderr are then not used
	Wall           time.Duration // 0 = the settings' limit
	CorrelationID  string        // names the run's diagnostics; "" = a random one
}

// Execution is a run in progress. Its methods are safe for concurrent use.
type Execution struct {
	ID   string // the correlation id
	proc *Process
	done chan struct{}
	copy sync.WaitGroup

	result Result
	err    error
}

// Diagnostic is something about a run that its exit code does not say.
type Diagnostic struct {
	Time    time.Time
	Kind    string // "warning", "degraded", "refused" or "failed"
	Message string
}

// Run resolves the policy for what exists now, starts a command and returns when it runs. A failing command is no error; see [Execution.Wait]. Errors are those of
// [Plan.Start], and [ErrClosed]. The end of ctx ends the command.
func (e *Enforcer) Run(ctx context.Context, op Operation) (*Execution, error) {
	x := &Execution{ID: op.CorrelationID, done: make(chan struct{})}
	if x.ID == "" {
		x.ID = rand.Text()
	}
	if err := e.begin(x.ID); err != nil {
		return nil, err
	}
	defer e.launches.Done()
	plan, err := e.refresh(ctx)
	if err != nil {
		e.note(x.ID, "refused", err.Error())
		return nil, err
	}
	if op.Wall > 0 {
		plan = plan.WithWall(op.Wall)
	}
	streams, err := x.connect(op)
	if err != nil {
		return nil, err
	}
	env := op.Env
	if env == nil {
		env = Environment(os.Environ(), plan.Env, EnvOptions{})
	}
	x.proc, err = plan.Start(ctx, Command{Argv: op.Argv, Env: env, Dir: op.Dir,
		Streams: Streams{Stdin: streams[0], Stdout: streams[1], Stderr: streams[2], Terminal: op.Terminal}})
	for i, f := range streams {
		if f != nil && !given(op, i) {
			f.Close() // the command has its own copy
		}
	}
	if err != nil {
		x.copy.Wait()
		e.note(x.ID, "refused", err.Error())
		return nil, err
	}
	e.mu.Lock()
	e.running[x] = struct{}{}
	e.mu.Unlock()
	go e.follow(x)
	return x, nil
}

func given(op Operation, i int) bool {
	var isFile bool
	switch i {
	case 0:
		_, isFile = op.Stdin.(*os.File)
	case 1:
		_, isFile = op.Stdout.(*os.File)
	case 2:
		_, isFile = op.Stderr.(*os.File)
	}
	return isFile
}

// connect returns the files for the command's standard descriptors, nil for /dev/null, and starts the copying.
func (x *Execution) connect(op Operation) ([3]*os.File, error) {
	var files [3]*os.File
	if op.Terminal {
		return files, nil
	}
	fail := func(err error) ([3]*os.File, error) {
		for i, f := range files {
			if f != nil && !given(op, i) {
				f.Close()
			}
		}
		return [3]*os.File{}, fmt.Errorf("pipe: %w", err)
	}
	switch in := op.Stdin.(type) {
	case nil:
	case *os.File:
		files[0] = in
	default:
		r, w, err := os.Pipe()
		if err != nil {
			return fail(err)
		}
		files[0] = r
		go func() {
			_, _ = io.Copy(w, in) // EPIPE when the command has ended
			w.Close()
		}()
	}
	for i, out := range []io.Writer{op.Stdout, op.Stderr} {
		switch out := out.(type) {
		case nil:
		case *os.File:
			files[i+1] = out
		default:
			r, w, err := os.Pipe()
			if err != nil {
				return fail(err)
			}
			files[i+1] = w
			x.copy.Go(func() {
				_, err := io.Copy(out, r)
				if err != nil {
					_, _ = io.Copy(io.Discard, r) // a broken writer must not stop the command
				}
				r.Close()
			})
		}
	}
	return files, nil
}

func (e *Enforcer) follow(x *Execution) {
	x.result, x.err = x.proc.Wait()
	x.copy.Wait() // every process of the sandbox is gone, so the pipes end
	e.mu.Lock()
	delete(e.running, x)
	e.mu.Unlock()
	if x.err != nil {
		e.note(x.ID, "failed", x.err.Error())
	}
	close(x.done)
}

// Wait returns when the command and everything it started has ended and all output is delivered.
func (x *Execution) Wait() (Result, error) {
	<-x.done
	return x.result, x.err
}

// Done is closed when Wait would return.
func (x *Execution) Done() <-chan struct{} { return x.done }

// Signal passes a signal on to the command.
func (x *Execution) Signal(sig syscall.Signal) error { return x.proc.Signal(sig) }

// Kill ends the command and everything it started.
func (x *Execution) Kill() { x.proc.Kill() }

// Terminal is the controlling side of the command's terminal; nil without one.
func (x *Execution) Terminal() *os.File { return x.proc.Terminal() }

// Diagnostics returns what is known about a run, oldest first. Of the last 256 runs only.
func (e *Enforcer) Diagnostics(correlationID string) []Diagnostic {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Diagnostic(nil), e.records[correlationID]...)
}

// Close refuses further runs, kills those in progress and waits for their end.
func (e *Enforcer) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.launches.Wait()
	e.mu.Lock()
	var running []*Execution
	for x := range e.running {
		running = append(running, x)
	}
	e.mu.Unlock()
	for _, x := range running {
		x.Kill()
		<-x.done
	}
	return nil
}

// begin opens a run's record and registers its launch.
func (e *Enforcer) begin(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	e.launches.Add(1)
	if _, ok := e.records[id]; !ok {
		e.recorded = append(e.recorded, id)
		if len(e.recorded) > maxRecords {
			delete(e.records, e.recorded[0])
			e.recorded = e.recorded[1:]
		}
	}
	now := time.Now()
	var d []Diagnostic
	for _, w := range e.plan.Warnings {
		d = append(d, Diagnostic{Time: now, Kind: "warning", Message: w.Message})
	}
	for _, g := range e.plan.Degraded {
		d = append(d, Diagnostic{Time: now, Kind: "degraded", Message: g.String()})
	}
	e.records[id] = d
	return nil
}

func (e *Enforcer) note(id, kind, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.records[id] = append(e.records[id], Diagnostic{Time: time.Now(), Kind: kind, Message: message})
}
