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

// receiveDescriptor returns the next message and the descriptor that came with it, -1 for none; false when the launcher is gone.
func (c controlSocket) receiveDescriptor(buf []byte) (Message, int, bool) {
	oob := make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(int(c), buf, oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return Message{}, -1, false
		}
		m, err := DecodeMessage(buf[:n])
		if err != nil {
			continue
		}
		fd := -1
		if msgs, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil && len(msgs) > 0 {
			if fds, err := unix.ParseUnixRights(&msgs[0]); err == nil && len(fds) > 0 {
				fd = fds[0]
			}
		}
		return m, fd, true
	}
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
