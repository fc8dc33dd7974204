package artifact

// ring keeps the last size bytes that were written to it.
type ring struct {
	size int
	buf  []byte // grows to size
	next int    // where the next byte goes once buf is full
}

func (r *ring) write(p []byte) {
	if len(p) > r.size {
		p = p[len(p)-r.size:]
	}
	if n := min(len(p), r.size-len(r.buf)); n > 0 {
		r.buf = append(r.buf, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.next:], p)
		r.next = (r.next + n) % r.size
		p = p[n:]
	}
}

// bytes returns a copy of what is kept, in order.
func (r *ring) bytes() []byte {
	return append(append([]byte(nil), r.buf[r.next:]...), r.buf[:r.next]...)
}
