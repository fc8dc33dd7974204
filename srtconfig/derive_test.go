package srtconfig

import (
	"os"
	"path/filepath"
	"testing"
)

// derive makes Rules from settings text, in a home and working directory of its own.
func derive(t *testing.T, host Host, settings string) (*Rules, error) {
	t.Helper()
	s, err := Parse([]byte(settings), "s.json")
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return Derive(t.Context(), s, host)
}

// tempHost gives a home with a working directory "p" in it. Its paths are free of symlinks.
func tempHost(t *testing.T) Host {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cwd := filepath.Join(home, "p")
	if err := os.Mkdir(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	return Host{Home: home, Cwd: cwd}
}

func TestDeriveLiteralEntries(t *testing.T) {
	host := tempHost(t)
	if err := os.WriteFile(filepath.Join(host.Home, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := derive(t, host, `{"filesystem": {"denyRead": ["~/secret", "../gone/"], "allowWrite": [".", "absent"]}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[List][]PathRule{
		DenyRead:   {{Path: host.Home + "/gone", Dir: true}, {Path: host.Home + "/secret", Exists: true}},
		AllowWrite: {{Path: host.Cwd, Exists: true, Dir: true}},
	}
	for list, rows := range want {
		var got []PathRule
		for _, r := range rules.Paths() {
			if r.List == list {
				got = append(got, r)
			}
		}
		if len(got) != len(rows) {
			t.Fatalf("%s: got %v, want %v", list, got, rows)
		}
		for i := range rows {
			if got[i].Path != rows[i].Path || got[i].Exists != rows[i].Exists || got[i].Dir != rows[i].Dir {
				t.Errorf("%s %d: got %+v, want %+v", list, i, got[i], rows[i])
			}
		}
	}
	w := rules.Warnings()
	if len(w) != 2 || w[0].Source.Pointer != "/filesystem/denyRead/1" || !w[0].Minor || w[1].Source.Pointer != "/filesystem/allowWrite/1" || w[1].Minor {
		t.Errorf("warnings: %+v, want a minor one for the absent denyRead entry and one for the absent allowWrite entry", w)
	}
}
