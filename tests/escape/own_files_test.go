package escape

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// What decides about the next run lies in a writable tree here, as it does when a project brings its own settings.
func TestTheCommandCannotChangeItsOwnRules(t *testing.T) {
	testkit.NeedFull(t)
	for _, c := range []struct{ name, file string }{
		{"settings", "home/p/conf/sandbox.json"},
		{"settings by default", "home/.srt-settings.json"},
		{"seccomp profile", "home/p/conf/profile.json"},
		{"sandboxctl", "home/p/conf/sandboxctl"},
	} {
		for _, attempt := range []string{
			"echo evil > F", "echo evil >> F", "rm -f F", "mv F G", "echo evil > G; mv G F", "ln -f G F", "truncate -s 0 F", "chmod 0 F",
			"cp -f G F", "sed -i s/a/b/ F", "ln -sf G F", "mv D E",
		} {
			t.Run(c.name+": "+attempt, func(t *testing.T) {
				w := testkit.NewWorld(t)
				program, err := os.ReadFile(w.Bin)
				if err != nil {
					t.Fatal(err)
				}
				bin := w.Write("home/p/conf/sandboxctl", string(program))
				if err := os.Chmod(bin, 0o755); err != nil {
					t.Fatal(err)
				}
				w.Write("home/p/conf/profile.json", `{"defaultAction": "SCMP_ACT_ALLOW"}`)
				const policy = `{"filesystem": {"allowWrite": ["~"]}, "sandboxctl": {"seccompProfile": "conf/profile.json"}}`
				settings := w.Write("home/p/conf/sandbox.json", policy)
				w.Write("home/.srt-settings.json", policy)
				w.Write("home/p/g", "evil\n")
				file := w.Path(c.file)
				was, mode := snapshot(t, file)
				line := strings.NewReplacer("F", file, "G", w.P+"/g", "D", filepath.Dir(file), "E", w.Home+"/e").Replace(attempt)
				if r := run(t, w, standard{}, bin, "run", "-q", "-s", settings, "-c", line); r.Code == refused {
					t.Fatalf("it did not start: %s", r.Stderr)
				}
				if now, m := snapshot(t, file); now != was || m != mode {
					t.Errorf("the file was changed: mode %v, %.40q", m, now)
				}
				if attempt == "mv D E" && c.name == "settings by default" {
					return // the home directory itself; no control moves it
				}
				w.Outside(line)
				if now, m := snapshot(t, file); now == was && m == mode {
					t.Errorf("control: outside the file stays")
				}
			})
		}
	}
}

// snapshot is what a file holds and its mode; "" and 0 when it is not there.
func snapshot(t *testing.T, path string) (string, os.FileMode) {
	t.Helper()
	st, err := os.Lstat(path)
	if err != nil {
		return "", 0
	}
	if st.Mode().Perm() == 0 {
		return "", st.Mode()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", st.Mode()
	}
	return string(b), st.Mode()
}

// Names are the command's own choice; a message of ours that holds one is not to move the cursor or set the title.
func TestMessagesOfOursHoldNoControlCharacters(t *testing.T) {
	testkit.NeedFull(t)
	w := testkit.NewWorld(t)
	const name = "d\x1b]0;title\x07\x1b[2J\r\u202esandboxctl: approved\nx"
	w.Write("home/p/"+name, secret)
	settings := w.Settings(lists(testkit.FS{DenyRead: []string{"./" + name}, AllowWrite: []string{"."}}))
	for _, args := range [][]string{
		{"run", "-s", settings, "--", "cat", name},
		{"run", "-s", settings, "--", name},
		{"run", "-s", settings, "--", "./" + name},
		{"run", "-s", settings, "--cwd", name, "--", "true"},
		{"run", "-s", name, "--", "true"},
		{"run", "--" + name, "--", "true"},
		{"explain", "-s", settings, "read", name},
	} {
		r := w.Run(args...)
		if r.Code == 0 {
			t.Errorf("%q: code 0", args)
		}
		own := r.Stderr
		if args[len(args)-2] == "cat" {
			own = own[strings.Index(own, "sandboxctl: "):] // what cat says is its own affair
		}
		for _, s := range []string{own, r.Stdout} {
			if i := strings.IndexAny(s, "\x1b\x07\r\u202e"); i >= 0 {
				t.Errorf("%q: %q holds a control character at %d", args, s, i)
			}
		}
		for _, line := range strings.Split(strings.TrimSuffix(own, "\n"), "\n") {
			if line != "" && !strings.HasPrefix(line, "sandboxctl: ") {
				t.Errorf("%q: the line %q is not marked as ours", args, line)
			}
		}
	}
}
