package tools

import (
	"sync/atomic"

	"github.com/sandboxctl/sandboxctl/tools/outcome"
)

// Handle owns a set of tools: it issues the epoch that readers belong to. Once it is closed, every tool and every reader
// fails with E_SANDBOX_NOT_INITIALIZED, and nothing falls through to the host. It is safe for concurrent use. The zero
// value is closed.
type Handle struct {
	epoch atomic.Uint64 // 0 means closed
}

// NewHandle makes an open handle.
func NewHandle() *Handle {
	h := &Handle{}
	h.epoch.Store(1)
	return h
}

// Epoch gives the present epoch, or an error of the outcome SessionClosed.
func (h *Handle) Epoch() (uint64, error) {
	if e := h.epoch.Load(); e != 0 {
		return e, nil
	}
	return 0, outcome.New(outcome.SessionClosed, "", nil)
}

// Check reports whether an epoch is still the present one.
func (h *Handle) Check(epoch uint64) error {
	if epoch != 0 && h.epoch.Load() == epoch {
		return nil
	}
	return outcome.New(outcome.SessionClosed, "", nil)
}

// Close ends the epoch. A second Close does nothing.
func (h *Handle) Close() { h.epoch.Store(0) }
