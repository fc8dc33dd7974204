package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAnyBytesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := string(rapid.SliceOf(rapid.ByteRange(1, 255)).Draw(t, "bytes"))
		b, err := json.Marshal(map[string]String{"s": String(raw)})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]String
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if string(back["s"]) != raw {
			t.Fatalf("%q came back as %q", raw, back["s"])
		}
	})
}

func TestText(t *testing.T) {
	if b, _ := json.Marshal(String("a b")); string(b) != `"a b"` {
		t.Errorf("plain text is %s", b)
	}
	if b, _ := json.Marshal(String("b\xff.key")); strings.Contains(string(b), `\ufffd`) {
		t.Errorf("a byte was replaced: %s", b)
	}
	var s String
	if err := json.Unmarshal([]byte(`"\u0000!"`), &s); err == nil {
		t.Errorf("damage was taken as %q", s)
	}
}
