package differential

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// rootMark stands for the tree's own directory, whose name is new in every run, in settings and link targets.
const rootMark = "@ROOT@"

type kind uint8

const (
	file kind = iota + 1
	dir
	link
	hardLink
)

// node is one object of the tree. Parents stand before their children.
type node struct {
	path   string // relative to the root
	kind   kind
	target string // of a link: its text; of a hard link: another node's path; of a file: its content, "" = a unique one
}

func (n node) content() string {
	if n.target != "" {
		return n.target
	}
	return "content of " + n.path
}

// world is a tree with the settings of one session in it. It is data: the same world can be made again, and smaller.
type world struct {
	base     string // directory of the host that the root is made in
	nodes    []node
	cwd      string // relative to the root
	home     string // relative to the root; "-" = none
	settings srtconfig.Settings
}

// make makes the tree and returns it. It stands in a new directory of its own, so that entries can speak of the one above
// without speaking of what others do there meanwhile. The caller removes the root's parent, also after an error.
func (w world) make() (string, error) {
	parent, err := os.MkdirTemp(w.base, "sandboxctl-differential-")
	if err != nil {
		return "", err
	}
	root := filepath.Join(parent, "t")
	if err := os.Mkdir(root, 0o755); err != nil {
		return root, err
	}
	for _, n := range w.nodes {
		if err := n.make(root); err != nil {
			return root, fmt.Errorf("make %q: %w", n.path, err)
		}
	}
	return root, nil
}

func (n node) make(root string) error {
	at := root + "/" + n.path
	switch n.kind {
	case dir:
		return os.Mkdir(at, 0o755)
	case link:
		return os.Symlink(n.linkText(root), at)
	case hardLink:
		return os.Link(root+"/"+n.target, at)
	default:
		return os.WriteFile(at, []byte(n.content()), 0o644)
	}
}

func (n node) linkText(root string) string { return strings.ReplaceAll(n.target, rootMark, root) }

// at returns the settings with the root's name in them.
func (w world) at(root string) *srtconfig.Settings {
	s := w.settings
	fill := func(in []srtconfig.PathEntry) []srtconfig.PathEntry {
		out := make([]srtconfig.PathEntry, len(in))
		for i, e := range in {
			e.Path = strings.ReplaceAll(e.Path, rootMark, root)
			out[i] = e
		}
		return out
	}
	f := &s.Filesystem
	f.DenyRead, f.AllowRead, f.AllowWrite, f.DenyWrite = fill(f.DenyRead), fill(f.AllowRead), fill(f.AllowWrite), fill(f.DenyWrite)
	return &s
}

func (w world) host(root string) srtconfig.Host {
	h := srtconfig.Host{Cwd: filepath.Join(root, w.cwd)}
	if w.home != "-" {
		h.Home = filepath.Join(root, w.home)
	}
	return h
}

// String is a script that makes the tree, and the settings.
func (w world) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "R=$(mktemp -d %s/XXXXXX)/t; mkdir $R; cd $R   # %s below\n", w.base, rootMark)
	for _, n := range w.nodes {
		at := shellQuote(n.path)
		switch n.kind {
		case dir:
			fmt.Fprintf(&b, "mkdir -- %s\n", at)
		case link:
			fmt.Fprintf(&b, "ln -s -- %s %s\n", strings.ReplaceAll(shellQuote(n.target), rootMark, `'"$R"'`), at)
		case hardLink:
			fmt.Fprintf(&b, "ln -- %s %s\n", shellQuote(n.target), at)
		default:
			fmt.Fprintf(&b, "printf %%s %s > ./%s\n", shellQuote(n.content()), at)
		}
	}
	fmt.Fprintf(&b, "cwd  %q\nhome %q\n", w.cwd, w.home)
	f := w.settings.Filesystem
	for _, l := range []struct {
		name    string
		entries []srtconfig.PathEntry
	}{{"denyRead", f.DenyRead}, {"allowRead", f.AllowRead}, {"allowWrite", f.AllowWrite}, {"denyWrite", f.DenyWrite}} {
		for _, e := range l.entries {
			fmt.Fprintf(&b, "%-10s %q", l.name, e.Path)
			if e.Literal {
				b.WriteString(" literal")
			}
			b.WriteByte('\n')
		}
	}
	if w.settings.Own.Tmp == srtconfig.TmpHost {
		b.WriteString("sandboxctl.tmp \"host\"\n")
	}
	if f.AllowGitConfig {
		b.WriteString("allowGitConfig\n")
	}
	return b.String()
}

// shellQuote writes any bytes as a word of bash or a recent POSIX shell.
func shellQuote(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			plain = false
		}
	}
	if plain {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString("'")
	return b.String()
}

// snapshot lists the tree with contents, for "nothing is left and nothing is lost".
func snapshot(root string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %q", d.Type(), strings.TrimPrefix(p, root))
		switch {
		case d.Type()&os.ModeSymlink != 0:
			text, err := os.Readlink(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " -> %q", text)
		case d.Type().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", data)
		}
		b.WriteByte('\n')
		return nil
	})
	return b.String(), err
}
