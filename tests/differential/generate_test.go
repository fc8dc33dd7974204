package differential

import (
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// generator makes worlds from random numbers. The same numbers make the same world.
type generator struct {
	*rand.Rand
	w      world
	kinds  map[string]kind // by path; "" is the root
	dirs   []string
	chosen []string // paths that entries speak of already, to nest further ones
}

// plainNames are few, so that paths meet; oddNames break careless code.
var (
	plainNames = []string{"a", "b", "c", "d", "src", "secret", "k.env", "l.env", "key.pem", "work", "work2", "x1", "x2"}
	oddNames   = []string{
		"sp ace", "new\nline", "[id]", "p[1]", "-rf", "--", "*", "q?", "{a,b}", "!bang", "#c", "a'b", `a"b`, `a\b`, "$HOME", "~", "~user",
		" lead", "trail ", "\xff\xfe", "caf\xc3\xa9", "cafe\xcc\x81", "\x80.env", "\t", "...", "..x", "%41", "a,b", "\x1b[31m", strings.Repeat("n", 255),
	}
	protectedNames = []string{".bashrc", ".gitconfig", ".mcp.json", ".vscode", ".idea", ".git", ".claude", ".profile", ".gitmodules"}
)

func newGenerator(seed, n uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, n)), kinds: map[string]kind{"": dir}, dirs: []string{""}}
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, of []T) T { return of[g.IntN(len(of))] }

func (g *generator) name() string {
	switch n := g.IntN(100); {
	case n < 70:
		return pick(g, plainNames)
	case n < 85:
		return pick(g, oddNames)
	default:
		return pick(g, protectedNames)
	}
}

func (g *generator) add(n node) {
	if g.kinds[n.path] != 0 {
		return
	}
	g.kinds[n.path] = n.kind
	g.w.nodes = append(g.w.nodes, n)
	if n.kind == dir {
		g.dirs = append(g.dirs, n.path)
	}
}

func (g *generator) world() world {
	g.w.base = "/var/tmp"
	if g.chance(25) {
		g.w.base = "/tmp"
		if g.chance(30) {
			g.w.settings.Own.Tmp = srtconfig.TmpHost
		}
	}
	for range 6 + g.IntN(20) {
		g.grow()
	}
	if g.chance(30) {
		g.repository(pick(g, g.dirs))
	}
	g.w.cwd = ""
	if g.chance(40) {
		g.w.cwd = pick(g, g.dirs)
	}
	switch {
	case g.chance(15):
		g.w.home = "-"
	case g.chance(30):
		g.w.home = ""
	default:
		g.w.home = pick(g, g.dirs)
	}
	g.lists()
	return g.w
}

func (g *generator) grow() {
	const maxDepth = 4
	parent := pick(g, g.dirs)
	if strings.Count(parent, "/") >= maxDepth-1 {
		parent = ""
	}
	at := path.Join(parent, g.name())
	switch n := g.IntN(100); {
	case n < 42:
		g.add(node{path: at, kind: dir})
	case n < 80:
		g.add(node{path: at, kind: file})
	case n < 95:
		g.add(node{path: at, kind: link, target: g.linkText(at)})
	default:
		if of := g.some(file); of != "" {
			g.add(node{path: at, kind: hardLink, target: of})
		}
	}
}

// some returns the path of a node of a kind; "" when there is none.
func (g *generator) some(k kind) string {
	var all []string
	for _, n := range g.w.nodes {
		if n.kind == k {
			all = append(all, n.path)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return pick(g, all)
}

func (g *generator) linkText(at string) string {
	target := g.anyPath()
	switch n := g.IntN(100); {
	case n < 10:
		return pick(g, []string{".", "..", "../..", path.Base(at), "/etc", "/etc/hostname", "nowhere", "../nowhere", rootMark + "/nowhere"})
	case n < 50:
		return rootMark + "/" + target
	}
	rel, err := filepath.Rel("/"+path.Dir(at), "/"+target)
	if err != nil {
		return target
	}
	return rel
}

// anyPath returns the path of any node, or of the root.
func (g *generator) anyPath() string {
	if len(g.w.nodes) == 0 || g.chance(3) {
		return ""
	}
	return pick(g, g.w.nodes).path
}

// repository makes what git takes for one, with parts missing now and then.
func (g *generator) repository(at string) {
	git := path.Join(at, ".git")
	if g.chance(15) {
		g.add(node{path: git, kind: file, target: "gitdir: " + pick(g, []string{"a", "../a", "src/b", rootMark}) + "\n"})
		return
	}
	g.add(node{path: git, kind: dir})
	if g.kinds[git] != dir {
		return
	}
	for _, d := range []string{"objects", "refs", "hooks", "info"} {
		if !g.chance(85) {
			continue
		}
		g.add(node{path: path.Join(git, d), kind: dir})
	}
	g.add(node{path: path.Join(git, "HEAD"), kind: file, target: "ref: refs/heads/main\n"})
	config := "[core]\n\tbare = false\n"
	if g.chance(40) {
		config += "\thooksPath = " + pick(g, []string{"a", "src", "../b", "hooks", "x1/c"}) + "\n"
	}
	if g.chance(80) {
		g.add(node{path: path.Join(git, "config"), kind: file, target: config})
	}
	if g.kinds[path.Join(git, "hooks")] == dir && g.chance(50) {
		g.add(node{path: path.Join(git, "hooks/pre-commit"), kind: file})
	}
}

// lists fills the four lists.
func (g *generator) lists() {
	f := &g.w.settings.Filesystem
	if g.chance(65) {
		f.AllowWrite = append(f.AllowWrite, g.spell("", dir))
		g.chosen = append(g.chosen, "")
	}
	for _, l := range []struct {
		list *[]srtconfig.PathEntry
		most int
	}{{&f.DenyRead, 4}, {&f.AllowRead, 4}, {&f.AllowWrite, 4}, {&f.DenyWrite, 3}} {
		for range g.IntN(l.most + 1) {
			*l.list = append(*l.list, g.entry())
		}
	}
	if g.chance(3) {
		// All of the host, or all of what lies around the tree. The tree itself is re-opened, for the working directory.
		f.DenyRead = append(f.DenyRead, srtconfig.PathEntry{Path: pick(g, []string{"/", g.w.base, "/var", rootMark, rootMark + "/.."})})
		f.AllowRead = append(f.AllowRead, g.spell(g.w.cwd, dir), srtconfig.PathEntry{Path: "/etc"})
	}
	if g.chance(3) {
		f.AllowWrite = append(f.AllowWrite, srtconfig.PathEntry{Path: rootMark + "/.."})
	}
	f.AllowGitConfig = g.chance(15)
}

// entry speaks of a path of the tree, often above or below one that another entry speaks of.
func (g *generator) entry() srtconfig.PathEntry {
	if g.chance(12) {
		return g.pattern()
	}
	at := g.anyPath()
	if len(g.chosen) > 0 && g.chance(50) {
		if near := g.near(pick(g, g.chosen)); near != "" {
			at = near
		}
	}
	k := g.kinds[at]
	if g.chance(6) {
		at, k = path.Join(at, "absent"), 0
	}
	g.chosen = append(g.chosen, at)
	return g.spell(at, k)
}

// near returns an existing path strictly above or below another; "" when there is none.
func (g *generator) near(at string) string {
	var all []string
	for _, n := range g.w.nodes {
		if n.path != at && (at == "" || strings.HasPrefix(n.path, at+"/") || strings.HasPrefix(at, n.path+"/")) {
			all = append(all, n.path)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return pick(g, all)
}

// spell writes a path of the tree as one of the forms that settings take.
func (g *generator) spell(at string, k kind) srtconfig.PathEntry {
	var e srtconfig.PathEntry
	switch n := g.IntN(100); {
	case n < 40 || strings.HasPrefix(at, "~"):
		e.Path = strings.TrimSuffix(rootMark+"/"+at, "/")
	case n < 60 && g.w.home != "-":
		rel, _ := filepath.Rel("/"+g.w.home, "/"+at)
		e.Path = "~/" + rel
	default:
		rel, _ := filepath.Rel("/"+g.w.cwd, "/"+at)
		e.Path = rel
		if g.chance(30) || strings.HasPrefix(rel, "~") {
			e.Path = "./" + rel
		}
	}
	switch {
	case strings.ContainsAny(e.Path, "$\\") || strings.TrimSpace(e.Path) != e.Path:
		e.Literal = true
	case strings.ContainsAny(e.Path, "*?[]"):
		e.Literal = g.chance(60)
	default:
		e.Literal = g.chance(10)
	}
	if k == dir && !e.Literal && g.chance(25) {
		e.Path += pick(g, []string{"/", "/**", "/.", "//"})
	}
	return e
}

func (g *generator) pattern() srtconfig.PathEntry {
	base := pick(g, g.dirs)
	p := pick(g, []string{"*", "*.env", "**/*.env", "?", "[ab]", "[!ab]*", "**/secret", "*/a", "**/[xk]*", "s*", "*/*", ".*", "**/.bashrc", "work*"})
	text := p
	if base != "" && !strings.ContainsAny(base, "*?[]$\\ \t") {
		text = base + "/" + p
	}
	if g.chance(50) {
		text = rootMark + "/" + text
	} else if strings.HasPrefix(text, "~") {
		text = "./" + text
	}
	return srtconfig.PathEntry{Path: text}
}

// questions are what to try in the world, most-used paths first: every node, nodes through links, names that are absent.
func (g *generator) questions(most int) []question {
	var all []question
	for _, at := range g.places() {
		all = append(all, g.about(at)...)
	}
	for _, d := range append(slices.Clone(g.dirs), g.throughLinks()...) {
		all = append(all, g.creations(d)...)
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(most, len(all))]
}

// places returns the tree's paths, and further spellings that lead through links.
func (g *generator) places() []string {
	places := []string{""}
	for _, n := range g.w.nodes {
		places = append(places, n.path)
	}
	for _, d := range g.throughLinks() {
		places = append(places, d)
		target, _ := g.resolve(d)
		for _, n := range g.w.nodes {
			if path.Dir(n.path) == target || path.Dir(n.path) == "." && target == "" {
				places = append(places, d+"/"+path.Base(n.path))
			}
		}
	}
	return places
}

// throughLinks returns links to directories, as paths.
func (g *generator) throughLinks() []string {
	var out []string
	for _, n := range g.w.nodes {
		if n.kind != link {
			continue
		}
		if target, ok := g.resolve(n.path); ok && g.kinds[target] == dir {
			out = append(out, n.path)
		}
	}
	return out
}

// resolve follows one link of the tree to another path of it.
func (g *generator) resolve(at string) (string, bool) {
	for _, n := range g.w.nodes {
		if n.path != at || n.kind != link {
			continue
		}
		text, absolute := strings.CutPrefix(n.target, rootMark)
		if !absolute {
			if path.IsAbs(text) {
				return "", false
			}
			text = path.Join("/", path.Dir(at), text)
		}
		return strings.TrimPrefix(path.Clean("/"+text), "/"), true
	}
	return at, true
}

// path writes a path of the tree as a program names it.
func (g *generator) path(at string) []byte {
	if g.chance(20) && !strings.Contains(at, "..") {
		if rel, err := filepath.Rel("/"+g.w.cwd, "/"+at); err == nil && path.Base(rel) != "." && path.Base(rel) != ".." {
			return []byte(rel)
		}
	}
	return []byte(strings.TrimSuffix(rootMark+"/"+at, "/"))
}

func (g *generator) about(at string) []question {
	if at == "" {
		return []question{{Op: opList, Path: g.path(at)}, {Op: opEnter, Path: g.path(at)}}
	}
	fresh := func(in string) []byte { return []byte(rootMark + "/" + path.Join(in, "sandboxctl-fresh")) }
	beside := fresh(path.Dir(at))
	if strings.Contains(path.Dir(at), "/") { // through a link, path.Join may not clean
		beside = []byte(rootMark + "/" + path.Dir(at) + "/sandboxctl-fresh")
	}
	ops := []question{
		{Op: opRename, Path: g.path(at), To: beside},
		{Op: opExchange, Path: g.path(at), To: beside},
		{Op: opMove, Path: g.path(at), To: fresh(pick(g, g.dirs))},
	}
	target, _ := g.resolve(at)
	if g.kinds[at] == dir {
		ops = append(ops, question{Op: opRmdir, Path: g.path(at)})
	} else {
		ops = append(ops, question{Op: opUnlink, Path: g.path(at)})
	}
	if g.kinds[target] == dir {
		return append(ops, question{Op: opList, Path: g.path(at)}, question{Op: opEnter, Path: g.path(at)})
	}
	if g.kinds[at] == link && g.kinds[target] == 0 {
		return append(ops, question{Op: opThrough, Path: g.path(at)})
	}
	return append(ops,
		question{Op: opRead, Path: g.path(at)},
		question{Op: opWrite, Path: g.path(at)},
		question{Op: opTruncate, Path: g.path(at)},
		question{Op: opReplace, Path: g.path(at), To: beside},
		question{Op: opHardLink, Path: g.path(at), To: fresh(pick(g, g.dirs))})
}

func (g *generator) creations(d string) []question {
	var out []question
	names := []string{"fresh", pick(g, oddNames), pick(g, plainNames), pick(g, protectedNames), "absent"}
	for _, name := range names {
		at := d + "/" + name
		if d == "" {
			at = name
		}
		out = append(out, question{Op: pick(g, []operation{opCreate, opMkdir, opSymlink}), Path: g.path(at)})
	}
	return out
}
