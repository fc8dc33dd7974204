package stage

import (
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// PassedOn returns the signals that a launcher passes on to the command. Those by which a terminal stops and continues a
// process group are not among them: they reach the whole group without help.
func PassedOn() []syscall.Signal {
	return []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2}
}

// groupSignals tells which signals reached PID 1 itself. With a terminal, the launcher, this process and the command share a
// process group; what the terminal or kill(2) sends to the group reaches all three, and must not be passed on a second time.
type groupSignals chan os.Signal

// catch also keeps PID 1 alive: the Go runtime ends a process at these signals when nobody asked for them.
func catch() groupSignals {
	c := make(groupSignals, 64)
	for _, s := range PassedOn() {
		signal.Notify(c, s)
	}
	return c
}

// settle is how long a signal to the group may take from the kernel's queue to our channel, while the launcher's message
// about the same signal is here already. One that was sent to the launcher alone is passed on this much later.
const settle = 20 * time.Millisecond

// reached reports whether PID 1 got sig too, and forgets about it.
func (g groupSignals) reached(sig syscall.Signal) bool {
	deadline := time.NewTimer(settle)
	defer deadline.Stop()
	for {
		select {
		case s := <-g:
			if s == sig {
				return true
			}
		case <-deadline.C:
			return false
		}
	}
}

// resetSignals gives the command an empty mask and default dispositions. The child of a fork takes the mask of the
// forking thread; an ignored signal survives execve(2), and callers such as Python ignore SIGPIPE. The handlers of the
// Go runtime are reset by the exec itself.
func resetSignals() error {
	for sig := 1; sig <= maxSignal; sig++ {
		if err := defaultIfIgnored(sig); err != nil {
			return fail(LayerProcess, "rt_sigaction", unix.SignalName(syscall.Signal(sig)), err)
		}
	}
	var empty unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &empty, nil); err != nil {
		return fail(LayerProcess, "rt_sigprocmask", "", err)
	}
	return nil
}

// maxSignal is the kernel's _NSIG.
const maxSignal = 64

// sigaction is the kernel's struct sigaction of amd64 and arm64 (the flags and the mask follow the handler; arm64 has no
// restorer, and reads less).
type sigaction struct {
	handler uintptr
	rest    [3]uint64
}

const sigIgn = 1

func defaultIfIgnored(sig int) error {
	var act sigaction
	_, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), 0, uintptr(unsafe.Pointer(&act)), maxSignal/8, 0, 0)
	if errno != 0 || act.handler != sigIgn {
		return nil // EINVAL: SIGKILL and SIGSTOP have no disposition
	}
	act = sigaction{}
	_, _, errno = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&act)), 0, maxSignal/8, 0, 0)
	if errno != 0 && errno != unix.EINVAL {
		return errno
	}
	return nil
}
