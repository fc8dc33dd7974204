package shell_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sandboxctl/sandboxctl/shell"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

var list = shell.AllowList{"git", "ls", "cat", "find", "/opt/tool"}

func TestCommandsOnTheList(t *testing.T) {
	for _, command := range []string{
		"git status", "git status && ls -l | cat; ls || cat", "/usr/bin/git log", "/opt/tool x", `"git" 'status'`, `g\it status`,
		"cd sub && pwd; echo $HOME > f; test -f x && [ -d y ]; true", "for f in *; do cat \"$f\"; done", "if ls; then cat x; else exit 1; fi", "f() { git status; }; f",
		"X=1 git status", "env X=1 -u Y git status", "env -- git status", "nice -n 5 git gc", "timeout -k 1 10 git fetch", "nohup git gc &", "time ls", "command git x", "command -v rm", "exec git status",
		"find . -name x -exec cat {} \\;", "find . -exec git add {} +", "ls | xargs -n 1 -0 cat", "xargs", "sh -c 'git status; ls'", "bash -ec 'ls' arg", "sh -c -- 'git x'",
		"echo `ls` $(cat x)", "cat <<E\n$(ls)\nE", "eval 'git status'", "eval git status", "trap 'ls' EXIT", "trap - INT", "env -S 'git status'", "busybox ls", "", "# rm",
	} {
		if err := list.Check(command); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	if err := (shell.AllowList{}).Check("rm -rf / ("); err != nil {
		t.Errorf("an empty list: %v", err)
	}
}

func TestCommandsNotOnTheList(t *testing.T) {
	for command, says := range map[string]string{
		"rm x": `"rm"`, "git status; rm x": `"rm"`, "git status && rm x": `"rm"`, "git x || rm x": `"rm"`, "ls | rm": `"rm"`, "git x & rm x": `"rm"`, "ls\nrm x": `"rm"`,
		"echo $(rm x)": `"rm"`, "echo `rm x`": `"rm"`, "cat <(rm x)": `"rm"`, "cat <<E\n$(rm x)\nE": `"rm"`, "X=$(rm x) git status": `"rm"`, `echo "${x:-$(rm y)}"`: `"rm"`, "echo $(( $(rm x) ))": `"rm"`,
		"(rm x)": `"rm"`, "{ rm x; }": `"rm"`, "if rm x; then ls; fi": `"rm"`, "while rm x; do ls; done": `"rm"`, "case $(rm) in x) ls;; esac": `"rm"`, "case x in x) rm;; esac": `"rm"`, "! rm x": `"rm"`,
		"f() { rm x; }; f": `"rm"`, "[[ -n $(rm x) ]]": `"rm"`, "ls > $(rm x)": `"rm"`, "coproc rm x": `"rm"`,
		"env rm x": `"rm"`, "env -i X=1 -u Y rm x": `"rm"`, "env -C / rm x": `"rm"`, "env -S 'rm x'": `"rm"`, "env '-Srm x'": `"rm"`, "env --split-string='rm x'": `"rm"`, "nice -n 5 rm": `"rm"`, "timeout 5 rm x": `"rm"`, "timeout -s KILL 5 rm x": `"rm"`,
		"nohup nice env rm x": `"rm"`, "xargs rm": `"rm"`, "xargs -I {} -n 1 rm {}": `"rm"`, "command rm": `"rm"`, "exec -a git rm": `"rm"`, "builtin rm": `"rm"`, "time rm": `"rm"`, "busybox rm x": `"rm"`, "stdbuf -o L rm": `"rm"`, "setsid rm": `"rm"`,
		"find . -exec rm {} \\;": `"rm"`, "find . -name x -execdir rm {} +": `"rm"`, "find . -ok env rm {} \\;": `"rm"`, "find . -exec sh -c 'rm $1' _ {} \\;": `"rm"`,
		"sh -c 'rm x'": `"rm"`, `bash -c "git x; rm y"`: `"rm"`, "bash -lec 'rm x'": `"rm"`, "sh -e -c 'rm x'": `"rm"`, "sh -c -- 'rm x'": `"rm"`, "sh -c 'sh -c \"rm x\"'": `"rm"`, "eval 'rm x'": `"rm"`, "eval rm x": `"rm"`, "trap 'rm x' EXIT": `"rm"`,
		"./git status": `"./git"`, "bin/git": `"bin/git"`, "/tmp/git": `"/tmp/git"`, "tool": `"tool"`, "/opt/tools": `"/opt/tools"`, "gitx": `"gitx"`, "GIT": `"GIT"`,
		"sh script": `"sh"`, "bash": `"bash"`, ". ./x": `"."`, "source x": `"source"`, "alias git=rm": `"alias"`, "sudo git": `"sudo"`,
		"$x": "only known when it runs", `"$(echo rm)" x`: "only known when it runs", "r?": "only known when it runs", "{rm,x}": "only known when it runs", "env $x": "only known when it runs", "xargs $x": "only known when it runs", `"r"$y`: "only known when it runs", "$'rm' x": "only known when it runs",
		"sh -c \"$x\"": "only known when it runs", "eval $x": "only known when it runs", "git status (": "does not parse", "sh -c 'git ('": "does not parse",
		"PATH=. git status": `"PATH"`, "export PATH=.; git x": `"PATH"`, "LD_PRELOAD=x git x": `"LD_PRELOAD"`, "env PATH=. git": `"PATH"`, "env LD_AUDIT=x git": `"LD_AUDIT"`, "ENV=x sh -c 'git x'": `"ENV"`,
		strings.Repeat("eval ", 20) + "git": "nested too deep", strings.Repeat("find -exec ", 9000) + "rm": "too long", strings.Repeat("find -exec ", 40) + "rm": `"rm"`, "find -exec ls \\; -exec rm +": `"rm"`,
	} {
		err := list.Check(command)
		e := outcome.Of(err, "")
		if e == nil || e.Outcome != outcome.SandboxViolation || !strings.Contains(e.Error(), says) {
			t.Errorf("%s: %v; want a refusal that says %s", command, err, says)
		}
	}
}

func TestTheListOfTheSettingsIsAsked(t *testing.T) {
	w := newWorld(t, `{"sandboxctl": {"commands": {"allow": ["cat"]}}}`)
	if r := w.run(t, "echo x | cat"); *r.ExitCode != 0 {
		t.Errorf("control: %+v", r)
	}
	_, err := w.Run(t.Context(), shell.Request{Command: "ls"})
	if e := outcome.Of(err, ""); e == nil || e.Outcome != outcome.SandboxViolation || !strings.Contains(e.Error(), `"ls" is not among them`) {
		t.Errorf("got %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, c := range []string{"git status && rm x", "env -S 'a b'", "sh -c \"$(x)\"", "find . -exec rm {} +", "f() { f; }; f", "eval eval 'x'", "a\\\n b", "${x?}[", "xargs -", "command", "trap", "env A=b"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command string) {
		// It returns, and what is on no list but an empty one is refused behind whatever else there is.
		begin := time.Now()
		_ = list.Check(command)
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%d bytes took %v: %.200q", len(command), took, command)
		}
		if strings.Contains(command, "rm") {
			return // it may declare a function of that name
		}
		if err := list.Check("rm x\n" + command); err == nil {
			t.Errorf("rm is let through before %q", command)
		}
	})
}
