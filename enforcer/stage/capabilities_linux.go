package stage

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropCapabilities empties every set: bounding and ambient on the thread that will start the command, and the others on
// all threads of PID 1, which has no use for them any more.
func dropCapabilities() error {
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EINVAL {
			break // past the last capability that this kernel knows
		}
		if err != nil {
			return fail(LayerCaps, "prctl PR_CAPBSET_DROP", "", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fail(LayerCaps, "prctl PR_CAP_AMBIENT", "", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno == syscall.ENOTSUP { // a program that links cgo: the library cannot reach its threads
		errno = 0
		if err := unix.Capset(&header, &none[0]); err != nil {
			return fail(LayerCaps, "capset", "", err)
		}
	}
	if errno != 0 {
		return fail(LayerCaps, "capset", "", errno)
	}
	return nil
}
