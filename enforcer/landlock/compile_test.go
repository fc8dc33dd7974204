package landlock

import (
	"strings"
	"testing"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

func TestEveryABIHandlesWhatItKnowsAndNamesTheRest(t *testing.T) {
	for _, tc := range []struct {
		abi     int
		handled Access
		scoped  Scope
		missing []string
		session bool
	}{
		{1, ll.AccessFSRefer - 1, 0, []string{"renames between directories", "truncate(2)", "ioctl(2) on devices", "scopes"}, true},
		{2, ll.AccessFSTruncate - 1, 0, []string{"truncate(2)", "ioctl(2) on devices", "scopes"}, true},
		{3, ll.AccessFSIoctlDev - 1, 0, []string{"ioctl(2) on devices", "scopes"}, true},
		{4, ll.AccessFSIoctlDev - 1, 0, []string{"ioctl(2) on devices", "scopes"}, true},
		{5, 2*ll.AccessFSIoctlDev - 1, 0, []string{"scopes"}, true},
		{6, 2*ll.AccessFSIoctlDev - 1, ScopeSignal | ScopeAbstractUnix, nil, false},
		{7, 2*ll.AccessFSIoctlDev - 1, ScopeSignal | ScopeAbstractUnix, nil, false},
		{99, 2*ll.AccessFSIoctlDev - 1, ScopeSignal | ScopeAbstractUnix, nil, false},
	} {
		p := Compile(tc.abi, []string{"/w"})
		if p.Handled != tc.handled || p.Scoped != tc.scoped {
			t.Errorf("ABI %d handles %s and scopes %b; want %s and %b", tc.abi, p.Handled, p.Scoped, tc.handled, tc.scoped)
		}
		if p.OwnSession() != tc.session {
			t.Errorf("ABI %d: a session of its own: %v", tc.abi, p.OwnSession())
		}
		if len(p.Missing) != len(tc.missing) {
			t.Errorf("ABI %d misses %v; want %v", tc.abi, p.Missing, tc.missing)
			continue
		}
		for i, m := range p.Missing {
			if !strings.HasPrefix(m.What, tc.missing[i]) || m.Covered == "" || m.NeedABI <= tc.abi {
				t.Errorf("ABI %d misses %+v; want %q, with what covers it", tc.abi, m, tc.missing[i])
			}
		}
		for _, r := range p.Rules {
			if r.Access&^p.Handled != 0 {
				t.Errorf("ABI %d: the rule for %s grants %s, which is not handled: the kernel says EINVAL", tc.abi, r.Path, r.Access&^p.Handled)
			}
		}
	}
}

func TestOnlyWritableTreesMayBeWritten(t *testing.T) {
	p := Compile(7, []string{"/w"})
	for _, r := range p.Rules {
		creates := r.Access&ll.AccessFSMakeReg != 0
		if want := r.Path == "/w" || r.Path == "/dev/shm"; creates != want {
			t.Errorf("%s: creating files is %v, want %v", r.Path, creates, want)
		}
		if r.Access&(ll.AccessFSMakeBlock|ll.AccessFSMakeChar) != 0 {
			t.Errorf("%s: device files may be made", r.Path)
		}
	}
	if p.Rules[0].Path != "/" || p.Rules[0].Access&WriteFile != 0 {
		t.Errorf("/ is %+v; it may be read only", p.Rules[0])
	}
}

func TestAnEmptyPlanIsRefusedBecauseItWouldSucceed(t *testing.T) {
	if _, err := Compile(0, nil).Prepare(-1); err != ErrEmptyPlan {
		t.Fatalf("got %v", err)
	}
}

func TestUnknownRightsHaveANumber(t *testing.T) {
	if got := (Access(1<<40) | ReadFile).String(); got != "read-file,1<<40" {
		t.Fatalf("got %q", got)
	}
}
