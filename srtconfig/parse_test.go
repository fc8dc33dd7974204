package srtconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAllErrorsAtOnceInTheOrderOfTheFile(t *testing.T) {
	_, err := Parse([]byte("{\n  \"network\": {\"allowedDomains\": [\"*\", \"ok.test\", \"a..b\"]},\n"+
		"  \"filesystem\": {\"denyRead\": [\"\", 3], \"disabled\": 1},\n  \"extra\": true\n}"), "dir/s.json")
	var got []string
	for _, e := range SettingsErrors(err) {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", e.File, e.Line, e.Column, e.Pointer))
	}
	want := []string{
		"dir/s.json:2:34 /network/allowedDomains/0", "dir/s.json:2:50 /network/allowedDomains/2",
		"dir/s.json:3:31 /filesystem/denyRead/0", "dir/s.json:3:35 /filesystem/denyRead/1", "dir/s.json:3:51 /filesystem/disabled",
		"dir/s.json:4:3 /extra",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var first *SettingsError
	if !errors.As(err, &first) || first.Code() != CodeInvalidConfig {
		t.Errorf("errors.As finds no SettingsError in %v", err)
	}
}

func TestSourcesPointAtTheEntry(t *testing.T) {
	s, err := Parse([]byte("{\n\t// é\n\t\"filesystem\": {\"denyRead\": [\n\t\t{\"path\": \"a\"}, \"b\"]}\n}"), "s.json")
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]Source{
		"/filesystem/denyRead/0": {File: "s.json", Pointer: "/filesystem/denyRead/0", Line: 4, Column: 3, Text: "a"},
		"/filesystem/denyRead/1": {File: "s.json", Pointer: "/filesystem/denyRead/1", Line: 4, Column: 18, Text: "b"},
	} {
		if got, ok := s.Source(pointer); !ok || got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, ok := s.Source("/filesystem/denyRead/2"); ok {
		t.Error("a source for what is not there")
	}
}

func TestSizeAndNesting(t *testing.T) {
	pad := strings.Repeat(" ", MaxSettingsBytes-2)
	if _, err := Parse([]byte("{}"+pad), "s.json"); err != nil {
		t.Errorf("just under the limit: %v", err)
	}
	_, err := Parse([]byte("{} "+pad), "s.json")
	wantError(t, err, "", "more than 1048576 bytes")
	_, err = Parse([]byte(strings.Repeat("[", 1<<19)), "s.json")
	wantError(t, err, "", "s.json:1:65: more than 64")
	// Braces in a string and in a path are no nesting.
	if _, err := Parse([]byte(`{"filesystem": {"denyRead": ["`+strings.Repeat(`{\"[`, 200)+`"]}}`), "s.json"); err != nil {
		t.Error(err)
	}
}

func TestManyMistakes(t *testing.T) {
	_, err := Parse([]byte(`{"filesystem": {"denyRead": [`+strings.Repeat("1,", 400_000)+`]}}`), "s.json")
	if n := len(SettingsErrors(err)); n != 101 {
		t.Errorf("%d errors", n)
	}
	wantError(t, err, "", "and 399900 more")
}

func TestKeysOfOtherSystemsAreReported(t *testing.T) {
	text, err := os.ReadFile("testdata/good/other-systems.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(text, "s.json")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range s.WithoutEffect() {
		got = append(got, w.Source.Pointer)
	}
	want := "/network/allowMachLookup /enableWeakerNetworkIsolation /allowAppleEvents /allowPty /windows /seccomp /bwrapPath /socatPath /javaAgentJarPath"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if _, err := Derive(t.Context(), s, tempHost(t)); err != nil {
		t.Errorf("Derive: %v", err)
	}
}

func TestProtectionThatIsMissingIsRefused(t *testing.T) {
	host := tempHost(t)
	_, err := derive(t, host, `{"network": {"tlsTerminate": {}}, "credentials": {}}`)
	wantError(t, err, "/network/tlsTerminate", "does not open TLS")
	wantError(t, err, "/credentials", "does not mask credentials")
}

func TestSettingsMadeInCode(t *testing.T) {
	host := tempHost(t)
	for name, c := range map[string]struct {
		settings Settings
		pointer  string
	}{
		"path":   {Settings{Filesystem: FilesystemSettings{DenyRead: []PathEntry{{Path: ""}}}}, "/filesystem/denyRead/0"},
		"domain": {Settings{Network: NetworkSettings{AllowedDomains: []string{"*"}}}, "/network/allowedDomains/0"},
		"depth":  {Settings{MandatoryDenySearchDepth: 11}, "/mandatoryDenySearchDepth"},
	} {
		_, err := Derive(t.Context(), &c.settings, host)
		t.Run(name, func(t *testing.T) { wantError(t, err, c.pointer, "") })
	}
	rules, err := Derive(t.Context(), Default(), host)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Paths() {
		if r.List != Protected {
			t.Errorf("the defaults hold %+v", r)
		}
	}
	if !rules.Network().Closed() || rules.Tmp() != TmpPrivate || rules.SearchDepth() != 3 {
		t.Errorf("defaults: %+v", rules)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	plant(t, dir, "good.json = {}", "bad.json = {\n  \"x\": 1\n}", "dir/", "link => good.json", "loop => loop", "shut.json = {}", "dangling => none")
	if err := os.WriteFile(at("large.json"), make([]byte, 10<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at("shut.json"), 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		for d := dir; d != "/tmp" && d != "/"; d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{at("good.json"), at("link")} {
		s, err := Load(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.File() != name {
			t.Errorf("File is %q", s.File())
		}
	}
	asOrdinaryUser(t, func() {
		for name, fragment := range map[string]string{
			"none.json":  "no such file",
			"dangling":   "no such file",
			"dir":        "this is a directory",
			"fifo":       "this is a FIFO",
			"loop":       "loop",
			"shut.json":  "permission denied",
			"large.json": "more than 1048576 bytes",
			"bad.json":   "bad.json:2:3: /x: unknown key",
		} {
			s, err := Load(at(name))
			var wrong *SettingsError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), fragment) || !strings.HasPrefix(err.Error(), at(name)) {
				t.Errorf("%s: %v, want a SettingsError that names the file and says %q", name, err, fragment)
			}
			if s != nil {
				t.Errorf("%s: settings came back with the error", name)
			}
		}
	})
	for name, fragment := range map[string]string{"/dev/null": "this is a device", "": "no settings file"} {
		if _, err := Load(name); err == nil || !strings.Contains(err.Error(), fragment) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, dir := range []string{"good", "bad"} {
		files, err := filepath.Glob("testdata/" + dir + "/*.json")
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text, "s.json")
		if (s == nil) == (err == nil) {
			t.Fatalf("settings %v and error %v", s, err)
		}
		for _, e := range SettingsErrors(err) {
			if e.Line < 0 || e.Column < 0 || e.Line > strings.Count(string(text), "\n")+1 {
				t.Errorf("%v points outside of the file", e)
			}
		}
		if s == nil && len(SettingsErrors(err)) == 0 {
			t.Errorf("error %v is no SettingsError", err)
		}
	})
}
