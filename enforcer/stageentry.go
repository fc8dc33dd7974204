package enforcer

import (
	"os"
	"sync/atomic"

	"github.com/sandboxctl/sandboxctl/enforcer/stage"
)

// entered is set once, by RunInitStage. It is what lets Start refuse before it forks: a copy of a program that does not hand
// over would run the program's main a second time.
var entered atomic.Bool

// RunInitStage hands the process over to the stage when it is a re-executed copy of the program, and returns at once in every
// other process. Call it as the first statement of main, and of TestMain in tests that start sandboxes: the stage must be
// the first code to run, before files are opened, goroutines started or flags parsed.
func RunInitStage() {
	entered.Store(true)
	switch os.Args[0] {
	case stage.Argv0:
		stage.Main()
	case stage.ProbeArgv0:
		stage.ProbeMain()
	}
}
