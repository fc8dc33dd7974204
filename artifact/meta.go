package artifact

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"
)

// Meta is what is known of an artifact when it is made. The zero value is a text without a name.
type Meta struct {
	// CallID names the artifact; empty means a fresh random one.
	CallID string
	// Name is the name of the file, of which only the ending is used, to find the kind.
	Name string
	// Kind overrides what Name and MIMEType say; empty does not.
	Kind Kind
	// MIMEType overrides what Name says; empty does not.
	MIMEType string
	// LimitBytes bounds a spool, in bytes: what is written beyond it is counted and not kept. 0 means no limit but
	// the quota. It is ignored for files.
	LimitBytes int64
}

// handle resolves the meta data to a handle.
func (m Meta) handle() (Handle, error) {
	if m.Kind != "" && !m.Kind.valid() {
		return Handle{}, fmt.Errorf("artifact: unknown kind %q", m.Kind)
	}
	h := Handle{CallID: m.CallID}
	h.Kind, h.MIMEType = kindOf(m.Name, m.MIMEType)
	if m.Kind != "" {
		h.Kind = m.Kind
	}
	if h.CallID == "" {
		var b [10]byte
		if _, err := rand.Read(b[:]); err != nil {
			return Handle{}, fmt.Errorf("artifact: %w", err)
		}
		h.CallID = "a" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
	}
	return h, nil
}
