package artifact

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func admitAll(*os.File) error { return nil }

func TestDescriptorReopensElsewhere(t *testing.T) {
	s := newStore(t, Options{})
	path := writeFile(t, "a.json", `{"a":7}`)
	for _, a := range []*Artifact{openArtifact(t, s, path, Meta{}), spoolArtifact(t, s, "one\ntwo\n")} {
		d, err := a.Describe()
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again Descriptor
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatal(err)
		}
		other := newStore(t, Options{})
		asked := ""
		got, err := other.Reopen(again, func(f *os.File) error { asked = f.Name(); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if got.Handle() != a.Handle() || asked != d.Path {
			t.Errorf("%+v, want %+v; admitted %q", got.Handle(), a.Handle(), asked)
		}
		want := mustAsk(t, a, "artifact_cat", `{}`)
		if r := mustAsk(t, got, "artifact_cat", `{}`); r.Text != want.Text || r.Changed {
			t.Errorf("%+v, want %+v", r, want)
		}
		// Another process sees the same by the path alone.
		out, err := exec.CommandContext(t.Context(), "cat", d.Path).Output()
		if err != nil || string(out) != want.Text {
			t.Errorf("cat %s: %q, %v", d.Path, out, err)
		}
		refusal := errors.New("policy says no")
		if _, err := newStore(t, Options{}).Reopen(again, func(*os.File) error { return refusal }); !errors.Is(err, refusal) {
			t.Errorf("refused: %v", err)
		}
		if _, err := other.Reopen(again, nil); err == nil {
			t.Error("reopened without anything to admit it")
		}
		if _, err := other.Reopen(again, admitAll); !errors.Is(err, ErrDuplicate) {
			t.Errorf("reopened twice: %v", err)
		}
	}
}

func TestDescriptorFollowsARename(t *testing.T) {
	s := newStore(t, Options{})
	path := writeFile(t, "f", "content")
	a := openArtifact(t, s, path, Meta{})
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	d, err := a.Describe()
	if err != nil || d.Path != path+".moved" {
		t.Fatalf("%+v, %v", d, err)
	}
	if _, err := newStore(t, Options{}).Reopen(d, admitAll); err != nil {
		t.Error(err)
	}
}

func TestReopenTakesNothingElse(t *testing.T) {
	s := newStore(t, Options{})
	path := writeFile(t, "f", "content")
	a := openArtifact(t, s, path, Meta{})
	d, err := a.Describe()
	if err != nil {
		t.Fatal(err)
	}
	replace := func(how string, put func() error, want error) {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		admitted := false
		got, err := s.Reopen(d, func(*os.File) error { admitted = true; return nil })
		if err == nil {
			got.close()
		}
		if !errors.Is(err, want) || admitted {
			t.Errorf("%s: %v, admitted %v", how, err, admitted)
		}
	}
	target := writeFile(t, "target", "content")
	replace("another file", func() error { return os.WriteFile(path, []byte("content"), 0o600) }, ErrIdentity)
	replace("a link", func() error { return os.Symlink(target, path) }, syscall.ELOOP)
	replace("a FIFO", func() error { return syscall.Mkfifo(path, 0o600) }, ErrNotRegular)
	replace("a directory", func() error { return os.Mkdir(path, 0o700) }, ErrNotRegular)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reopen(d, admitAll); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

func TestWhatHasNoNameIsNotDescribable(t *testing.T) {
	s := newStore(t, Options{})
	path := writeFile(t, "f", "content")
	a := openArtifact(t, s, path, Meta{})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := a.Describe()
	var coded *CodedError
	if !errors.Is(err, ErrReaderNotDescribable) || !errors.As(err, &coded) || coded.Code != "E_READER_NOT_DESCRIBABLE" {
		t.Errorf("%v", err)
	}
	if errors.Is(err, ErrNotInitialized) {
		t.Error("two codes are the same")
	}
}

func TestSpoolHasNoNameUntilDescribed(t *testing.T) {
	parent := t.TempDir()
	s := newStore(t, Options{Dir: parent})
	a := spoolArtifact(t, s, "x")
	dirs, err := filepath.Glob(filepath.Join(parent, "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	info, err := os.Stat(dirs[0])
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	before, err := os.ReadDir(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	d, err := a.Describe()
	if err != nil {
		t.Fatal(err)
	}
	if len(before) == 1 && before[0].Name() != filepath.Base(d.Path) {
		t.Errorf("a name before it was described: %v", before)
	}
	if err := s.Remove(a.Handle().CallID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(d.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the name stays after Remove: %v", err)
	}
}

func TestErrorsTellNoPath(t *testing.T) {
	s := newStore(t, Options{})
	path := writeFile(t, "secret-name", "content")
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // reading will fail
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.File(f, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"artifact_cat", "artifact_line_count", "artifact_json_type"} {
		_, err := ask(t, a, q, `{}`)
		if err == nil || strings.Contains(err.Error(), "secret-name") || !strings.Contains(err.Error(), "bad file descriptor") {
			t.Errorf("%s: %v", q, err)
		}
	}
}
