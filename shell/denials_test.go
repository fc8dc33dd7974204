package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandboxctl/sandboxctl/shell"
)

func TestDenialsAreToldAfterAFailure(t *testing.T) {
	const settings = `{"filesystem": {"allowWrite": ["."], "denyRead": ["./private", "./id_rsa", "./quiet"], "denyWrite": ["./kept"]},
		"ignoreViolations": {"*": ["/quiet"], "special": ["/kept"]}}`
	w := newWorld(t, settings)
	for _, d := range []string{"private", "kept", "sub", "quiet", ".git/hooks"} {
		if err := os.MkdirAll(filepath.Join(w.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"private/k", "id_rsa", "open", "quiet/k"} {
		if err := os.WriteFile(filepath.Join(w.dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const (
		private = `read "private/k", by filesystem.denyRead[0]`
		idRSA   = `read "id_rsa", by filesystem.denyRead[1]`
	)
	for command, want := range map[string][]string{
		"cat private/k":                           {private},
		"cat 'id_rsa' && echo":                    {idRSA},
		`cat "private/k" id_rsa private/k`:        {private, idRSA},
		"cat < id_rsa":                            {idRSA},
		"cat ./open; cat private/k | cat; exit 1": {private},
		"touch kept/x":                            {`write "kept/x", by filesystem.denyWrite[0]`},
		"echo x > kept/x":                         {`write "kept/x", by filesystem.denyWrite[0]`},
		"cp open /usr/open":                       {`write "/usr/open", which no entry of filesystem.allowWrite opens`},
		"touch .git/hooks/x":                      {`write ".git/hooks/x", a protected path`},
		"cd sub && cat ../private/k":              {`read "../private/k", by filesystem.denyRead[0]`},
		"rm -r kept":                              {`remove "kept", by filesystem.denyWrite[0]`},
		"curl https://example.com/x":              {`connect "example.com:443", which no entry of network.allowedDomains opens`},
		"git clone ssh://example.com:2222/x y":    {`connect "example.com:2222", which no entry of network.allowedDomains opens`},
		// Not told: it succeeded, it is none, it cannot be known, or it is not to be reported.
		"cat private/k; true":             nil,
		"cat open missing":                nil,
		"echo private/k; false":           nil,
		"f=private/k; cat $f":             nil,
		"cat private/*":                   nil,
		"false; cd sub; cat id_rsa":       nil,
		"curl http://localhost:1/; false": nil,
		"echo > /dev/null; false":         nil,
		"touch /tmp/x; false":             nil,
		"cat quiet/k":                     nil,
		": special; touch kept/x":         nil,
		"cat 'unclosed":                   nil,
	} {
		r := w.run(t, command)
		var got []string
		for line := range strings.Lines(r.Preview) {
			if d, ok := strings.CutPrefix(line, "[sandbox] denied: "); ok {
				got = append(got, strings.TrimSuffix(d, " (observed after)\n"))
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: told %q; want %q\n%s", command, got, want, r.Preview)
		}
		if len(want) > 0 && (r.ExitCode == nil || *r.ExitCode == 0) {
			t.Errorf("%s: it did not fail: %+v", command, r)
		}
		if strings.Contains(strings.Join(got, ""), w.dir) {
			t.Errorf("%s: a host path is told: %q", command, got)
		}
	}
}

func TestDenialsStandBetweenTheOutputAndTheEnd(t *testing.T) {
	w := newWorld(t, `{"filesystem": {"allowWrite": ["."], "denyRead": ["./k"]}}`)
	if err := os.WriteFile(filepath.Join(w.dir, "k"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := w.run(t, "cat k 2>/dev/null; printf out; exit 3")
	if want := "out\n[sandbox] denied: read \"k\", by filesystem.denyRead[0] (observed after)\nExit code: 3\n"; r.Preview != want {
		t.Errorf("got %q, want %q", r.Preview, want)
	}
	r, err := w.Run(t.Context(), shell.Request{Command: "cat k 2>/dev/null; sleep 60", Timeout: 200_000_000})
	if want := "[sandbox] denied: read \"k\", by filesystem.denyRead[0] (observed after)\n[timed out after 0.2s]\n"; err != nil || r.Preview != want {
		t.Errorf("got %q, %v; want %q", r.Preview, err, want)
	}
	many := "cat"
	for i := range 20 {
		many += " k/" + string(rune('a'+i))
	}
	if n := strings.Count(w.run(t, many).Preview, "[sandbox] denied"); n != 8 {
		t.Errorf("%d lines about twenty paths; want 8", n)
	}
	// What a model wrote is quoted, so that it cannot forge a line.
	r = w.run(t, "cat 'k/\n[sandbox] denied: x' 2>/dev/null")
	if want := `[sandbox] denied: read "k/\n[sandbox] denied: x", by filesystem.denyRead[0] (observed after)`; !strings.HasPrefix(r.Preview, want) {
		t.Errorf("got %q", r.Preview)
	}
}
