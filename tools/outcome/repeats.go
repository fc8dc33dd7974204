package outcome

import (
	"crypto/sha256"
	"errors"
	"sync"
)

// RepeatsBeforeWarning is the count of identical refusals in a row at which the narrator says that repeating the call
// will not help.
const RepeatsBeforeWarning = 3

// Repeats counts identical refusals in a row. The zero value is ready; it is safe for concurrent use.
//
// Identical means the same tool, the same bytes of arguments and the same words. A missing entry counts as a denied one
// does, or the count would tell them apart.
type Repeats struct {
	mu    sync.Mutex
	last  [sha256.Size]byte
	count int
}

// Observe takes the end of a call and gives back the error to show: err itself, or a copy of it that carries the count.
// A call that ended well, or that failed for another reason than a refusal, starts the count anew.
func (r *Repeats) Observe(tool string, args []byte, err error) error {
	var e *Error
	refused := errors.As(err, &e) && e.Code() != CodeFailed && e.Code() != CodeNotInitialized
	r.mu.Lock()
	defer r.mu.Unlock()
	if !refused {
		r.count = 0
		return err
	}
	h := sha256.New()
	for _, part := range []string{tool, string(args), e.Error()} {
		size := len(part)
		h.Write([]byte{byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24)})
		h.Write([]byte(part))
	}
	var key [sha256.Size]byte
	h.Sum(key[:0])
	if r.count == 0 || key != r.last {
		r.count = 0
		r.last = key
	}
	r.count++
	if r.count < RepeatsBeforeWarning {
		return err
	}
	counted := *e
	counted.Repeat = r.count
	return &counted
}
