package escape

import (
	"os"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// launcherRows start a denied program through programs that start others. What is decided by name would have to know them all.
func launcherRows() []row {
	const started = "SECRET"
	rows := []row{
		{name: "start it", attempt: "secret/tool"},
		{name: "sh -c", attempt: "sh -c secret/tool"},
		{name: "sh", attempt: "sh secret/tool"},
		{name: "source it", attempt: ". ./secret/tool"},
		{name: "the dynamic loader", attempt: "$(ls /lib*/ld-linux*.so.? | head -1) ./secret/echo SECRET", before: copyEcho},
		{name: "env", attempt: "env secret/tool", needs: []string{"env"}},
		{name: "xargs", attempt: "echo | xargs secret/tool", needs: []string{"xargs"}},
		{name: "find -exec", attempt: `find free -exec secret/tool \;`, needs: []string{"find"}},
		{name: "an alias of git", attempt: "git -c alias.x='!secret/tool' x", needs: []string{"git"}},
		{name: "rg --pre", attempt: "rg --no-filename --pre $PWD/secret/tool SECRET free", needs: []string{"rg"}},
		{name: "tar --checkpoint-action", attempt: "tar --checkpoint=1 --checkpoint-action=exec=secret/tool -cf /dev/null free", needs: []string{"tar"}},
		{name: "awk system", attempt: `awk 'BEGIN { system("secret/tool") }'`, needs: []string{"awk"}},
		{name: "make", attempt: `echo 'all:; @secret/tool' | make -s -f -`, needs: []string{"make"}},
		{name: "python", attempt: `python3 -c 'import os; os.execv("secret/tool", ["tool"])'`, needs: []string{"python3"}},
		{name: "a copy", attempt: "cp secret/tool dir/; dir/tool"},
	}
	for i := range rows {
		rows[i].name = "start a denied program: " + rows[i].name
		rows[i].outside = started
	}
	return rows
}

// copyEcho puts a dynamic program into the denied directory.
func copyEcho(t *testing.T, w *testkit.World) {
	b, err := os.ReadFile("/bin/echo")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.Write("home/p/secret/echo", string(b)), 0o755); err != nil {
		t.Fatal(err)
	}
}
