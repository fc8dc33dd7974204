package stage

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo-terminal in the sandbox's own devpts and hands the controlling side to the launcher.
// It returns the descriptor of the command's side, -1 without a terminal. It comes after the mounts, so that the name of
// the terminal exists inside, and before the domain, which would judge the opening.
func openTerminal(spec *Spec, control controlSocket) (int, error) {
	if !spec.Terminal {
		return -1, nil
	}
	master, err := unix.Open("/dev/pts/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fail(LayerTerminal, "open", "/dev/pts/ptmx", err)
	}
	defer unix.Close(master)
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, fail(LayerTerminal, "ioctl TIOCSPTLCK", "", err)
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return -1, fail(LayerTerminal, "ioctl TIOCGPTN", "", err)
	}
	name := "/dev/pts/" + strconv.Itoa(n)
	slave, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fail(LayerTerminal, "open", name, err)
	}
	if err := control.sendDescriptor(Message{Kind: Terminal}, master); err != nil {
		unix.Close(slave)
		return -1, fail(LayerTerminal, "sendmsg", "", err)
	}
	return slave, nil
}
