package field

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
)

// A settings file that could not be read fell back to defaults, in which everything may be read.
func TestUnusableSettingsFileStartsNothing(t *testing.T) {
	const good = `{"filesystem": {"denyRead": ["~/.ssh"]}}`
	wide := func(s string) []byte {
		out := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(s)) {
			out = append(out, byte(u), byte(u>>8))
		}
		return out
	}
	for _, c := range []struct {
		name string
		data []byte
		make string // a shell line in place of data; F is the file
		says []string
	}{
		{name: "missing", make: ":", says: []string{"no such file"}},
		{name: "empty", data: []byte{}},
		{name: "blank", data: []byte(" \n\t\n")},
		{name: "comments alone", data: []byte("// nothing\n")},
		{name: "directory", make: "mkdir F", says: []string{"regular file"}},
		{name: "FIFO", make: "mkfifo F", says: []string{"regular file"}},
		{name: "device", make: "ln -s /dev/null F", says: []string{"regular file"}},
		{name: "endless device", make: "ln -s /dev/zero F", says: []string{"regular file"}},
		{name: "link to itself", make: "ln -s F F", says: []string{"symbolic links"}},
		{name: "link to nowhere", make: "ln -s nowhere F", says: []string{"no such file"}},
		{name: "below a file", make: "echo > F.d; ln -s F.d/x F", says: []string{"not a directory"}},
		{name: "truncated", data: []byte(good[:len(good)-3]), says: []string{":1:"}},
		{name: "truncated in a string", data: []byte(good[:20]), says: []string{":1:"}},
		{name: "twice", data: []byte(good + "\n" + good), says: []string{":2:1:"}},
		{name: "a list", data: []byte("[]"), says: []string{":1:1:"}},
		{name: "null", data: []byte("null"), says: []string{":1:1:"}},
		{name: "a string", data: []byte(`"x"`), says: []string{":1:1:"}},
		{name: "UTF-16", data: wide(good), says: []string{"UTF-16"}},
		{name: "Latin-1", data: []byte("{\"filesystem\": {\"denyRead\": [\"\xe9\"]}}"), says: []string{"UTF-8"}},
		{name: "NUL bytes", data: make([]byte, 4096)},
		{name: "10 MB", data: append([]byte(good), bytes.Repeat([]byte(" "), 10<<20)...), says: []string{"1048576 bytes"}},
		{name: "duplicate key", data: []byte("{\n\"filesystem\": {\"denyRead\": [\"~/.ssh\"],\n \"denyRead\": []}}"), says: []string{":3:2:", "/filesystem/denyRead", "denyRead"}},
		{name: "duplicate section", data: []byte("{\"filesystem\": {},\n\"filesystem\": {}}"), says: []string{":2:1:", "filesystem"}},
		{name: "duplicate by an escape", data: []byte(`{"filesystem": {"denyRead": ["~/.ssh"], "deny\u0052ead": []}}`), says: []string{":1:41:"}},
		{name: "deep", data: []byte(strings.Repeat(`{"a":`, 100000) + "1" + strings.Repeat("}", 100000))},
		{name: "YAML", data: []byte("filesystem:\n  denyRead: []\n"), says: []string{":1:1:"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.Write("home/.ssh/id_rsa", secret)
			path := w.Path("s.json")
			if c.make != "" {
				outside(t, w, strings.ReplaceAll(c.make, "F", path)).code(0)
			} else if err := os.WriteFile(path, c.data, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"run", "--settings", path, "-c", "cat ~/.ssh/id_rsa"}, {"run", "--debug", "-s", path, "-c", "cat ~/.ssh/id_rsa"},
				{"run", "-q", "-s", path, "-c", "cat ~/.ssh/id_rsa"}, {"run", "--dry-run", "-s", path, "-c", "true"},
				{"explain", "read", "-s", path, "/etc"}, {"settings", "check", "-s", path}, {"settings", "show", "-s", path},
			} {
				o := start(t, w, args...).code(refused).never("TOP").says("s.json")
				for _, s := range c.says {
					o.says(s)
				}
				if len(o.Stderr) > 1000 || !strings.HasPrefix(o.Stderr, "sandboxctl: ") {
					t.Errorf("%q says %.1200q", args, o.Stderr)
				}
			}
			// The same file where it is found without being named.
			if c.name != "missing" {
				outside(t, w, "rm -rf ~/.srt-settings.json; "+strings.NewReplacer("F", "~/.srt-settings.json").Replace(or(c.make, "cp "+path+" F"))).code(0)
				start(t, w, "run", "-c", "cat ~/.ssh/id_rsa").code(refused).never("TOP").says(".srt-settings.json")
			}
			ok := w.Write("good.json", good)
			inside(t, w, ok, "cat ~/.ssh/id_rsa; echo ran").prints("ran\n").says(accessDenied)
		})
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// A file without permissions is no file without rules. Root may read it all the same.
func TestUnreadableSettingsFileStartsNothing(t *testing.T) {
	w := newWorld(t)
	path := w.Write("s.json", `{"filesystem": {"denyRead": ["~/.ssh"]}}`)
	w.Write("home/.ssh/id_rsa", secret)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	o := start(t, w, "run", "-s", path, "-c", "cat ~/.ssh/id_rsa; echo ran").never("TOP")
	if os.Geteuid() == 0 {
		o.prints("ran\n")
		return
	}
	o.refuses("s.json", "permission denied")
}

// What is accepted: no rules, comments, a byte order mark, line ends of any kind.
func TestUsableSettingsFiles(t *testing.T) {
	for name, data := range map[string]string{
		"empty object":     "{}",
		"comments":         "// a\n{ /* b */ \"filesystem\": {\"denyRead\": [\"~/.ssh\",], // c\n },\n}\n",
		"byte order mark":  "\ufeff{\"filesystem\": {\"denyRead\": [\"~/.ssh\"]}}",
		"carriage returns": "{\r\n\"filesystem\": {\r\n\"denyRead\": [\"~/.ssh\"]\r\n}\r\n}\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Write("home/.ssh/id_rsa", secret)
			o := start(t, w, "run", "-q", "-s", w.Write("s.json", data), "-c", "cat ~/.ssh/id_rsa; echo x > f; echo ran").says(readOnly)
			if name == "empty object" {
				o.prints(secret + "ran\n")
			} else {
				o.prints("ran\n").says(accessDenied)
			}
		})
	}
}

// Without a file there are the defaults, which are said to be in force and let nothing be written.
func TestDefaultsAreNamed(t *testing.T) {
	w := newWorld(t)
	start(t, w, "run", "--debug", "-c", "echo x > f; echo ran").prints("ran\n").says("built-in defaults").says(readOnly)
	w.Write("home/.srt-settings.json", `{"filesystem": {"allowWrite": ["."]}}`)
	start(t, w, "run", "--debug", "-c", "echo x > f; echo ran").prints("ran\n").says(w.Path("home/.srt-settings.json")).never("built-in defaults")
	wantFile(t, w, "home/p/f", "x\n")
}

// A key with a letter too many protected nothing, and nobody was told.
func TestUnknownKeysAndWrongTypesAreErrors(t *testing.T) {
	for _, c := range []struct {
		data string
		says []string // pointer, what is near
	}{
		{`{"filesystem": {"denyWrites": ["."]}}`, []string{"/filesystem/denyWrites", `"denyWrite"`}},
		{`{"filesystem": {"DenyRead": ["."]}}`, []string{"/filesystem/DenyRead", `"denyRead"`}},
		{`{"fileSystem": {}}`, []string{"/fileSystem", `"filesystem"`}},
		{`{"Network": {}}`, []string{"/Network", `"network"`}},
		{`{"sandboxctl": {"limit": {}}}`, []string{"/sandboxctl/limit", `"limits"`}},
		{`{"filesystem": {"denyRead": "x"}}`, []string{"/filesystem/denyRead"}},
		{`{"filesystem": {"denyRead": [1]}}`, []string{"/filesystem/denyRead/0"}},
		{`{"filesystem": {"denyRead": [null]}}`, []string{"/filesystem/denyRead/0"}},
		{`{"filesystem": {"denyRead": [["x"]]}}`, []string{"/filesystem/denyRead/0"}},
		{`{"filesystem": {"denyRead": {"0": "x"}}}`, []string{"/filesystem/denyRead"}},
		{`{"filesystem": {"denyRead": [{"path": "x", "literall": true}]}}`, []string{"/filesystem/denyRead/0/literall", `"literal"`}},
		{`{"filesystem": {"denyRead": [{"literal": true}]}}`, []string{"/filesystem/denyRead/0"}},
		{`{"filesystem": {"denyRead": null}}`, []string{"/filesystem/denyRead"}},
		{`{"filesystem": null}`, []string{"/filesystem"}},
		{`{"filesystem": []}`, []string{"/filesystem"}},
		{`{"filesystem": {"disabled": "true"}}`, []string{"/filesystem/disabled"}},
		{`{"filesystem": {"disabled": 1}}`, []string{"/filesystem/disabled"}},
		{`{"mandatoryDenySearchDepth": 0}`, []string{"/mandatoryDenySearchDepth"}},
		{`{"mandatoryDenySearchDepth": 11}`, []string{"/mandatoryDenySearchDepth"}},
		{`{"mandatoryDenySearchDepth": 2.5}`, []string{"/mandatoryDenySearchDepth"}},
		{`{"sandboxctl": {"tmp": "none"}}`, []string{"/sandboxctl/tmp"}},
		{`{"sandboxctl": {"limits": {"wallSeconds": -1}}}`, []string{"/sandboxctl/limits/wallSeconds"}},
		{`{"sandboxctl": {"limits": {"wallSeconds": 1e99}}}`, []string{"/sandboxctl/limits/wallSeconds"}},
		{`{"network": {"allowedDomains": ["https://a.test"]}}`, []string{"/network/allowedDomains/0", `"a.test`}},
		{`{"network": {"allowedDomains": ["https://*.a.test"]}}`, []string{"/network/allowedDomains/0", `"*.a.test`}},
		{`{"network": {"allowedDomains": ["a.test/"]}}`, []string{"/network/allowedDomains/0", `"a.test"`}},
		{`{"network": {"allowedDomains": ["*"]}}`, []string{"/network/allowedDomains/0", "allowAllDomains"}},
		{`{"network": {"allowedDomains": ["*.com"]}}`, []string{"/network/allowedDomains/0"}},
		{`{"network": {"allowedDomains": ["a..b"]}}`, []string{"/network/allowedDomains/0"}},
		{`{"network": {"allowedDomains": ["é.test"]}}`, []string{"/network/allowedDomains/0", "xn--9ca.test"}},
		{`{"network": {"allowedDomains": ["%2A.a.test"]}}`, []string{"/network/allowedDomains/0"}},
		{`{"network": {"allowedDomains": [""]}}`, []string{"/network/allowedDomains/0"}},
		{`{"network": {"allowedDomains": ["::1"]}}`, []string{"/network/allowedDomains/0", "[::1]"}},
	} {
		t.Run(strings.ReplaceAll(c.data, "/", "|"), func(t *testing.T) {
			w := newWorld(t)
			path := w.Write("s.json", c.data)
			start(t, w, "run", "-s", path, "--", "echo", "ran").refuses(append(c.says, "s.json:1:")...)
			start(t, w, "settings", "check", "-s", path).code(refused).says(c.says[0])
		})
	}
}

// Domains with a meaning are accepted; what has none yet is refused by name and place, and never becomes "open".
func TestDomainsAreCheckedAndNeverOpenTheNetwork(t *testing.T) {
	w := newWorld(t)
	for _, entry := range []string{"a.test", "a.test:443", "*.a.test", "127.0.0.1", "[::1]", "localhost"} {
		path := w.Write("s.json", `{"network": {"allowedDomains": ["`+entry+`"]}}`)
		start(t, w, "run", "-s", path, "--", "echo", "ran").refuses("s.json:1:", "allowedDomains", "cannot be enforced yet")
	}
	for _, data := range []string{`{"network": {"allowedDomains": []}}`, `{"network": {}}`, `{}`, `{"network": {"deniedDomains": ["a.test", "*"]}}`} {
		inside(t, w, w.Write("s.json", data), "echo ran; cat /proc/net/dev | grep -c :").prints("ran\n1\n")
	}
}

// All mistakes of a file are told at once, each with its place.
func TestAllMistakesAreToldAtOnce(t *testing.T) {
	w := newWorld(t)
	path := w.Write("s.json", "{\n\"filesystem\": {\n\"denyWrites\": [],\n\"denyRead\": [\"\", \"ok\", \"$X\"]},\n\"networks\": {}\n}")
	o := start(t, w, "run", "-s", path, "--", "true").code(refused).prints("")
	for _, s := range []string{"s.json:3:1: /filesystem/denyWrites", "s.json:4:14: /filesystem/denyRead/0", "/filesystem/denyRead/2", "s.json:5:1: /networks"} {
		o.says(s)
	}
	if n := strings.Count(o.Stderr, "\nsandboxctl: "); n != 3 {
		t.Errorf("it says %d lines more:\n%s", n, o.Stderr)
	}
}

// The file is the one that was named when the program started, whatever directory the command runs in.
func TestSettingsPathIsTheCallersOwn(t *testing.T) {
	w := newWorld(t)
	w.Write("home/p/s.json", `{"filesystem": {"denyRead": ["./k"]}}`)
	w.Write("home/p/sub/s.json", `{}`)
	w.Write("home/p/sub/k", secret)
	w.Write("home/p/k", secret)
	// --cwd is the session's directory, to which the entries are relative; the file is the caller's.
	start(t, w, "run", "-q", "-s", "s.json", "-C", "sub", "-c", "pwd; cat k").prints(w.P + "/sub\n").says(accessDenied)
	start(t, w, "run", "-q", "-s", "sub/s.json", "-c", "cat k").prints(secret)
}
