package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func spooledContent(t *testing.T, a *Artifact) string {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(a, 0, a.Handle().ByteLength))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSpoolWithinItsLimitIsWhole(t *testing.T) {
	s := newStore(t, Options{})
	for _, n := range []int{0, 1, 4095, 4096, 70_000, 300_000} {
		sp, err := s.Spool(Meta{LimitBytes: int64(max(n, 1))})
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat("0123456\n", n/8+1)[:n]
		for off := 0; off < n; off += 1000 {
			if _, err := io.WriteString(sp, want[off:min(off+1000, n)]); err != nil {
				t.Fatal(err)
			}
		}
		a, err := sp.Finish()
		if err != nil {
			t.Fatal(err)
		}
		st, ok := a.Stats()
		if got := spooledContent(t, a); got != want || !ok || st.Truncated != "" || st.Bytes != int64(n) || st.Stored != int64(n) || st.Lines != int64((n+7)/8) {
			t.Errorf("%d bytes: kept %d, %+v", n, len(got), st)
		}
	}
}

func TestSpoolBeyondItsLimitKeepsBothEnds(t *testing.T) {
	s := newStore(t, Options{})
	for _, limit := range []int64{100, 5000, 1 << 20} {
		sp, err := s.Spool(Meta{LimitBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		const lines = 400_000
		for i := range lines {
			if n, err := fmt.Fprintf(sp, "line %07d\n", i); n != 13 || err != nil {
				t.Fatal(n, err)
			}
		}
		a, err := sp.Finish()
		if err != nil {
			t.Fatal(err)
		}
		st, _ := a.Stats()
		got := spooledContent(t, a)
		if st.Truncated != TruncatedByLimit || st.Bytes != 13*lines || st.Lines != lines || st.Stored != int64(len(got)) || st.Stored > limit {
			t.Errorf("limit %d: %+v, %d bytes kept", limit, st, len(got))
		}
		if !strings.HasPrefix(got, "line 0000000\nline 0000001\n") {
			t.Errorf("limit %d: begins %.40q", limit, got)
		}
		if limit >= smallLimit && (!strings.HasSuffix(got, "line 0399998\nline 0399999\n") || !strings.Contains(got, "bytes were left out here")) {
			t.Errorf("limit %d: ends %q", limit, got[len(got)-40:])
		}
		if limit >= smallLimit {
			var missing, last int
			i := strings.Index(got, "\n[")
			if _, err := fmt.Sscanf(got[i:], "\n[%d bytes were left out here; the last %d follow]\n", &missing, &last); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got[i:], " follow]\nline 0") {
				t.Errorf("limit %d: the end starts inside a line: %.120q", limit, got[i:])
			}
			if i+missing+last != 13*lines {
				t.Errorf("limit %d: %d kept, %d missing, %d last are not %d", limit, i, missing, last, 13*lines)
			}
		}
		if r := mustAsk(t, a, "artifact_byte_length", ""); !noted(r, "5200000 bytes in 400000 lines") {
			t.Errorf("notes: %q", r.Notes)
		}
	}
}

func TestQuotaIsSharedAndTheOldestMakeRoom(t *testing.T) {
	s := newStore(t, Options{QuotaBytes: 1 << 20})
	file := fileArtifact(t, s, "f", "a file takes none of the quota")
	block := strings.Repeat("x", 400<<10)
	first := spoolArtifact(t, s, block)
	second := spoolArtifact(t, s, block)
	if s.Usage() != 800<<10 {
		t.Fatalf("usage %d", s.Usage())
	}
	third := spoolArtifact(t, s, block) // drops the first
	var unknown *UnknownArtifactError
	if _, err := s.Lookup(first.Handle().CallID); !errors.As(err, &unknown) || !unknown.Dropped {
		t.Errorf("the oldest: %v", err)
	}
	for _, a := range []*Artifact{second, third} {
		if got := spooledContent(t, a); got != block {
			t.Errorf("%d bytes kept", len(got))
		}
	}
	if _, err := s.Lookup(file.Handle().CallID); err != nil {
		t.Errorf("a file was dropped for a spool: %v", err)
	}
	// One that is larger than the quota takes all of it and no more.
	sp, err := s.Spool(Meta{})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if n, err := sp.Write([]byte(block)); n != len(block) || err != nil {
			t.Fatal(n, err)
		}
		if s.Usage() > 1<<20 {
			t.Fatalf("usage %d", s.Usage())
		}
	}
	a, err := sp.Finish()
	if err != nil {
		t.Fatal(err)
	}
	st, _ := a.Stats()
	if st.Truncated != TruncatedByQuota || st.Stored != 1<<20 || st.Bytes != 100*400<<10 || s.Usage() != 1<<20 {
		t.Errorf("%+v, usage %d", st, s.Usage())
	}
	if err := s.Remove(a.Handle().CallID); err != nil || s.Usage() != 0 {
		t.Errorf("usage %d, %v", s.Usage(), err)
	}
	aborted, err := s.Spool(Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := aborted.Write([]byte(block)); err != nil {
		t.Fatal(err)
	}
	if err := aborted.Abort(); err != nil || s.Usage() != 0 {
		t.Errorf("usage %d after Abort, %v", s.Usage(), err)
	}
	if _, err := aborted.Finish(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Finish after Abort: %v", err)
	}
}

func TestHugeStreamNeedsLittleMemory(t *testing.T) {
	s := newStore(t, Options{})
	sp, err := s.Spool(Meta{LimitBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte("y\n"), 32<<10)
	const total = 5 << 30
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range total / len(block) {
		if _, err := sp.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("5 GiB through a spool allocated %d bytes", grown)
	}
	a, err := sp.Finish()
	if err != nil {
		t.Fatal(err)
	}
	st, _ := a.Stats()
	if st.Bytes != total || st.Lines != total/2 || st.Stored > 8<<20 {
		t.Errorf("%+v", st)
	}
}

func TestConcurrentWritersKeepTheirWrites(t *testing.T) {
	s := newStore(t, Options{})
	sp, err := s.Spool(Meta{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 2000 {
				fmt.Fprintf(sp, "writer %d line %d\n", w, i)
			}
		})
	}
	wg.Wait()
	a, err := sp.Finish()
	if err != nil {
		t.Fatal(err)
	}
	next := map[int]int{}
	for line := range strings.Lines(spooledContent(t, a)) {
		var w, i int
		if _, err := fmt.Sscanf(line, "writer %d line %d\n", &w, &i); err != nil || next[w] != i {
			t.Fatalf("%q: %v, expected line %d", line, err, next[w])
		}
		next[w]++
	}
	if len(next) != 4 || next[0] != 2000 {
		t.Errorf("%v", next)
	}
}

func TestRingKeepsTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ring{size: rapid.IntRange(1, 20).Draw(t, "size")}
		var all []byte
		for _, p := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 30), 0, 20).Draw(t, "writes") {
			r.write(p)
			all = append(all, p...)
		}
		if want := all[max(0, len(all)-r.size):]; !bytes.Equal(r.bytes(), want) {
			t.Fatalf("%v, want %v", r.bytes(), want)
		}
	})
}

func TestFullDiskDoesNotStopTheProducer(t *testing.T) {
	s := newStore(t, Options{})
	sp, err := s.Spool(Meta{})
	if err != nil {
		t.Fatal(err)
	}
	// A descriptor that cannot be written to stands for a disk that fails.
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	real := sp.file.File
	sp.file.File = full
	for range 10 {
		if n, err := sp.Write(make([]byte, 50_000)); n != 50_000 || err != nil {
			t.Fatal(n, err)
		}
	}
	sp.file.File = real
	full.Close()
	a, err := sp.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if st, _ := a.Stats(); st.Truncated != TruncatedByDisk || st.Bytes != 500_000 || st.Stored != a.Handle().ByteLength {
		t.Errorf("%+v, %+v", st, a.Handle())
	}
}
