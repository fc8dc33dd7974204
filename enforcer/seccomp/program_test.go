package seccomp

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestProgramsOfThisBinary(t *testing.T) {
	for _, o := range Combinations() {
		programs, err := Programs(o)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range embeddedPrograms(t, runtime.GOARCH, o) {
			if !reflect.DeepEqual(programs[i], p) {
				t.Errorf("%s: the embedded %q is not the one in the source tree", o, p.Name())
			}
		}
		if len(programs) != 2 || programs[0].Name() != "allow-list" || !strings.HasPrefix(programs[1].Name(), "refusals") {
			t.Errorf("%s: %d programs", o, len(programs))
		}
	}
}

func TestCombinationsAreAllDifferent(t *testing.T) {
	seen := map[Options]bool{}
	names := map[string]bool{}
	for _, o := range Combinations() {
		seen[o], names[RefuseFile(o)] = true, true
	}
	if len(seen) != 8 || len(names) != 8 || Combinations()[0] != (Options{}) {
		t.Errorf("%d combinations, %d files", len(seen), len(names))
	}
	for _, option := range []Option{UnixSockets, Ptrace, NestedNamespaces} {
		if (Options{}).Has(option) || !(Options{true, true, true}).Has(option) {
			t.Errorf("%s: Has is wrong", option)
		}
	}
	if (Options{true, true, true}).Has(NoOption) {
		t.Error("NoOption is set")
	}
	if n := reflect.TypeFor[Options]().NumField(); n != 3 {
		t.Errorf("Options has %d fields: add the new one to Combinations, Has, String and Option", n)
	}
}

func TestProgramTravelsAsJSON(t *testing.T) {
	for _, p := range embeddedPrograms(t, "arm64", Options{}) {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Program
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(p, back) {
			t.Errorf("%s came back different: %v", p.Name(), err)
		}
	}
	for _, bad := range []string{`{}`, `{"name":"x","arch":"amd64","code":""}`, `{"code":"AAAA"}`, `{"code":"!"}`, `[]`,
		`{"code":"` + strings.Repeat("AAAAAAAA", 6000) + `"}`} {
		var p Program
		if err := json.Unmarshal([]byte(bad), &p); err == nil || p.Len() != 0 {
			t.Errorf("%.40s was taken", bad)
		}
	}
}

func TestInstructionsAreACopy(t *testing.T) {
	p := allowAll(t)
	p.Instructions()[0].K = 99
	if p.Instructions()[0].K == 99 {
		t.Error("the program was changed from outside")
	}
}

func TestDisassembly(t *testing.T) {
	p := compiled(t, "amd64", `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[
		{"names":["ioctl"],"action":"SCMP_ACT_ERRNO","args":[{"index":1,"value":255,"valueTwo":18,"op":"SCMP_CMP_MASKED_EQ"}]}]}`)
	want := `profile (amd64, 13 instructions)
   0  A = arch
   1  if A == 0xc000003e goto 2 else 11
   2  A = nr
   3  if A >= 0x40000000 goto 4 else 5
   4  if A == 0xffffffff goto 5 else 11
   5  if A >= 0x10 goto 6 else 12	; ioctl
   6  if A >= 0x11 goto 12 else 7	; pread64
   7  A = arg1.low
   8  A &= 0xff
   9  if A == 0x12 goto 10 else 12
  10  return ERRNO EPERM
  11  return KILL_PROCESS
  12  return ALLOW
`
	if got := p.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	for _, p := range embeddedPrograms(t, "amd64", Options{}) {
		if text := p.String(); strings.Contains(text, "0x0000 ") || !strings.Contains(text, "return KILL_PROCESS") {
			t.Errorf("%s", text)
		}
	}
}

func TestReadPrograms(t *testing.T) {
	missing := errors.New("missing")
	if _, err := readPrograms("amd64", Options{}, func(string) ([]byte, error) { return nil, missing }); !errors.Is(err, missing) {
		t.Errorf("%v", err)
	}
	for _, bad := range [][]byte{nil, make([]byte, 7), make([]byte, 8*4097)} {
		if _, err := readPrograms("amd64", Options{}, func(string) ([]byte, error) { return bad, nil }); err == nil {
			t.Errorf("%d bytes were taken for a program", len(bad))
		}
	}
}

func TestActions(t *testing.T) {
	if Action(0) != Refuse || Refuse.Errno() != 1 || Absent.Errno() != 38 || Kill.Errno() != 0 || Allow.Errno() != 0 {
		t.Error("the zero action must refuse, with EPERM")
	}
}
