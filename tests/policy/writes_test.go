package policy

import "testing"

// Writing is closed.
func TestWrites(t *testing.T) {
	check(t, []rule{
		{name: "closed by default", settings: `{}`,
			try: "$A open a append; $A open new create; $A open ~/out append", want: "EROFS\nEROFS\nEROFS", control: "ok\nok\nok"},
		{name: "writable directory", settings: `{"filesystem": {"allowWrite": ["./d"]}}`,
			try: "$A open d/f append; $A open d/e/new create; $A open a append", want: "ok\nok\nEROFS", without: `{}`, control: "EROFS\nEROFS\nEROFS"},
		{name: "what is written is on the host", settings: `{"filesystem": {"allowWrite": ["./d"]}}`,
			try: "(echo new > d/f) 2>/dev/null; cat d/f", want: "new", without: `{}`, control: "p/d/f"},
		{name: "writable file", settings: `{"filesystem": {"allowWrite": ["./a"]}}`,
			try: "$A open a append; $A open x.key append; $A unlink a", want: "ok\nEROFS\nEROFS|ok\nEROFS\nEBUSY", without: `{}`, control: "EROFS\nEROFS\nEROFS"},
		{name: "writable through a link", settings: `{"filesystem": {"allowWrite": ["./l"]}}`,
			try: "$A open d/f append; $A open l/f append; $A unlink l", want: "ok\nok\nEROFS", without: `{}`, control: "EROFS\nEROFS\nEROFS"},
		{name: "a write is judged where it lands", settings: `{"filesystem": {"allowWrite": ["./d"]}}`,
			try: "$A open d/up/a append", want: "EROFS", control: "ok"},
		{name: "closed inside", settings: `{"filesystem": {"allowWrite": ["."], "denyWrite": ["./d/e"]}}`,
			try: "$A open d/f append; $A open d/e/f append; $A open d/e/new create; $A read d/e/f", want: "ok\nEROFS\nEROFS\np/d/e/f", control: "ok\nok\nok\np/d/e/f"},
		{name: "closed file inside", settings: `{"filesystem": {"allowWrite": ["."], "denyWrite": ["./d/f"]}}`,
			try: "$A open d/f append; $A unlink d/f; $A rename d/f d/z; $A rename d z; $A open d/e/f append", want: "EROFS\nEBUSY\nEBUSY\nEBUSY\nok", control: "ok\nok\nENOENT\nok\nENOENT"},
		{name: "closed at the same path", settings: `{"filesystem": {"allowWrite": ["./d"], "denyWrite": ["./d"]}}`,
			try: "$A open d/f append", want: "EROFS", without: `{"filesystem": {"allowWrite": ["./d"]}}`, control: "ok"},
		{name: "closed above", settings: `{"filesystem": {"allowWrite": ["./d/e"], "denyWrite": ["./d"]}}`,
			try: "$A open d/e/f append", want: "EROFS", without: `{"filesystem": {"allowWrite": ["./d/e"]}}`, control: "ok"},
		{name: "closed through a link", settings: `{"filesystem": {"allowWrite": ["."], "denyWrite": ["./l"]}}`,
			try: "$A open d/f append; $A unlink l; $A rename l l2; rm -f l; $A symlink e l", want: "EROFS\nEBUSY\nEBUSY\nEEXIST", control: "ok\nok\nENOENT\nok"},
		{name: "a closed entry keeps its place", settings: `{"filesystem": {"allowWrite": ["."], "denyWrite": ["./d/e/g"]}}`,
			try: "$A rename d z; $A rename d/e z; $A rename d/e/g z", want: "EBUSY\nEBUSY\nEBUSY|EBUSY\nEXDEV\nEXDEV|EBUSY\nEBUSY\nEXDEV", control: "ok\nENOENT\nENOENT"},
		{name: "an entry that does not exist opens nothing", settings: `{"filesystem": {"allowWrite": ["./none"]}}`,
			try: "$A mkdir none", want: "EROFS", control: "ok", says: `allowWrite entry "./none" opens nothing`},
		{name: "always writable", settings: `{}`,
			try:  "for f in /tmp/sandboxctl-x /dev/shm/sandboxctl-x /dev/null; do echo x > $f && echo ok; done; df --output=target /tmp /dev/shm | tail -2 | xargs",
			want: "ok\nok\nok\n/tmp /dev/shm", without: `{"sandboxctl": {"tmp": "host"}}`, control: "ok\nok\n/ /dev/shm|ok\nok\n/tmp /dev/shm"},
	})
}

// Protected names are closed inside every writable tree.
func TestProtectedNames(t *testing.T) {
	const try = "$A open .git/hooks/pre-commit append; $A open .git/hooks/new create; $A open .git/config append; $A open .git/HEAD append"
	const open = `{"filesystem": {"allowWrite": ["."]}}`
	check(t, []rule{
		{name: "git", settings: open, try: try, want: "EROFS\nEROFS\nEROFS\nok", control: "ok\nok\nok\nok"},
		{name: "allowGitConfig", settings: `{"filesystem": {"allowWrite": ["."], "allowGitConfig": true}}`,
			try: try, want: "EROFS\nEROFS\nok\nok", without: open, control: "EROFS\nEROFS\nEROFS\nok"},
		{name: "disabled", settings: `{"filesystem": {"disabled": true}}`,
			try: try + "; $A open ~/out append", want: "ok\nok\nok\nok\nok", without: open, control: "EROFS\nEROFS\nEROFS\nok\nEROFS"},
		{name: "disabled opens denials", settings: `{"filesystem": {"disabled": true, "denyRead": ["./d"], "denyWrite": ["./a"]}}`,
			try: "$A read d/f; $A open a append", want: "p/d/f\nok", without: `{"filesystem": {"denyRead": ["./d"], "denyWrite": ["./a"]}}`, control: "open: EACCES\nEROFS"},
		{name: "disabled keeps the other layers", settings: `{"filesystem": {"disabled": true}}`,
			try: "$A bindmount d pages; $A socket 1 1 0; $A addkey", want: "EPERM\nEPERM\nEPERM", control: "ok\nok\nok"},

		{name: "depth 1", settings: `{"filesystem": {"allowWrite": ["."]}, "mandatoryDenySearchDepth": 1}`,
			try: depths, want: "EROFS\nok\nok\nok\nok", control: "ok\nok\nok\nok\nok"},
		{name: "depth 3", settings: open,
			try: depths, want: "EROFS\nEROFS\nEROFS\nok\nok", control: "ok\nok\nok\nok\nok"},
		{name: "depth 10", settings: `{"filesystem": {"allowWrite": ["."]}, "mandatoryDenySearchDepth": 10}`,
			try: depths, want: "EROFS\nEROFS\nEROFS\nEROFS\nok", control: "ok\nok\nok\nok\nok"},
	})
}

const depths = "for f in 1 1/2 1/2/3 1/2/3/4 node_modules/m; do $A open $f/.bashrc append; done"
