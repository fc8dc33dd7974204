package srtconfig

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const (
	settingsPage = "../docs/settings.md"
	tableBegins  = "<!-- keys -->\n"
	tableEnds    = "<!-- /keys -->"
)

func keyTableText() string {
	var b strings.Builder
	b.WriteString("| key | value | without it | what it does here |\n| --- | --- | --- | --- |\n")
	for _, k := range Keys() {
		text := strings.TrimSpace(k.Meaning + " " + k.Effect())
		if k.Now != "" {
			text += " **In this version:** " + k.Now
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Path, k.Value, k.Default, text)
	}
	return b.String()
}

// TestSettingsPage keeps the page's table to the keys that Parse knows.
func TestSettingsPage(t *testing.T) {
	page, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), tableBegins)
	_, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", settingsPage)
	}
	want := before + tableBegins + keyTableText() + tableEnds + after
	if *update {
		if err := os.WriteFile(settingsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Errorf("%s is not up to date; run go test ./srtconfig -run TestSettingsPage -update", settingsPage)
	}
}

// TestSettingsPageExample reads the example as a user would copy it.
func TestSettingsPageExample(t *testing.T) {
	page, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no example")
	}
	if _, err := derive(t, tempHost(t), example); err != nil {
		t.Error(err)
	}
}
