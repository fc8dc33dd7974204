package lint

// rule forbids a call of a package in the project's own code.
type rule struct {
	pkg, name string   // import path and function; name "*" = every use of the package
	except    []string // directories below which it is allowed
	tests     bool     // tests too
	reason    string
}

// forbidden is the table. A reason says what an attacker gains, or what breaks.
var forbidden = []rule{
	{pkg: "os", name: "Create", except: []string{"internal/testkit", "enforcer/seccomp/internal"},
		reason: "follows a symlink that the sandboxed command planted and truncates its target: use O_EXCL|O_NOFOLLOW by descriptor"},
	{pkg: "os", name: "IsNotExist", tests: true, reason: "does not unwrap: a wrapped error reads as another cause; use errors.Is"},
	{pkg: "os", name: "IsExist", tests: true, reason: "does not unwrap; use errors.Is"},
	{pkg: "os", name: "IsPermission", tests: true, reason: "does not unwrap: a refusal reads as a failure; use errors.Is"},
	{pkg: "os", name: "Chdir", reason: "changes the meaning of relative paths for every goroutine"},
	{pkg: "os", name: "Setenv", reason: "changes the environment of every command started meanwhile"},
	{pkg: "syscall", name: "Umask", reason: "changes the mode of files that other goroutines create"},
	{pkg: "os/exec", name: "Command", except: []string{"enforcer/seccomp/internal/generate"}, reason: "has no context: what it starts outlives a cancelled call; use CommandContext, or the enforcer"},
	{pkg: "path/filepath", name: "EvalSymlinks", except: []string{"cmd/sandboxctl", "enforcer/explain_linux.go"},
		reason: "checks a name that can be swapped before it is used: open it and ask about the descriptor; messages may use it"},
	{pkg: "io/ioutil", name: "*", tests: true, reason: "superseded, and its temporary files are predictable on old versions"},
	{pkg: "math/rand", name: "*", reason: "names of spools and secrets must not be guessed; use crypto/rand"},
	{pkg: "time", name: "Sleep", tests: true, reason: "waits for a state by luck; wait for the state"},
}

// unixOnlyIn are the directories that may use golang.org/x/sys/unix: the places where system calls are reviewed.
var unixOnlyIn = []string{"enforcer", "tools", "internal", "cmd/sandboxctl", "artifact", "srtconfig", "shell", "search", "tests", "bench"}
