package mount

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// MaxOps bounds the number of mounts of one sandbox. The kernel's own bound is fs.mount-max, 100,000 a namespace, and a
// launch costs about 20 µs a mount.
const MaxOps = 10_000

// Judge answers for absolute, resolved paths. *evaluator.Evaluator is the one in use.
type Judge interface {
	CanRead(path string) evaluator.Decision
	CanWrite(path string) evaluator.Decision
}

// Options are the parts of a tree that do not follow from path rules.
type Options struct {
	TmpBytes uint64 // size of the private /tmp; 0 = DefaultTmpBytes
	ShmBytes uint64 // size of /dev/shm; 0 = DefaultShmBytes
	// Root says that the command runs as uid 0, to whom files open by ownership that no other uid can read.
	Root bool
	// ReadLink returns the text of a symlink of the host, for links that lead into a re-opened tree. nil = none are shown.
	ReadLink func(path string) (string, error)
	// Stat reports whether a path of the host exists and is a directory, for what stands above protected names that do not
	// exist. nil = nothing is pinned for those.
	Stat func(path string) (exists, dir bool)
}

// Sizes of the sandbox's own file systems, in bytes.
const (
	DefaultTmpBytes = 2 << 30
	DefaultShmBytes = 512 << 20
)

// TooManyError says that the settings expand to more mounts than [MaxOps].
type TooManyError struct{ Ops int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("the filesystem lists expand to %d mounts, more than %d: name directories in place of patterns that match many files", e.Ops, MaxOps)
}

// Own lists the directories that are always the sandbox's own; entries at or below them have no effect.
func Own() []string { return []string{"/dev", "/proc", "/sys"} }

// IsOwn reports whether path is one of [Own] or lies below one.
func IsOwn(path string) bool {
	for _, own := range Own() {
		if below(path, own) {
			return true
		}
	}
	return false
}

// Compile turns rules into the ordered operations. It reads nothing (but through Options.ReadLink and Stat) and decides through
// judge alone, so that the tree cannot differ from the evaluator's answers.
func Compile(rules *srtconfig.Rules, judge Judge, o Options) (Plan, error) {
	c := compiler{judge: judge, places: map[string]place{}}
	private := rules.Tmp() == srtconfig.TmpPrivate && !rules.FilesystemDisabled()
	c.collect(rules, private, o)
	if len(c.places) > MaxOps {
		return Plan{}, &TooManyError{Ops: len(c.places)}
	}
	c.emitRoot()
	for _, p := range sortedPlaces(c.places) {
		c.emit(p)
	}
	c.emitFixed(o)
	if len(c.ops) > MaxOps {
		return Plan{}, &TooManyError{Ops: len(c.ops)}
	}
	return Plan{Ops: c.ops, Nested: rules.Own().AllowNestedNamespaces}, nil
}

// place is a path at which the tree may have to change.
type place struct {
	path   string
	dir    bool
	link   bool   // a symlink that must stay
	text   string // what the link says
	shown  bool   // the link leads to something that is re-opened: it shows where only the way there does
	tmpfs  uint64 // size of a private tmpfs here
	pinned bool   // here only so that the path cannot be moved
	cause  string
}

// region is what the mount that covers a path lets through.
type region struct {
	path   string
	write  bool
	own    bool // a tmpfs of ours: mount points have to be made
	masked bool // nothing below can be reached
	way    bool
}

type compiler struct {
	judge  Judge
	places map[string]place
	cover  []region // the mounts that cover the current place, outermost first
	ops    []Op
}

// add keeps the first cause that is more than a pin.
func (c *compiler) add(p place) {
	old, ok := c.places[p.path]
	if ok && (!old.pinned || p.pinned) {
		return
	}
	c.places[p.path] = p
}

func (c *compiler) collect(rules *srtconfig.Rules, private bool, o Options) {
	if rules.FilesystemDisabled() {
		return
	}
	for _, r := range rules.Paths() {
		if IsOwn(r.Path) {
			continue
		}
		cause := Cause(r)
		reopens := c.reopens(r)
		for _, l := range r.Links {
			c.collectLink(l, cause, reopens, o)
		}
		if !r.Exists {
			if r.List == srtconfig.Protected {
				c.pinPlaceOf(r.Path, cause, o)
			}
			continue
		}
		if r.Path == "/" {
			continue
		}
		if private && r.Path == "/tmp" {
			continue
		}
		c.add(place{path: r.Path, dir: r.Dir, cause: cause})
		c.pinAncestors(r.Path, cause)
	}
	if private {
		c.places["/tmp"] = place{path: "/tmp", dir: true, tmpfs: sizeOr(o.TmpBytes, DefaultTmpBytes), cause: "a private /tmp"}
		if cwd := rules.Cwd(); cwd != "/tmp" && below(cwd, "/tmp") {
			c.add(place{path: cwd, dir: true, cause: "the working directory"})
		}
	}
}

// reopens reports whether an entry opens its own path for reading, and not only the way to something below.
func (c *compiler) reopens(r srtconfig.PathRule) bool {
	if r.List != srtconfig.AllowRead && r.List != srtconfig.AllowWrite {
		return false
	}
	d := c.judge.CanRead(r.Path)
	return d.Allowed && d.Reason != evaluator.Way
}

func (c *compiler) collectLink(link, cause string, reopens bool, o Options) {
	if IsOwn(link) {
		return
	}
	p := place{path: link, link: true, shown: reopens, cause: "the link that leads to " + cause}
	if o.ReadLink != nil {
		if text, err := o.ReadLink(link); err == nil {
			p.text = text
		}
	}
	if old := c.places[link]; old.link {
		p.shown = p.shown || old.shown // several entries may lead through one link
		c.places[link] = p
	}
	c.add(p)
	c.pinAncestors(link, p.cause)
}

// pinPlaceOf keeps what stands above a protected name that does not exist: moved away, it would leave the name's place free.
func (c *compiler) pinPlaceOf(name, cause string, o Options) {
	if o.Stat == nil {
		return
	}
	for above := path.Dir(name); above != "/"; above = path.Dir(above) {
		exists, dir := o.Stat(above)
		if !exists {
			continue
		}
		if c.judge.CanWrite(above).Allowed {
			c.add(place{path: above, dir: dir, pinned: true, cause: "keeps the place of " + cause})
		}
		c.pinAncestors(above, cause)
		return
	}
}

// pinAncestors adds the writable directories above a path, as moving one of them would move the entry away from its name.
func (c *compiler) pinAncestors(p, cause string) {
	for dir := path.Dir(p); dir != "/" && c.judge.CanWrite(dir).Allowed; dir = path.Dir(dir) {
		c.add(place{path: dir, dir: true, pinned: true, cause: "keeps the way to " + cause})
	}
}

func (c *compiler) emitRoot() {
	read, write := c.judge.CanRead("/"), c.judge.CanWrite("/")
	if read.Reason == evaluator.Way || !read.Allowed {
		c.ops = append(c.ops, Op{Kind: Way, Target: "/", Dir: true, Cause: decisionCause(read)})
		c.cover = []region{{path: "/", own: true, way: true}}
		return
	}
	cause := "reads are open, writes are closed by default"
	if write.Allowed {
		cause = decisionCause(write)
	}
	c.ops = append(c.ops, Op{Kind: Root, Target: "/", Dir: true, Write: write.Allowed, Cause: cause})
	c.cover = []region{{path: "/", write: write.Allowed}}
}

// emit adds the operation that a place needs, given what covers it. Places come parents first.
func (c *compiler) emit(p place) {
	for !below(p.path, c.cover[len(c.cover)-1].path) {
		c.cover = c.cover[:len(c.cover)-1]
	}
	top := c.cover[len(c.cover)-1]
	if top.masked {
		return
	}
	if p.link {
		c.emitLink(p, top)
		return
	}
	if p.tmpfs > 0 {
		c.push(Op{Kind: Tmpfs, Target: p.path, Dir: true, Size: p.tmpfs, Create: top.own, Cause: p.cause},
			region{path: p.path, write: true, own: true})
		return
	}
	read, write := c.judge.CanRead(p.path), c.judge.CanWrite(p.path)
	switch {
	case read.Reason == evaluator.Way:
		if top.way {
			return // the same tmpfs goes on
		}
		c.push(Op{Kind: Way, Target: p.path, Dir: true, Create: top.own, Cause: decisionCause(read)},
			region{path: p.path, own: true, way: true})
	case !read.Allowed:
		if top.own {
			return // nothing shows there but what is open
		}
		c.push(Op{Kind: Mask, Target: p.path, Dir: p.dir, Create: top.own, Optional: true, Cause: decisionCause(read)},
			region{path: p.path, masked: true})
	case top.own || top.write || write.Allowed:
		cause := p.cause
		if !write.Allowed && top.write {
			cause = decisionCause(write)
		}
		// A denied name that vanished since the rules were derived leaves nothing to cover, and a pin may be for a directory that
		// was never there.
		optional := p.pinned || !write.Allowed && top.write
		c.push(Op{Kind: Bind, Target: p.path, Dir: p.dir, Write: write.Allowed, Create: top.own, Optional: optional, Cause: cause},
			region{path: p.path, write: write.Allowed})
	}
}

func (c *compiler) emitLink(p place, top region) {
	switch {
	case top.own && p.shown && p.text != "":
		c.ops = append(c.ops, Op{Kind: Symlink, Target: p.path, Text: p.text, Create: true, Cause: p.cause})
	case !top.own && top.write:
		c.ops = append(c.ops, Op{Kind: Link, Target: p.path, Cause: p.cause})
	}
}

func (c *compiler) push(o Op, r region) {
	c.ops = append(c.ops, o)
	c.cover = append(c.cover, r)
}

// emitFixed adds what every sandbox has of its own, last: no entry lies below these.
func (c *compiler) emitFixed(o Options) {
	root := c.ops[0]
	own := root.Kind == Way
	if root.Write {
		// sysfs files that belong to root are writable for uid 0 without any capability.
		c.ops = append(c.ops, Op{Kind: Bind, Target: "/sys", Dir: true, Optional: true, Cause: "/sys is never writable"})
	}
	if !own && o.Root {
		for _, p := range []string{"/sys/devices/virtual/powercap", "/sys/kernel/debug", "/sys/kernel/tracing"} {
			c.ops = append(c.ops, Op{Kind: Mask, Target: p, Dir: true, Optional: true, Cause: "host details"})
		}
	}
	c.ops = append(c.ops,
		Op{Kind: Proc, Target: "/proc", Dir: true, Create: own, Root: o.Root, Cause: "only the sandbox's own processes"},
		Op{Kind: Dev, Target: "/dev", Dir: true, Create: own, Size: sizeOr(o.ShmBytes, DefaultShmBytes), Cause: "harmless devices only"})
}

// Cause names an entry for a plan: where it stands and how it was written.
func Cause(r srtconfig.PathRule) string {
	s := r.Source
	if s.Line == 0 {
		return r.List.String() + " " + quote(s.Text)
	}
	return fmt.Sprintf("%s %s (%s:%d)", r.List, quote(s.Text), s.File, s.Line)
}

func decisionCause(d evaluator.Decision) string {
	if d.Rule != nil {
		return Cause(*d.Rule)
	}
	return d.Reason.String()
}

func sortedPlaces(m map[string]place) []place {
	out := make([]place, 0, len(m))
	for _, p := range m {
		out = append(out, p)
	}
	// Comparing with the separator as the lowest byte keeps everything below a directory directly behind it.
	slices.SortFunc(out, func(a, b place) int { return ComparePaths(a.path, b.path) })
	return out
}

// ComparePaths orders paths so that a directory stands before what is below it, and nothing else between them.
func ComparePaths(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		if a[i] == '/' {
			return -1
		}
		if b[i] == '/' {
			return 1
		}
		if a[i] < b[i] {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}

// below reports whether p is dir or lies below it.
func below(p, dir string) bool {
	return dir == "/" || p == dir || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}

func sizeOr(n, def uint64) uint64 {
	if n == 0 {
		return def
	}
	return n
}
