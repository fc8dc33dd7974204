package policy

import (
	"net"
	"os"
	"strconv"
	"testing"
)

// Keys under "sandboxctl", and the sockets.
func TestOwnKeys(t *testing.T) {
	file := hostFile(t)
	port := hostServer(t)
	check(t, []rule{
		{name: "tmp private", settings: `{"sandboxctl": {"tmp": "private"}}`,
			try: "[ -e " + file + " ] && echo there", want: "", without: `{"sandboxctl": {"tmp": "host"}}`, control: "there"},
		{name: "tmp of the host is not writable", settings: `{"sandboxctl": {"tmp": "host"}}`,
			try: "$A open /tmp/sandboxctl-new create", want: "EROFS", without: `{}`, control: "ok"},
		{name: "tmp of the host with a writable entry", settings: `{"sandboxctl": {"tmp": "host"}, "filesystem": {"allowWrite": ["/tmp"]}}`,
			try: "f=$(mktemp -p /tmp sandboxctl-XXXXXX 2>/dev/null) && rm $f && echo ok", want: "ok", without: `{"sandboxctl": {"tmp": "host"}}`, control: ""},
		{name: "tmpBytes", settings: `{"sandboxctl": {"limits": {"tmpBytes": 1048576}}}`,
			try: "$A fill /tmp/x 2048", want: "1024 ENOSPC", without: `{}`, control: "2048 no end"},

		{name: "env by default", settings: `{}`, env: []string{"TOKEN=t", "LC_ALL=C"},
			try: "echo $TOKEN $LC_ALL", want: "C", control: "t C"},
		{name: "env.allow", settings: `{"sandboxctl": {"env": {"allow": ["TOKEN"]}}}`, env: []string{"TOKEN=t", "TOKEN2=u"},
			try: "echo $TOKEN $TOKEN2", want: "t", without: `{}`, control: ""},
		{name: "env.allow with a prefix", settings: `{"sandboxctl": {"env": {"allow": ["CI_*"]}}}`, env: []string{"CI_A=a", "CI_B=b", "CI=c"},
			try: "echo $CI_A $CI_B $CI", want: "a b", without: `{}`, control: ""},
		{name: "env.set", settings: `{"sandboxctl": {"env": {"set": {"GREETING": "hello", "TERM": "set"}}}}`, env: []string{"GREETING=host"},
			try: "echo $GREETING $TERM", want: "hello set", control: "host dumb"},

		{name: "allowPtrace", settings: `{"sandboxctl": {"allowPtrace": true}}`,
			try: "$A tracechild; $A vmread $$ 0; $A ptrace 1", want: "ok\nEFAULT\nEPERM", without: `{}`, control: "EPERM\nEPERM\nEPERM"},

		{name: "allowAllUnixSockets", settings: `{"network": {"allowAllUnixSockets": true}, "filesystem": {"allowWrite": ["."]}}`,
			try:  "$A unixbind s; $A unixconnect s; $A socketpair 2; $A unixconnect @sandboxctl-none",
			want: "ok\nECONNREFUSED\nok\nECONNREFUSED", without: `{"filesystem": {"allowWrite": ["."]}}`, control: "socket: EPERM\nsocket: EPERM\nEPERM\nsocket: EPERM"},
		{name: "allowAllUnixSockets opens no other family", settings: `{"network": {"allowAllUnixSockets": true}}`,
			try: "$A socket 16 3 12; $A socket 2 1 262", want: "EPERM\nEPERM", control: "ok\nok|ok\nEPROTONOSUPPORT|ok\nENOPROTOOPT"},
		{name: "allowLocalBinding", settings: `{"network": {"allowLocalBinding": true}}`,
			try: "$A listen < /dev/null | grep -c '[0-9]'; $A tcp 127.0.0.1 " + port, want: "1\nECONNREFUSED", control: "1\nok"},
	})
}

// hostFile makes a file in the host's /tmp.
func hostFile(t *testing.T) string {
	t.Helper()
	f, err := os.CreateTemp("/tmp", "sandboxctl-policy-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(f.Name()) })
	f.Close()
	return f.Name()
}

// hostServer listens on the host's loopback.
func hostServer(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// What the settings name below /tmp is the host's, and nothing else there is.
func TestEntriesBelowTmp(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "sandboxctl-policy-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, d := range []string{"open", "shut", "other"} {
		if err := os.Mkdir(dir+"/"+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	check(t, []rule{
		{name: "writable", settings: `{"filesystem": {"allowWrite": ["` + dir + `/open"]}}`,
			try: "[ -d " + dir + "/other ] && echo other; echo x > " + dir + "/open/f && rm " + dir + "/open/f && echo written", want: "written", control: "other\nwritten"},
		{name: "closed inside", settings: `{"filesystem": {"allowWrite": ["` + dir + `"], "denyRead": ["` + dir + `/shut"]}}`,
			try: "$A open " + dir + "/shut directory; $A open " + dir + "/other directory", want: "EACCES\nok", control: "ok\nok"},
	})
}
