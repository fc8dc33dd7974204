package seccomp

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// modelEntry is an entry of a profile as the test draws it.
type modelEntry struct {
	Names    []string   `json:"names"`
	Action   string     `json:"action"`
	ErrnoRet *uint32    `json:"errnoRet,omitempty"`
	Args     []modelArg `json:"args,omitempty"`
}

type modelArg struct {
	Index    int    `json:"index"`
	Value    uint64 `json:"value"`
	ValueTwo uint64 `json:"valueTwo"`
	Op       string `json:"op"`
}

func (a modelArg) holds(args [6]uint64) bool {
	v := args[a.Index]
	return map[string]bool{
		"SCMP_CMP_NE": v != a.Value, "SCMP_CMP_LT": v < a.Value, "SCMP_CMP_LE": v <= a.Value, "SCMP_CMP_EQ": v == a.Value,
		"SCMP_CMP_GE": v >= a.Value, "SCMP_CMP_GT": v > a.Value, "SCMP_CMP_MASKED_EQ": v&a.Value == a.ValueTwo,
	}[a.Op]
}

// fits is what CompileProfile's comment says of one entry.
func (e modelEntry) fits(call string, args [6]uint64) bool {
	if !slices.Contains(e.Names, call) {
		return false
	}
	holding, indices := 0, map[int]bool{}
	for _, a := range e.Args {
		indices[a.Index] = true
		if a.holds(args) {
			holding++
		}
	}
	if len(indices) < len(e.Args) {
		return holding > 0
	}
	return holding == len(e.Args)
}

func modelAnswer(action string, errno *uint32) uint32 {
	value := map[string]uint32{
		"SCMP_ACT_KILL": 0, "SCMP_ACT_KILL_PROCESS": 0x80000000, "SCMP_ACT_TRAP": 0x30000, "SCMP_ACT_LOG": 0x7ffc0000,
		"SCMP_ACT_ALLOW": 0x7fff0000, "SCMP_ACT_ERRNO": 0x50001,
	}[action]
	if errno != nil {
		value = 0x50000 | *errno
	}
	return value
}

func drawModelAction(t *rapid.T) (string, *uint32) {
	action := rapid.SampledFrom([]string{
		"SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_TRAP", "SCMP_ACT_LOG", "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO",
	}).Draw(t, "action")
	if action == "SCMP_ACT_ERRNO" && rapid.Bool().Draw(t, "with errno") {
		errno := rapid.Uint32Range(0, 4095).Draw(t, "errno")
		return action, &errno
	}
	return action, nil
}

func drawModelValue(t *rapid.T) uint64 {
	word := rapid.SampledFrom([]uint64{0, 1, 2, 0x80000000, 0xffffffff})
	return word.Draw(t, "high")<<32 | word.Draw(t, "low")
}

func TestProfilesFollowTheModel(t *testing.T) {
	calls := []string{"read", "write", "close", "socket", "clone", "ioctl", "openat", "statmount"}
	rapid.Check(t, func(r *rapid.T) {
		var p struct {
			DefaultAction   string       `json:"defaultAction"`
			DefaultErrnoRet *uint32      `json:"defaultErrnoRet,omitempty"`
			Syscalls        []modelEntry `json:"syscalls"`
		}
		p.DefaultAction, p.DefaultErrnoRet = drawModelAction(r)
		for range rapid.IntRange(0, 8).Draw(r, "entries") {
			e := modelEntry{Names: rapid.SliceOfN(rapid.SampledFrom(calls), 1, 4).Draw(r, "names")}
			e.Action, e.ErrnoRet = drawModelAction(r)
			for range rapid.IntRange(0, 4).Draw(r, "args") {
				a := modelArg{Index: rapid.IntRange(0, 5).Draw(r, "index"), Value: drawModelValue(r)}
				a.Op = "SCMP_CMP_" + rapid.SampledFrom([]string{"NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ"}).Draw(r, "op")
				if a.Op == "SCMP_CMP_MASKED_EQ" {
					a.ValueTwo = a.Value & drawModelValue(r)
				}
				e.Args = append(e.Args, a)
			}
			p.Syscalls = append(p.Syscalls, e)
		}
		text, err := json.Marshal(p)
		if err != nil {
			r.Fatal(err)
		}
		arch := rapid.SampledFrom(bothArches).Draw(r, "arch")
		program, err := CompileProfile(text, arch)
		if err != nil {
			r.Fatalf("%s: %v", text, err)
		}
		m := newMachine(t, program)
		for range 20 {
			call := rapid.SampledFrom(append([]string{"dup"}, calls...)).Draw(r, "call")
			var args [6]uint64
			for i := range args {
				args[i] = drawModelValue(r)
			}
			want, decided := modelAnswer(p.DefaultAction, p.DefaultErrnoRet), false
			for _, e := range p.Syscalls {
				if !e.fits(call, args) {
					continue
				}
				if a := modelAnswer(e.Action, e.ErrnoRet); !decided || strictness[a&0xffff0000] < strictness[want&0xffff0000] {
					want, decided = a, true
				}
			}
			if got, _ := m.call(t, call, args[:]...); got != want {
				r.Fatalf("%s\n%s %s%#x: %#x, want %#x", text, arch, call, args, got, want)
			}
		}
	})
}
