package stage

import (
	"golang.org/x/sys/unix"
)

// controlSocket is the stage's end of the control socket. Its calls block; the stage has no poller to wake.
type controlSocket int

// send has nobody to tell about an error: when the launcher is gone, so are we.
func (c controlSocket) send(m Message) {
	_ = unix.Sendmsg(int(c), m.Encode(), nil, nil, unix.MSG_NOSIGNAL)
}

func (c controlSocket) sendDescriptor(m Message, fd int) error {
	return unix.Sendmsg(int(c), m.Encode(), unix.UnixRights(fd), nil, unix.MSG_NOSIGNAL)
}

// receive returns the next message; false when the launcher is gone.
func (c controlSocket) receive(buf []byte) (Message, bool) {
	for {
		n, _, err := unix.Recvfrom(int(c), buf, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return Message{}, false
		}
		if m, err := DecodeMessage(buf[:n]); err == nil {
			return m, true
		}
	}
}
