package enforcer

import (
	"errors"
	"os"
	"runtime"

	"github.com/sandboxctl/sandboxctl/enforcer/landlock"
	"github.com/sandboxctl/sandboxctl/enforcer/seccomp"
)

// hostArch is the architecture in the names that seccomp profiles are compiled for.
const hostArch = runtime.GOARCH

// Facts is what a launch has to know of the kernel before it can be planned. It is found by trying, costs a few
// microseconds, and holds no more than the planning needs; [Probe] is the long form, for people.
// The zero value says that nothing is there.
type Facts struct {
	LandlockABI int   // 0 = none
	LandlockErr error // why it is 0
	SeccompErr  error // nil = filters can be loaded
	UID         int   // that the command will have
}

// FactsOf tries the kernel features that planning depends on. Namespaces are tried by the launch itself.
func FactsOf() Facts {
	f := Facts{UID: os.Geteuid()}
	f.LandlockABI, f.LandlockErr = landlock.ABI()
	f.SeccompErr = seccomp.Probe()
	return f
}

// missing returns a FeatureError for the first layer that is not there.
func (f Facts) missing() error {
	if f.LandlockABI < 1 {
		e := &FeatureError{Feature: "landlock", Reason: "this kernel does not let a process restrict itself",
			Remedy: "Linux 5.13 or later with landlock in the lsm= list is needed", Err: f.LandlockErr}
		if !errors.Is(f.LandlockErr, landlock.ErrNotSupported) {
			e.Reason = "it could not be told whether the kernel has it"
		}
		return e
	}
	if f.SeccompErr != nil {
		return &FeatureError{Feature: "seccomp", Reason: "system call filters cannot be loaded",
			Remedy: "a kernel with CONFIG_SECCOMP_FILTER is needed, and no outer filter that refuses seccomp(2)", Err: f.SeccompErr}
	}
	return nil
}
