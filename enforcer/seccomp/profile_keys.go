package seccomp

import (
	"encoding/json"
	"fmt"
)

// keys says which keys an object may have. A key with a text is known and refused, with the text as the reason.
// below describes the value of a key, or the elements of its array; nil means that nothing below has keys.
type keys map[string]struct {
	refused string
	below   keys
}

const dockerOnly = "is Docker's own; write the profile out for this architecture and no capabilities"

func profileKeys() keys {
	argument := keys{"index": {}, "value": {}, "valueTwo": {}, "op": {}}
	entry := keys{
		"names": {}, "action": {}, "errnoRet": {}, "comment": {}, "args": {below: argument},
		"name": {refused: `is Docker's old form; use "names"`}, "includes": {refused: dockerOnly}, "excludes": {refused: dockerOnly},
	}
	const loading = "changes how a filter is loaded, which a profile that only narrows cannot"
	return keys{
		"defaultAction": {}, "defaultErrnoRet": {}, "architectures": {}, "syscalls": {below: entry},
		"flags": {refused: loading}, "listenerPath": {refused: loading}, "listenerMetadata": {refused: loading},
		"archMap": {refused: dockerOnly},
	}
}

// checkKeys walks one value. The decoder is at its start; the text was parsed before, so that its syntax is right and
// its depth bounded (encoding/json stops at 10,000).
func checkKeys(d *json.Decoder, at string, allowed keys) error {
	token, err := d.Token()
	if err != nil {
		return profileErrorf(at, "%w", err)
	}
	switch token {
	case json.Delim('['):
		for i := 0; d.More(); i++ {
			if err := checkKeys(d, fmt.Sprintf("%s/%d", at, i), allowed); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			token, err := d.Token()
			if err != nil {
				return profileErrorf(at, "%w", err)
			}
			key := token.(string) // the decoder yields no other token in place of a key
			rule, ok := allowed[key]
			switch {
			case !ok:
				return profileErrorf(at, "unknown key %q", key)
			case rule.refused != "":
				return profileErrorf(at, "key %q %s", key, rule.refused)
			case seen[key]:
				return profileErrorf(at, "key %q appears twice", key)
			}
			seen[key] = true
			if err := checkKeys(d, at+"/"+key, rule.below); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return profileErrorf(at, "%w", err)
	}
	return nil
}
