package field

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// An absolute path was read as relative to the settings file, so that the rule was about nothing, and nobody was told.
func TestPathsHaveOneBase(t *testing.T) {
	for _, c := range []struct{ entry, file string }{
		{"ABS/real", "abs/real"},
		{"/ABS/real", "abs/real"}, // a doubled slash says nothing else
		{"./x", "home/p/proj/x"},
		{"x", "home/p/proj/x"},
		{"x/", "home/p/proj/x"},
		{"../x", "home/p/x"},
		{"./../x", "home/p/x"},
		{"~/x", "home/x"},
		{"~//x", "home/x"},
		{"~/./p/../x", "home/x"},
	} {
		t.Run(strings.ReplaceAll(c.entry, "/", "|"), func(t *testing.T) {
			w := newWorld(t)
			// The settings lie in a directory of their own, which has files of the same names.
			candidates := []string{"abs/real", "home/p/x", "home/x", "home/p/proj/x", "home/p/conf/x", "home/p/conf/real", "x"}
			for _, f := range candidates {
				w.Write(f+"/f", secret)
			}
			entry := strings.ReplaceAll(c.entry, "ABS", w.Path("abs"))
			b, err := json.Marshal(map[string]any{"filesystem": testkit.FS{DenyRead: []string{entry}}})
			if err != nil {
				t.Fatal(err)
			}
			settings := w.Write("home/p/conf/s.json", string(b))
			dir := w.Path("home/p/proj")
			for _, spelled := range []string{settings, "../conf/s.json"} {
				for _, f := range candidates {
					path := w.Path(f) + "/f"
					want, code := secret, 0
					if f == c.file {
						want, code = "", 1
					}
					startIn(t, w, dir, w.Env, "run", "-q", "-s", spelled, "--", "cat", path).code(code).prints(want)
					startIn(t, w, dir, w.Env, "explain", "read", "-s", spelled, path).code(code)
				}
			}
			show := startIn(t, w, dir, w.Env, "settings", "show", "-s", settings)
			if !strings.Contains(show.Stdout, w.Path(c.file)) {
				t.Errorf("settings show does not print %s:\n%s", w.Path(c.file), show.Stdout)
			}
		})
	}
}

// An entry that nothing would expand was kept as a name that does not exist.
func TestEntriesThatNothingExpandsAreErrors(t *testing.T) {
	for _, c := range []struct{ entry, says string }{
		{"~root/x", "~root"}, {"~nobody", "~nobody"}, {"~nosuchuser/x", "~nosuchuser"},
		{"$HOME/x", "$HOME"}, {"${HOME}/x", "${HOME}"}, {"$TMPDIR", "$TMPDIR"}, {"./$X/y", "$X"},
		{"", "empty"}, {" ", ""}, {" /x", "space"}, {"/x ", "space"}, {"a\x00b", "NUL"},
	} {
		for _, key := range []string{"denyRead", "allowRead", "allowWrite", "denyWrite"} {
			t.Run(key+" "+strings.NewReplacer("/", "|", "\x00", "NUL").Replace(c.entry), func(t *testing.T) {
				w := newWorld(t)
				settings := entries(t, w, list{key, []string{".", c.entry}})
				start(t, w, "run", "-s", settings, "--", "true").refuses("/filesystem/"+key+"/1", settings+":1:", c.says)
				start(t, w, "settings", "check", "-s", settings).code(refused).says("/filesystem/" + key + "/1")
			})
		}
	}
}

// A rule about something that is not there is told, or kept for when it appears.
func TestEntriesThatDoNotExistAreTold(t *testing.T) {
	w := newWorld(t)
	for key, told := range map[string]string{"allowWrite": "allowWrite", "allowRead": "allowRead"} {
		settings := entries(t, w, list{key, []string{"./nothing/here"}}, list{"denyRead", []string{"./absent"}})
		inside(t, w, settings, "echo ran").code(0).prints("ran\n").says(told).says("./nothing/here").never("./absent")
		if o := start(t, w, "settings", "check", "-s", settings); !strings.Contains(o.Stdout+o.Stderr, "./nothing/here") {
			t.Errorf("settings check says %q, %q", o.Stdout, o.Stderr)
		}
	}
	settings := entries(t, w, list{"allowWrite", []string{"./nothing"}})
	inside(t, w, settings, "mkdir nothing; echo x > nothing/f").says(readOnly)
	wantAbsent(t, w, "home/p/nothing")

	denied := w.Settings(testkit.FS{DenyRead: []string{"./later"}, AllowWrite: []string{"."}})
	start(t, w, "explain", "read", "-s", denied, "later").code(1)
	w.Write("home/p/later", secret)
	inside(t, w, denied, "cat later").code(1).prints("").says(accessDenied)
	inside(t, w, w.Settings(testkit.Base()), "cat later").prints(secret)
}

// A relative entry belongs to the session, wherever a link led there.
func TestRelativeEntriesThroughALinkToTheProject(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/k", secret)
	outside(t, w, "ln -s p ~/link").code(0)
	settings := w.Settings(testkit.FS{DenyRead: []string{"./k"}, AllowWrite: []string{"~/link"}})
	for _, dir := range []string{w.P, w.Path("home/link")} {
		startIn(t, w, dir, setEnv(w.Env, "PWD", dir), "run", "-q", "-s", settings, "-c", "cat k ~/link/k; echo x > ~/link/new && cat new").prints("x\n").says(accessDenied)
	}
	outside(t, w, "cat k ~/link/k").prints(secret + secret)
}
