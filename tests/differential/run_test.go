package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sandboxctl/sandboxctl/enforcer"
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
	"golang.org/x/sys/unix"
)

// disagreement is one probe on which the two boundaries differ.
type disagreement struct {
	question question // as the case has it, with rootMark
	why      string
	verdict  verdict
	answer   answer
}

func (d disagreement) String() string {
	s := fmt.Sprintf("%s: %s", d.question, d.why)
	for _, e := range d.verdict.denials {
		s += "\n  evaluator: " + e.Op.String() + " denied: " + e.Reason.String() + ": " + e.Explain()
	}
	if b := d.verdict.blocked; b.Op != 0 {
		s += "\n  evaluator: the way there is closed: " + b.Reason.String() + ": " + b.Explain()
	}
	if d.verdict.hidden {
		s += "\n  evaluator: the way there is not shown"
	}
	if d.verdict.allowed() {
		s += "\n  evaluator: allowed"
	}
	return s
}

// kind groups disagreements that are likely to have one cause.
func (d disagreement) kind() string {
	k := fmt.Sprintf("%s %s %v %v", d.question.Op, strings.Map(dropDigits, d.why), d.verdict.hidden, d.verdict.blocked.Reason)
	for _, e := range d.verdict.denials {
		k += " " + e.Reason.String()
	}
	return k
}

func dropDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// outcome is what one case gave.
type outcome struct {
	refused   string // the settings were refused, which is an answer too; nothing was compared
	decisions int
	denied    int // of decisions: by both
	known     map[string]int
	differ    []disagreement
}

// rig is what cases run on.
type rig struct {
	prober string // path of the helper
	facts  enforcer.Facts
	// twist, when set, replaces the settings that the evaluator is asked about: for the test that a wrong answer is seen.
	twist func(*srtconfig.Settings) *srtconfig.Settings
}

// runCase makes the world, runs every question in one sandbox and compares. An error is a fault of the product or of the
// test: a launch that failed, a helper that died.
func (r rig) runCase(ctx context.Context, w world, questions []question) (o outcome, err error) {
	root, err := w.make()
	if root != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(root))) }()
	}
	if err != nil {
		return o, err
	}
	settings := w.at(root)
	rules, err := r.derive(ctx, settings, w.host(root))
	if err != nil {
		o.refused = strings.ReplaceAll(err.Error(), root, rootMark)
		return o, nil
	}
	asIf := rules
	if r.twist != nil {
		if asIf, err = r.derive(ctx, r.twist(settings), w.host(root)); err != nil {
			return o, err
		}
	}
	oracle, err := newOracle(root, asIf)
	if err != nil {
		return o, err
	}
	asked, err := oracle.prepare(root, questions)
	if err != nil {
		return o, err
	}
	before, err := snapshot(root)
	if err != nil {
		return o, err
	}
	answers, err := r.inSandbox(ctx, rules, asked)
	if err != nil {
		return o, err
	}
	o.known = map[string]int{}
	for i, a := range asked {
		o.compare(a, answers[i])
	}
	after, err := snapshot(root)
	if err != nil {
		return o, err
	}
	if len(o.differ) == 0 && before != after {
		return o, fmt.Errorf("the tree is not as it was:\nbefore:\n%s\nafter:\n%s", before, after)
	}
	return o, nil
}

// derive adds an entry for the helper itself where the settings close it: it has to be executed.
func (r rig) derive(ctx context.Context, settings *srtconfig.Settings, host srtconfig.Host) (*srtconfig.Rules, error) {
	rules, err := srtconfig.Derive(ctx, settings, host)
	if err != nil {
		return nil, err
	}
	judge, err := evaluator.New(rules)
	if err != nil || judge.CanRead(r.prober).Allowed {
		return rules, err
	}
	with := *settings
	with.Filesystem.AllowRead = append(slices.Clone(settings.Filesystem.AllowRead), srtconfig.PathEntry{Path: r.prober})
	for _, lib := range []string{"/lib", "/lib64"} { // a test binary built with cgo is linked to libc
		if _, err := os.Stat(lib); err == nil {
			with.Filesystem.AllowRead = append(with.Filesystem.AllowRead, srtconfig.PathEntry{Path: lib})
		}
	}
	return srtconfig.Derive(ctx, &with, host)
}

// judged is a question with what should be answered.
type judged struct {
	written question // with rootMark
	sent    question
	verdict verdict
}

// prepare judges the questions and drops those that say nothing.
func (o *oracle) prepare(root string, questions []question) ([]judged, error) {
	var all []judged
	for _, q := range questions {
		j := judged{written: q, sent: q}
		j.sent.Path = bytes.ReplaceAll(q.Path, []byte(rootMark), []byte(root))
		j.sent.To = bytes.ReplaceAll(q.To, []byte(rootMark), []byte(root))
		var err error
		j.verdict, err = o.judgeProbe(j.sent)
		switch {
		case errors.Is(err, errNoWay):
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", q, err)
		}
		j.sent.Back, j.sent.BackTo = []byte(j.verdict.path), []byte(j.verdict.to)
		all = append(all, j)
	}
	return all, nil
}

const caseTimeout = 2 * time.Minute

func (r rig) inSandbox(ctx context.Context, rules *srtconfig.Rules, questions []judged) ([]answer, error) {
	plan, err := enforcer.Compile(rules, r.facts)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, q := range questions {
		if err := enc.Encode(q.sent); err != nil {
			return nil, err
		}
	}
	stdin, err := memoryFile(in.Bytes())
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	stdout, err := memoryFile(nil)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := memoryFile(nil)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	ctx, cancel := context.WithTimeout(ctx, caseTimeout)
	defer cancel()
	proc, err := plan.Start(ctx, enforcer.Command{
		Argv: []string{r.prober}, Env: []string{proberVariable + "=1"},
		Streams: enforcer.Streams{Stdin: stdin, Stdout: stdout, Stderr: stderr},
	})
	if err != nil {
		return nil, fmt.Errorf("start: %w\n%s", err, plan)
	}
	result, err := proc.Wait()
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	if result.Code != 0 {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", stderr.Fd()))
		return nil, fmt.Errorf("the helper ended with %+v: %s", result, text)
	}
	return readAnswers(stdout, len(questions))
}

// memoryFile is a file that the helper can read and write whatever the rules say: it lies in no tree.
func memoryFile(content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("sandboxctl-differential", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "memory")
	if _, err := f.Write(content); err != nil {
		f.Close()
		return nil, err
	}
	_, err = f.Seek(0, 0)
	return f, err
}

func readAnswers(f *os.File, n int) ([]answer, error) {
	if _, err := f.Seek(0, 0); err != nil {
		return nil, err
	}
	answers := make([]answer, n)
	in := json.NewDecoder(f)
	for i := range answers {
		if err := in.Decode(&answers[i]); err != nil {
			return nil, fmt.Errorf("answer %d of %d: %w", i, n, err)
		}
	}
	return answers, nil
}

// compare holds one answer against its verdict.
func (o *outcome) compare(j judged, a answer) {
	q, v := j.sent, j.verdict
	differ := func(format string, args ...any) {
		o.differ = append(o.differ, disagreement{j.written, fmt.Sprintf(format, args...), v, a})
	}
	if a.Undo != "" {
		differ("it succeeded and could not be undone: %s", a.Undo)
		return
	}
	worked := a.Errno == 0 || q.Op == opRmdir && a.Errno == unix.ENOTEMPTY // the kernel looks at the content last
	o.decisions++
	switch {
	case worked && v.allowed():
		if why := v.wrongObject(q, a); why != "" {
			differ("%s", why)
		}
	case worked:
		name := v.known()
		if name == "" {
			differ("the kernel allows it")
			return
		}
		o.known[name]++
	case v.allowed() && v.oneWay && a.Errno == unix.EXDEV:
		o.decisions-- // no answer
	case v.allowed():
		differ("the kernel denies it: %v", a.Errno)
	default:
		o.denied++
		if !slices.Contains(v.errnos(q), a.Errno) {
			differ("both deny it, but the program sees %v, not one of %v", a.Errno, v.errnos(q))
		}
	}
}

// errnos are those by which a program should learn of a denial.
func (v verdict) errnos(q question) []syscall.Errno {
	var may []syscall.Errno
	switch {
	case v.hidden:
		may = []syscall.Errno{unix.ENOENT, unix.EACCES, unix.EROFS}
	case v.blocked.Op != 0:
		may = []syscall.Errno{unix.EACCES, unix.ENOENT} // ENOENT: the sandbox's own /tmp, where the way is not there
	case q.Op == opRead || q.Op == opList || q.Op == opEnter:
		may = []syscall.Errno{unix.EACCES}
	default:
		may = []syscall.Errno{unix.EACCES, unix.EROFS, unix.EBUSY}
	}
	if v.oneWay {
		may = append(may, unix.EXDEV, unix.EROFS, unix.EPERM)
	}
	return may
}

// wrongObject says how what the program got differs from what the host has; "" when it does not.
func (v verdict) wrongObject(q question, a answer) string {
	switch q.Op {
	case opRead, opWrite, opList:
		if v.names != nil || q.Op == opList {
			return wrongNames(v.names, a.Names)
		}
		var st unix.Stat_t
		if err := unix.Stat(v.path, &st); err != nil {
			return fmt.Sprintf("stat on the host: %v", err)
		}
		// Removing and making again gives a file another inode, so that only the file system can be compared.
		if st.Dev != a.Dev {
			return "the program got a file of another file system"
		}
		if q.Op == opRead {
			content, err := os.ReadFile(v.path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Sprintf("read on the host: %v", err)
			}
			if !bytes.Equal(content, a.Data) {
				return fmt.Sprintf("the program read %q", a.Data)
			}
		}
	case opCreate, opThrough:
		var st unix.Stat_t
		if err := unix.Stat(v.path[:strings.LastIndexByte(v.path, '/')+1], &st); err != nil {
			return fmt.Sprintf("stat on the host: %v", err)
		}
		if st.Dev != a.Dev {
			return "the file was made in another file system: it is lost"
		}
	}
	return ""
}

func wrongNames(want []string, got [][]byte) string {
	seen := make([]string, len(got))
	for i, n := range got {
		seen[i] = string(n)
	}
	slices.Sort(seen)
	slices.Sort(want)
	if !slices.Equal(seen, want) {
		return fmt.Sprintf("the listing shows %q, not %q", seen, want)
	}
	return ""
}
