package stage

import (
	"golang.org/x/sys/unix"
)

// loopbackUp makes 127.0.0.1 and ::1 work in the new network namespace, which is otherwise empty.
// It comes before the capabilities go (CAP_NET_ADMIN).
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail(LayerNetwork, "socket", "", err)
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return fail(LayerNetwork, "interface", "lo", err)
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fail(LayerNetwork, "ioctl SIOCSIFFLAGS", "lo", err)
	}
	return nil
}
