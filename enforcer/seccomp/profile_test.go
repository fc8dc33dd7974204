package seccomp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func compiled(t testing.TB, arch, json string) Program {
	t.Helper()
	p, err := CompileProfile([]byte(json), arch)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProfile(t *testing.T) {
	const (
		answerEACCES = 0x00050000 | 13
		answerTrap   = 0x00030000
		answerThread = 0x00000000
		answerLog    = 0x7ffc0000
	)
	entry := func(s string) string { return `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[` + s + `]}` }
	on := func(op string, value, two uint64) string {
		return entry(fmt.Sprintf(`{"names":["write"],"action":"SCMP_ACT_ERRNO","errnoRet":13,"args":[{"index":2,"value":%d,"valueTwo":%d,"op":"SCMP_CMP_%s"}]}`, value, two, op))
	}
	const big = 0x1_0000_0005 // the upper half counts: a profile compares 64 bits
	for _, c := range []struct {
		name, json, call string
		args             []uint64
		want             uint32
	}{
		{"default", `{"defaultAction":"SCMP_ACT_ERRNO"}`, "read", nil, answerEPERM},
		{"default errno", `{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":13}`, "read", nil, answerEACCES},
		{"default kill", `{"defaultAction":"SCMP_ACT_KILL"}`, "read", nil, answerThread},
		{"default kill thread", `{"defaultAction":"SCMP_ACT_KILL_THREAD"}`, "read", nil, answerThread},
		{"default kill process", `{"defaultAction":"SCMP_ACT_KILL_PROCESS"}`, "read", nil, answerKill},
		{"default trap", `{"defaultAction":"SCMP_ACT_TRAP"}`, "read", nil, answerTrap},
		{"default log", `{"defaultAction":"SCMP_ACT_LOG"}`, "read", nil, answerLog},
		{"a name", entry(`{"names":["read","write"],"action":"SCMP_ACT_ERRNO"}`), "write", nil, answerEPERM},
		{"another name", entry(`{"names":["read","write"],"action":"SCMP_ACT_ERRNO"}`), "close", nil, answerAllow},
		{"errno", entry(`{"names":["write"],"action":"SCMP_ACT_ERRNO","errnoRet":38}`), "write", nil, answerENOSYS},
		{"errno 0", entry(`{"names":["write"],"action":"SCMP_ACT_ERRNO","errnoRet":0}`), "write", nil, 0x00050000},
		{"unknown name allowed", `{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["no_such_call","read"],"action":"SCMP_ACT_ALLOW"}]}`, "read", nil, answerAllow},
		{"a name of another architecture", entry(`{"names":["socketcall","write"],"action":"SCMP_ACT_ERRNO"}`), "write", nil, answerEPERM},
		{"comment", entry(`{"names":["write"],"action":"SCMP_ACT_ERRNO","comment":"why"}`), "write", nil, answerEPERM},
		{"architectures", `{"defaultAction":"SCMP_ACT_TRAP","architectures":["SCMP_ARCH_AARCH64","SCMP_ARCH_X86_64","SCMP_ARCH_X86"]}`, "read", nil, answerTrap},

		{"EQ fits", on("EQ", 5, 0), "write", []uint64{0, 0, 5}, answerEACCES},
		{"EQ does not", on("EQ", 5, 0), "write", []uint64{5, 5, 6, 5}, answerAllow},
		{"EQ upper half", on("EQ", 5, 0), "write", []uint64{0, 0, big}, answerAllow},
		{"EQ big", on("EQ", big, 0), "write", []uint64{0, 0, big}, answerEACCES},
		{"NE fits", on("NE", 5, 0), "write", []uint64{0, 0, big}, answerEACCES},
		{"NE does not", on("NE", 5, 0), "write", []uint64{0, 0, 5}, answerAllow},
		{"LT fits", on("LT", 5, 0), "write", []uint64{0, 0, 4}, answerEACCES},
		{"LT equal", on("LT", 5, 0), "write", []uint64{0, 0, 5}, answerAllow},
		{"LT upper half", on("LT", 5, 0), "write", []uint64{0, 0, 1 << 32}, answerAllow},
		{"LE equal", on("LE", 5, 0), "write", []uint64{0, 0, 5}, answerEACCES},
		{"LE above", on("LE", 5, 0), "write", []uint64{0, 0, 6}, answerAllow},
		{"GT equal", on("GT", 5, 0), "write", []uint64{0, 0, 5}, answerAllow},
		{"GT upper half", on("GT", 5, 0), "write", []uint64{0, 0, 1 << 32}, answerEACCES},
		{"GT is unsigned", on("GT", 5, 0), "write", []uint64{0, 0, 1 << 63}, answerEACCES},
		{"GE equal", on("GE", 5, 0), "write", []uint64{0, 0, 5}, answerEACCES},
		{"GE below", on("GE", 5, 0), "write", []uint64{0, 0, 4}, answerAllow},
		{"MASKED_EQ fits", on("MASKED_EQ", 0xf, 2), "write", []uint64{0, 0, 0xff2}, answerEACCES},
		{"MASKED_EQ does not", on("MASKED_EQ", 0xf, 2), "write", []uint64{0, 0, 0xff3}, answerAllow},
		{"largest value", on("EQ", 1<<64-1, 0), "write", []uint64{0, 0, 1<<64 - 1}, answerEACCES},

		{"two arguments, both", entry(`{"names":["write"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":1,"op":"SCMP_CMP_EQ"},{"index":5,"value":9,"op":"SCMP_CMP_GT"}]}`), "write", []uint64{1, 0, 0, 0, 0, 10}, answerEPERM},
		{"two arguments, one", entry(`{"names":["write"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":1,"op":"SCMP_CMP_EQ"},{"index":5,"value":9,"op":"SCMP_CMP_GT"}]}`), "write", []uint64{1, 0, 0, 0, 0, 9}, answerAllow},
		{"one argument twice is either", entry(`{"names":["write"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":1,"op":"SCMP_CMP_EQ"},{"index":0,"value":2,"op":"SCMP_CMP_EQ"}]}`), "write", []uint64{2}, answerEPERM},

		{"the strictest of several", entry(`{"names":["write"],"action":"SCMP_ACT_LOG"},{"names":["write"],"action":"SCMP_ACT_TRAP"},{"names":["write"],"action":"SCMP_ACT_ERRNO"}`), "write", nil, answerTrap},
		{"the first of two errnos", entry(`{"names":["write"],"action":"SCMP_ACT_ERRNO","errnoRet":13},{"names":["write"],"action":"SCMP_ACT_ERRNO","errnoRet":38}`), "write", nil, answerEACCES},
		{"an argument beside an allowance of all", `{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["write"],"action":"SCMP_ACT_ALLOW"},{"names":["write"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":3,"op":"SCMP_CMP_EQ"}]}]}`, "write", []uint64{3}, answerEPERM},
		{"the same, other argument", `{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["write"],"action":"SCMP_ACT_ALLOW"},{"names":["write"],"action":"SCMP_ACT_ERRNO","args":[{"index":0,"value":3,"op":"SCMP_CMP_EQ"}]}]}`, "write", []uint64{4}, answerAllow},
		{"allowed by argument only", `{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["write"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":3,"op":"SCMP_CMP_LT"}]}]}`, "write", []uint64{3}, answerEPERM},
	} {
		for _, arch := range bothArches {
			m := newMachine(t, compiled(t, arch, c.json))
			if got, _ := m.call(t, c.call, c.args...); got != c.want {
				t.Errorf("%s, %s: %s%#x: %s, want %s", c.name, arch, c.call, c.args, returnName(got), returnName(c.want))
			}
		}
	}
}

func TestProfileErrors(t *testing.T) {
	call := func(s string) string { return `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{` + s + `}]}` }
	arg := func(s string) string {
		return call(`"names":["read"],"action":"SCMP_ACT_KILL","args":[{` + s + `}]`)
	}
	for _, c := range []struct{ json, pointer, says string }{
		{``, "", "unexpected end"},
		{`null`, "", "null is no profile"},
		{`[]`, "", "cannot unmarshal array"},
		{`{} {}`, "", "after top-level value"},
		{`{}`, "/defaultAction", "no action"},
		{`{"defaultAction":null}`, "/defaultAction", "no action"},
		{`{"defaultAction":"SCMP_ACT_PERMIT"}`, "/defaultAction", "unknown action"},
		{`{"defaultAction":"scmp_act_allow"}`, "/defaultAction", "unknown action"},
		{`{"defaultAction":"SCMP_ACT_TRACE"}`, "/defaultAction", "supervisor"},
		{`{"defaultAction":"SCMP_ACT_NOTIFY"}`, "/defaultAction", "supervisor"},
		{`{"defaultAction":"SCMP_ACT_ALLOW","defaultErrnoRet":1}`, "/defaultAction", "returns no errno"},
		{`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":4096}`, "/defaultAction", "above 4095"},
		{`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":-1}`, "", "cannot unmarshal number -1"},
		{`{"defaultAction":"SCMP_ACT_ALLOW","defaultaction":"SCMP_ACT_KILL"}`, "", `unknown key "defaultaction"`},
		{`{"DefaultAction":"SCMP_ACT_ALLOW"}`, "", `unknown key "DefaultAction"`},
		{`{"defaultAction":"SCMP_ACT_KILL","defaultAction":"SCMP_ACT_ALLOW"}`, "", "twice"},
		{`{"defaultAction":"SCMP_ACT_ALLOW","flags":[]}`, "", `key "flags" changes how`},
		{`{"defaultAction":"SCMP_ACT_ALLOW","listenerPath":"/x"}`, "", `key "listenerPath"`},
		{`{"defaultAction":"SCMP_ACT_ALLOW","archMap":[]}`, "", `key "archMap" is Docker's own`},
		{`{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_Z80"]}`, "/architectures/0", "unknown architecture"},
		{`{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86"]}`, "/architectures", "not for SCMP_ARCH_X86_64"},
		{call(`"names":["read"]`), "/syscalls/0/action", "no action"},
		{call(`"action":"SCMP_ACT_KILL"`), "/syscalls/0/names", "no system call"},
		{call(`"names":[],"action":"SCMP_ACT_KILL"`), "/syscalls/0/names", "no system call"},
		{call(`"names":["read","raed"],"action":"SCMP_ACT_KILL"`), "/syscalls/0/names/1", `unknown system call "raed"`},
		{call(`"names":[""],"action":"SCMP_ACT_LOG"`), "/syscalls/0/names/0", `unknown system call ""`},
		{call(`"name":"read","action":"SCMP_ACT_KILL"`), "/syscalls/0", "old form"},
		{call(`"names":["read"],"action":"SCMP_ACT_KILL","includes":{"caps":["CAP_SYS_ADMIN"]}`), "/syscalls/0", `"includes" is Docker's own`},
		{call(`"names":["read"],"action":"SCMP_ACT_KILL","excludes":{}`), "/syscalls/0", `"excludes" is Docker's own`},
		{call(`"names":["read"],"action":"SCMP_ACT_KILL","names":["write"]`), "/syscalls/0", "twice"},
		{call(`"names":["read"],"action":"SCMP_ACT_KILL","errno":1`), "/syscalls/0", `unknown key "errno"`},
		{call(`"names":["read"],"action":"SCMP_ACT_KILL","errnoRet":1`), "/syscalls/0/action", "returns no errno"},
		{arg(`"value":1,"op":"SCMP_CMP_EQ"`), "/syscalls/0/args/0", "no index"},
		{arg(`"index":6,"value":1,"op":"SCMP_CMP_EQ"`), "/syscalls/0/args/0/index", "0 to 5, not 6"},
		{arg(`"index":0,"op":"SCMP_CMP_EQ"`), "/syscalls/0/args/0", "no value"},
		{arg(`"index":0,"value":null,"op":"SCMP_CMP_EQ"`), "/syscalls/0/args/0", "no value"},
		{arg(`"index":0,"value":1`), "/syscalls/0/args/0", "no op"},
		{arg(`"index":0,"value":1,"op":"SCMP_CMP_LIKE"`), "/syscalls/0/args/0/op", "unknown op"},
		{arg(`"index":0,"value":-1,"op":"SCMP_CMP_EQ"`), "", "cannot unmarshal number -1"},
		{arg(`"index":0,"value":1.5,"op":"SCMP_CMP_EQ"`), "", "cannot unmarshal number 1.5"},
		{arg(`"index":0,"value":18446744073709551616,"op":"SCMP_CMP_EQ"`), "", "cannot unmarshal number"},
		{arg(`"index":0,"value":1,"valueTwo":1,"op":"SCMP_CMP_EQ"`), "/syscalls/0/args/0/valueTwo", "takes one value"},
		{arg(`"index":0,"value":1,"valueTwo":3,"op":"SCMP_CMP_MASKED_EQ"`), "/syscalls/0/args/0/valueTwo", "never fits"},
		{arg(`"index":0,"value":1,"op":"SCMP_CMP_EQ","mask":1`), "/syscalls/0/args/0", `unknown key "mask"`},
		{strings.Repeat("[", 20000), "", "exceeded max depth"},
		{strings.Repeat(" ", maxProfileBytes+1), "", "more than"},
	} {
		_, err := CompileProfile([]byte(c.json), "amd64")
		var where *ProfileError
		if !errors.As(err, &where) || where.Pointer != c.pointer || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.80s: %v, want %q at %q", c.json, err, c.says, c.pointer)
		}
	}
	if _, err := CompileProfile([]byte(`{"defaultAction":"SCMP_ACT_ALLOW"}`), "riscv64"); err == nil || !strings.Contains(err.Error(), "riscv64") {
		t.Errorf("an architecture without a table: %v", err)
	}
}

func TestProfileKillsForeignCalls(t *testing.T) {
	m := newMachine(t, compiled(t, "amd64", `{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_X86","SCMP_ARCH_X32"]}`))
	for _, c := range []simulated{{audit: 0x40000003, nr: 4}, {audit: m.audit, nr: 0x40000001}} {
		if got := m.run(t, c); got != answerKill {
			t.Errorf("%+v: %s", c, returnName(got))
		}
	}
}

// Stacked on the embedded programs a profile takes away and never gives.
func TestProfileOnlyNarrows(t *testing.T) {
	for _, arch := range bothArches {
		loose := compiled(t, arch, `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mount","ptrace","unshare"],"action":"SCMP_ACT_ALLOW"}]}`)
		m := newMachine(t, append(embeddedPrograms(t, arch, Options{}), loose)...)
		for _, name := range []string{"mount", "ptrace", "unshare"} {
			if got, _ := m.call(t, name); got != answerEPERM {
				t.Errorf("%s: %s: %s", arch, name, returnName(got))
			}
		}
		strict := compiled(t, arch, `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":30}]}`)
		m = newMachine(t, append(embeddedPrograms(t, arch, Options{}), strict)...)
		if got, _ := m.call(t, "mkdirat"); got != 0x00050000|30 {
			t.Errorf("%s: mkdirat: %s", arch, returnName(got))
		}
		if got, _ := m.call(t, "read"); got != answerAllow {
			t.Errorf("%s: read: %s", arch, returnName(got))
		}
	}
}

func FuzzCompileProfile(f *testing.F) {
	f.Add([]byte(`{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":13,"architectures":["SCMP_ARCH_X86_64"],"syscalls":[
		{"names":["read","clone"],"action":"SCMP_ACT_ALLOW"},
		{"names":["socket"],"action":"SCMP_ACT_TRAP","args":[{"index":0,"value":40,"op":"SCMP_CMP_EQ"},{"index":0,"value":5,"op":"SCMP_CMP_LE"}]},
		{"names":["ioctl"],"action":"SCMP_ACT_KILL","args":[{"index":1,"value":255,"valueTwo":18,"op":"SCMP_CMP_MASKED_EQ"}]}]}`))
	f.Add([]byte(`{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["write"],"action":"SCMP_ACT_LOG","comment":{"a":1}}]}`))
	f.Fuzz(func(t *testing.T, json []byte) {
		p, err := CompileProfile(json, "amd64")
		if err != nil {
			var where *ProfileError
			if !errors.As(err, &where) {
				t.Fatalf("%v is no ProfileError", err)
			}
			return
		}
		m := newMachine(t, p) // the machine checks jumps and the end as the kernel does
		for _, nr := range []uint32{0, 16, 41, 56, 471, 0xffffffff} {
			m.run(t, simulated{audit: m.audit, nr: nr, args: [6]uint64{40, 18, 3}})
		}
		if got := m.run(t, simulated{audit: 0x40000003}); got != answerKill {
			t.Fatalf("a foreign call: %s", returnName(got))
		}
	})
}
