package field

import (
	"os"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/internal/testkit"
)

// "dir/**" was kept as a name with stars, which does not exist, so that the rule was dropped.
func TestEveryFormOfADirectoryMeansWhatIsDocumented(t *testing.T) {
	const touch = "touch t/d/e/new && echo inner; touch t/d/old && echo old; touch t/d/new && echo new; touch other && echo other"
	for _, form := range []string{"./t/d/**", "./t/d/*", "./t/d/", "./t/d", "t/d", "t/d/**", "~/p/t/d/**", "ABS/t/d/**", "ABS/t/d/*"} {
		for _, c := range []struct {
			pairs []list
			line  string
			whole string // what it prints where the form means the directory
			star  string // … and what is in it now
		}{
			{[]list{{"allowWrite", nil}}, touch, "inner\nold\nnew\n", "inner\nold\n"},
			{[]list{{"denyWrite", nil}, {"allowWrite", []string{"."}}}, touch, "other\n", "new\nother\n"},
			{[]list{{"denyRead", nil}}, "cat t/d/old t/d/e/old; ls t/d", "", "e\nold\n"},
			{[]list{{"allowRead", nil}, {"denyRead", []string{"./t"}}}, "cat t/d/old t/d/e/old t/hidden", "old\nold\n", "old\nold\n"},
		} {
			t.Run(c.pairs[0].key+" "+strings.ReplaceAll(form, "/", "|"), func(t *testing.T) {
				w := newWorld(t)
				w.Write("home/p/t/d/old", "old\n")
				w.Write("home/p/t/d/e/old", "old\n")
				w.Write("home/p/t/hidden", secret)
				c.pairs[0].entries = []string{strings.ReplaceAll(form, "ABS", w.P)}
				want := c.whole
				if strings.HasSuffix(form, "/*") {
					want = c.star
				}
				inside(t, w, entries(t, w, c.pairs...), c.line).prints(want).saysOneOf(readOnly, accessDenied, "No such file")
				for _, name := range []string{"home/p/**", "home/p/*", "home/p/t/d/**", "home/p/t/d/*"} {
					wantAbsent(t, w, name)
				}
			})
		}
	}
}

// A name with brackets was taken for a pattern: a denial of it matched nothing, and a writable directory was lost.
func TestLiteralNamesThatLookLikePatterns(t *testing.T) {
	for _, name := range []string{
		"p[1]", "[id]", "[...slug]", "q*", "a?b", "{a,b}", "!x", "-x", "--", "a b", " lead", "n\nl", "tab\tx", "back\\slash", "quote'\"", "#x",
		"é", "e\u0301", "[", "a]", "[!x]", "**", "(x)", "@(a|b)", "100%", "%2e%2e",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Write("home/"+name+"/secret/k", secret)
			w.Write("home/"+name+"/closed/f", "before\n")
			dir := w.Path("home/" + name)
			settings := w.Settings(testkit.FS{DenyRead: []string{dir + "/secret"}, AllowWrite: []string{dir}, DenyWrite: []string{dir + "/closed"}})
			in := func(s, line string) outcome {
				return outcome{t, line, w.RunIn(dir, w.Env, "", "run", "-q", "-s", s, "-c", line)}
			}
			in(settings, "cat secret/k; ls secret; echo x > closed/f; touch ok && echo ok").prints("ok\n").says(accessDenied).says(readOnly)
			wantFile(t, w, "home/"+name+"/ok", "")
			wantFile(t, w, "home/"+name+"/closed/f", "before\n")
			in(w.Settings(testkit.FS{AllowWrite: []string{dir}}), "cat secret/k; echo x > closed/f").code(0).prints(secret)
		})
	}
}

// Both readings of a denial hold: the file of that very name, and what the pattern matches.
func TestDenialThatIsANameAndAPatternHoldsAsBoth(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/*.env", secret)
	w.Write("home/p/a.env", secret)
	w.Write("home/p/b.txt", "open\n")
	settings := w.Settings(testkit.FS{DenyRead: []string{"./*.env"}, AllowWrite: []string{"."}})
	inside(t, w, settings, "cat '*.env' a.env b.txt").prints("open\n")
	inside(t, w, w.Settings(testkit.Base()), "cat '*.env' a.env b.txt").prints(secret + secret + "open\n")

	literal := w.Write("literal.json", `{"filesystem": {"denyRead": [{"path": "./*.env", "literal": true}], "allowWrite": ["."]}}`)
	inside(t, w, literal, "cat '*.env' a.env b.txt").prints(secret + "open\n")
	inside(t, w, literal, "cat '*.env'").prints("").says(accessDenied)
}

// The quiet way to turn a denial by pattern off: make a file whose name is the pattern.
func TestFileNamedLikeThePatternDoesNotTurnItOff(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/d/a.env", secret)
	for _, pattern := range []string{"**/*.env", "./d/*.env", "./d/a.en?", "./d/[a]*"} {
		settings := w.Settings(testkit.FS{DenyRead: []string{pattern}, AllowWrite: []string{"."}})
		inside(t, w, settings, "mkdir -p '**'; touch '**/*.env' 'd/*.env' 'd/a.en?' 'd/[a]*' && echo made").prints("made\n")
		inside(t, w, settings, "cat d/a.env").code(1).prints("").says(accessDenied)
		outside(t, w, "rm -rf '**' 'd/*.env' 'd/a.en?' 'd/[a]*'; cat d/a.env").prints(secret)
	}
}

// What a pattern means, against a tree of names that go wrong in home-made matchers.
func TestPatternsMatchWhatIsDocumented(t *testing.T) {
	files := []string{"a.key", ".key", "x.keys", "akey", "d/b.key", "d/.hidden.key", "d/e/c.key", "d/e/KEY.KEY", "log/blog.md", "log/a.log", "{a,b}.x", "a.x"}
	for pattern, denied := range map[string]string{
		"*.key":       "a.key .key",
		"**/*.key":    "a.key .key d/b.key d/.hidden.key d/e/c.key",
		"d/*.key":     "d/b.key d/.hidden.key",
		"d/**/*.key":  "d/b.key d/.hidden.key d/e/c.key",
		"**/e/**":     "d/e/c.key d/e/KEY.KEY",
		"**/c.key":    "d/e/c.key",
		"?.key":       "a.key",
		"[a-c].key":   "a.key",
		"d/[!.]*.key": "d/b.key",
		"{a,b}.?":     "{a,b}.x",
		"*log*":       "log/blog.md log/a.log",
		"**/*log*":    "log/blog.md log/a.log",
	} {
		t.Run(strings.ReplaceAll(pattern, "/", "|"), func(t *testing.T) {
			w := newWorld(t)
			for _, f := range files {
				w.Write("home/p/"+f, secret)
			}
			line := "for f in '" + strings.Join(files, "' '") + "'; do cat \"$f\" >/dev/null 2>&1 || printf '%s ' \"$f\"; done"
			inside(t, w, w.Settings(testkit.FS{DenyRead: []string{pattern}}), line).prints(denied + " ")
			inside(t, w, w.Settings(testkit.FS{}), line).prints("")
		})
	}
}

// A pattern that means two things is an error that shows both.
func TestDoubleStarBesideTextIsAnError(t *testing.T) {
	for _, c := range []struct{ pattern, level, depth string }{
		{"./d/**.pem", "./d/*.pem", "./d/**/*.pem"},
		{"./d**", "./d*", "./**/d*"},
		{"**x/y", "*x/y", "**/*x/y"},
	} {
		w := newWorld(t)
		for _, key := range []string{"denyRead", "allowRead", "allowWrite", "denyWrite"} {
			start(t, w, "run", "-s", entries(t, w, list{key, []string{c.pattern}}), "--", "true").refuses("/filesystem/"+key+"/0", `"`+c.level+`"`, `"`+c.depth+`"`)
		}
	}
}

// The tree was walked once for every pattern, and each walk followed links round in circles.
func TestOneWalkForAllPatterns(t *testing.T) {
	strace := testkit.NeedProgram(t, "strace")
	w := newWorld(t)
	const dirs = 300
	for i := range dirs {
		name := "home/p/tree/" + string(rune('a'+i%20)) + "/" + string(rune('a'+i/20%20)) + "/d"
		w.Write(name+"/f", "")
	}
	w.Mkdir("home/p/tree/closed")
	for line, name := range map[string]string{"ln -s .. tree/loop": "a loop", "ln -s / tree/root": "a link to /", "mkfifo tree/fifo": "a FIFO", "chmod 0 tree/closed": "a closed directory"} {
		if r := w.Outside(line); r.Code != 0 {
			t.Fatalf("%s: %s", name, r.Stderr)
		}
	}
	walks := func(n int) int {
		fs := testkit.Base()
		for i := range n {
			fs.DenyRead = append(fs.DenyRead, "**/name"+string(rune('a'+i))+"*")
		}
		trace := w.Path("trace")
		args := []string{"-f", "-qq", "-e", "trace=getdents64", "-o", trace, w.Bin, "run", "-q", "--dry-run", "-s", w.Settings(fs), "--", "true"}
		r := outcome{t, strace, runProgram(t, w, strace, args...)}
		r.code(0)
		b, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "getdents64(")
	}
	none, one, fifteen := walks(0), walks(1), walks(15)
	t.Logf("getdents64 with 0, 1 and 15 patterns: %d, %d, %d", none, one, fifteen)
	if one < dirs/2 {
		t.Errorf("control: one pattern reads %d times, so that it does not walk the tree", one)
	}
	if fifteen != one {
		t.Errorf("15 patterns read directories %d times, one pattern %d times", fifteen, one)
	}
	if none > one {
		t.Errorf("no pattern reads %d times, one pattern %d times", none, one)
	}
}
