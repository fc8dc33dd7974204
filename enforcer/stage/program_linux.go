package stage

import (
	"strings"

	"golang.org/x/sys/unix"
)

// findProgram resolves the command's name as execvp(3) does, in the finished tree and with the command's own PATH, so that a
// name means inside what it means to the command. It comes before the domain and the filter, whose refusals would read
// as "not found".
func findProgram(spec *Spec) (string, error) {
	name := spec.Argv[0]
	if strings.Contains(name, "/") {
		return name, nil // execve(2) tells what is wrong with it
	}
	denied, hidden := "", ""
	for _, dir := range strings.Split(searchPath(spec.Env), ":") {
		if dir == "" {
			dir = "."
		}
		candidate := dir + "/" + name
		var st unix.Stat_t
		switch err := unix.Stat(candidate, &st); {
		case err == unix.EACCES:
			// A directory of PATH that cannot be searched: the user's own doing, or a rule's. The launcher can tell.
			if hidden == "" {
				hidden = candidate
			}
			continue
		case err != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR:
			continue
		}
		if unix.Access(candidate, unix.X_OK) != nil {
			denied = candidate
			continue
		}
		return candidate, nil
	}
	if denied != "" {
		return "", &Failure{Layer: LayerExec, Op: "execve", Path: denied, Errno: unix.EACCES}
	}
	return "", &Failure{Layer: LayerExec, Op: "find", Path: name, Cause: hidden, Errno: unix.ENOENT}
}

// defaultPath is used when the command's environment has no PATH, as in execvp(3) but without the working directory.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

func searchPath(env []string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			return v
		}
	}
	return defaultPath
}
