package shell

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// A pipe whose other end stays open is read until it is empty, once everything has ended.
func TestWhatIsLeftInThePipeIsNotLost(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer in.Close()
	want := bytes.Repeat([]byte("left"), 10_000)
	if _, err := in.Write(want); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	close(done)
	// As if everything had ended before the first look.
	if err := out.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := drain(out, done, &got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d of %d bytes, %v", got.Len(), len(want), err)
	}
}
