package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// AllowList names the programs that command lines may start: a name for the program of that name from the usual directories,
// or an absolute path for exactly that file. Empty means any.
//
// It is advice and no boundary. It sees what stands in the text: chains, pipelines, substitutions, functions, the programs that
// env, xargs, sh -c, find -exec and their like start. It does not see what a program starts that is on the list: git has
// aliases and hooks, make has recipes, and an interpreter does as it likes.
type AllowList []string

// Check returns nil, or an *outcome.Error of the outcome SandboxViolation that names the first program that is not on the
// list, or the place where the text does not tell which program runs.
func (a AllowList) Check(command string) error {
	if len(a) == 0 {
		return nil
	}
	c := &checker{list: a, functions: map[string]bool{}}
	c.script(command)
	return c.err
}

// maxNesting bounds scripts within scripts.
const maxNesting = 16

// maxWords bounds the work: a command within a command within a command is looked at as often as it is deep.
const maxWords = 1 << 20

type checker struct {
	list      AllowList
	functions map[string]bool // declared in the text, so that what they run is looked at there
	depth     int
	words     int // looked at so far
	err       error
}

func (c *checker) refuse(detail outcome.Plain) {
	if c.err == nil {
		e := outcome.New(outcome.SandboxViolation, toolName, nil)
		e.Detail = detail
		c.err = e
	}
}

const listed outcome.Plain = "The settings list the programs that a command may start, and "

func (c *checker) script(text string) {
	if c.depth++; c.depth > maxNesting {
		c.refuse(listed + "the scripts in this one are nested too deep to tell which it starts.")
		return
	}
	defer func() { c.depth-- }()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		c.refuse(listed + "this one does not parse, so that it cannot be told which it starts.")
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			c.functions[f.Name.Value] = true
		}
		return true
	})
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			c.call(n.Args)
		case *syntax.Assign:
			if n.Name != nil && (slices.Contains(steering, n.Name.Value) || strings.HasPrefix(n.Name.Value, "LD_")) {
				c.refuse(outcome.Quoted(listed+"setting ", n.Name.Value, " changes which program a name stands for."))
			}
		}
		return c.err == nil
	})
}

// steering are variables that make a name or a shell run something else.
var steering = []string{"PATH", "ENV", "BASH_ENV", "SHELLOPTS", "PROMPT_COMMAND", "PS4"}

// builtins start no program.
var builtins = []string{":", "[", "break", "cd", "continue", "dirs", "echo", "exit", "false", "getopts", "hash", "jobs", "kill", "popd", "printf",
	"pushd", "pwd", "read", "return", "set", "shift", "shopt", "test", "times", "true", "type", "ulimit", "umask", "unset", "wait"}

// wrapper says how to find the program that another one starts.
type wrapper struct {
	valued []string // options that take the next word
	skip   int      // operands before the program
}

// wrappers only start what they are given, so that they need not be on the list themselves.
var wrappers = map[string]wrapper{
	"builtin": {}, "nohup": {}, "setsid": {}, "busybox": {}, "toybox": {},
	"command": {}, "exec": {valued: []string{"-a"}},
	"env":     {valued: []string{"-u", "--unset", "-C", "--chdir"}},
	"nice":    {valued: []string{"-n", "--adjustment"}},
	"ionice":  {valued: []string{"-c", "-n", "--class", "--classdata"}},
	"timeout": {valued: []string{"-s", "--signal", "-k", "--kill-after"}, skip: 1},
	"time":    {valued: []string{"-f", "--format", "-o", "--output"}},
	"stdbuf":  {valued: []string{"-i", "-o", "-e", "--input", "--output", "--error"}},
	"taskset": {skip: 1},
	"xargs": {valued: []string{"-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s", "--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs",
		"--max-chars", "--process-slot-var"}},
}

var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"}

func (c *checker) call(args []*syntax.Word) {
	if len(args) == 0 || c.err != nil {
		return
	}
	if c.words += len(args); c.words > maxWords {
		c.refuse(listed + "this one is too long to tell which it starts.")
		return
	}
	name, ok := literal(args[0])
	if !ok {
		c.refuse(listed + "this one starts a program whose name is only known when it runs.")
		return
	}
	base := name
	if dir := path.Dir(name); dir == "/bin" || dir == "/usr/bin" {
		base = path.Base(name)
	}
	w, wraps := wrappers[base]
	switch {
	case c.functions[name]:
	case base == "eval":
		c.code(args[1:])
	case base == "trap":
		if len(args) > 2 {
			c.code(args[1:2])
		}
	case slices.Contains(shells, base) && c.shell(args[1:]):
	case wraps:
		c.wrapped(base, w, args[1:])
	case slices.Contains(builtins, name):
	case !c.list.names(name):
		c.refuse(outcome.Quoted(listed, name, " is not among them."))
	case base == "find" || base == "fd" || base == "fdfind":
		c.find(args[1:])
	}
}

// names reports whether a program is on the list. A relative path is never the program of that name: it may be any file.
func (a AllowList) names(name string) bool {
	if slices.Contains(a, name) {
		return true
	}
	dir, base := path.Split(name)
	return (dir == "/bin/" || dir == "/usr/bin/") && slices.Contains(a, base)
}

// code looks at words that a shell joins and runs.
func (c *checker) code(words []*syntax.Word) {
	var text []string
	for _, w := range words {
		lit, ok := literal(w)
		if !ok {
			c.refuse(listed + "this one runs text that is only known when it runs.")
			return
		}
		text = append(text, lit)
	}
	if joined := strings.Join(text, " "); joined != "-" && joined != "" {
		c.script(joined)
	}
}

// shell looks at the script of sh -c, and reports whether there is one. Without it, the shell is a program like others.
func (c *checker) shell(args []*syntax.Word) bool {
	for i, w := range args {
		text, ok := literal(w)
		if !ok || text == "" || text[0] != '-' && text[0] != '+' {
			return false
		}
		if strings.HasPrefix(text, "--") {
			continue
		}
		if !strings.Contains(text, "c") {
			continue
		}
		rest := args[i+1:]
		for len(rest) > 0 { // further options, and the "--" before the script
			if more, ok := literal(rest[0]); !ok || !strings.HasPrefix(more, "-") {
				break
			}
			rest = rest[1:]
		}
		if len(rest) > 0 {
			c.code(rest[:1])
		}
		return true
	}
	return false
}

// wrapped finds the program after a wrapper's options and operands.
func (c *checker) wrapped(name string, w wrapper, args []*syntax.Word) {
	skip := w.skip
	for len(args) > 0 {
		text, ok := literal(args[0])
		switch {
		case !ok && skip == 0:
			c.call(args) // refused: the name is not known
			return
		case !ok:
			skip--
		case name == "command" && (text == "-v" || text == "-V"):
			return // it only looks
		case name == "env" && (strings.HasPrefix(text, "-S") || strings.HasPrefix(text, "--split-string") || text == "-vS"):
			c.split(text, args)
			return
		case name == "env" && isAssignment(text):
			variable, _, _ := strings.Cut(text, "=")
			if slices.Contains(steering, variable) || strings.HasPrefix(variable, "LD_") {
				c.refuse(outcome.Quoted(listed+"setting ", variable, " changes which program a name stands for."))
				return
			}
		case text == "--":
		case strings.HasPrefix(text, "-") && slices.Contains(w.valued, text):
			if len(args) > 1 {
				args = args[1:]
			}
		case strings.HasPrefix(text, "-"):
		case skip > 0:
			skip--
		default:
			c.call(args)
			return
		}
		args = args[1:]
	}
}

// split looks at the string that env -S makes a command of.
func (c *checker) split(option string, args []*syntax.Word) {
	text := strings.TrimPrefix(strings.TrimPrefix(option, "--split-string"), "-S")
	switch {
	case text == "" || text == "-vS":
		c.code(args[1:])
	case len(args) > 1:
		c.refuse(listed + "env -S builds a command whose parts cannot be told.")
	default:
		c.script(strings.TrimPrefix(text, "="))
	}
}

func isAssignment(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && syntax.ValidName(name)
}

// find looks at the programs of -exec and its like, each up to its ";" or "+".
func (c *checker) find(args []*syntax.Word) {
	for i := 0; i < len(args); i++ {
		text, _ := literal(args[i]) // what is not literal is no action's name that could be seen here
		switch text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(args) && !terminates(args[end]) {
				end++
			}
			c.call(args[i+1 : end])
			i = end
		}
	}
}

func terminates(w *syntax.Word) bool {
	text, ok := literal(w)
	return ok && (text == ";" || text == "+")
}
