package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sandboxctl/sandboxctl/tools/internal/strictjson"
	"github.com/sandboxctl/sandboxctl/tools/outcome"
	"github.com/sandboxctl/sandboxctl/tools/workspace"
)

// maxRulesBytes bounds a file of rules.
const maxRulesBytes = 1 << 20

// action is what a rule says. The zero value is none.
type action uint8

const (
	allow action = iota + 1
	deny
	ask
)

func parseAction(s string) (action, bool) {
	switch s {
	case "allow":
		return allow, true
	case "deny":
		return deny, true
	case "ask":
		return ask, true
	}
	return 0, false
}

type rule struct {
	tool string // glob
	path string // glob; "" matches every call
	do   action
	note string
}

// Rules decides by a list: the first rule that matches the tool and the path decides, and a call that none matches is
// declined. It is immutable; the file is read once.
//
// A file of rules is strict JSON:
//
//	{
//	  "rules": [
//	    {"tool": "{open,stage}_*", "path": "src/**", "do": "allow"},
//	    {"tool": "*", "path": "**/*.pem", "do": "deny", "note": "keys stay here"},
//	    {"tool": "save_media", "do": "ask"}
//	  ],
//	  "ask": "exec:/usr/local/bin/approve"
//	}
//
// A path glob is relative to the workspace root and matches the argument path, or cwd, with "." and ".." taken out; a
// rule with a path matches no call that has neither. ask is needed when a rule asks, and is any gate but rules.
type Rules struct {
	rules []rule
	asked Gate // nil when no rule asks
}

// NewRules reads a file of rules. deps are for the gate that "ask" names.
func NewRules(path string, deps Deps) (*Rules, error) {
	raw, err := readRegular(path)
	if err != nil {
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "gate rules:" + path, Err: err}
	}
	r, err := parseRules(raw, deps)
	if err != nil {
		place := path
		var strict *strictjson.Error
		if errors.As(err, &strict) {
			line, column := strictjson.Position(raw, strict.Offset)
			place = fmt.Sprintf("%s:%d:%d", path, line, column)
		}
		return nil, &outcome.SetupError{Code: outcome.CodeInvalidConfig, Message: "gate rules:" + place, Err: err}
	}
	return r, nil
}

// readRegular reads a regular file of bounded size. A FIFO would block, and a device act.
func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxRulesBytes+1))
	if err == nil && len(raw) > maxRulesBytes {
		err = fmt.Errorf("it has more than %d bytes", maxRulesBytes)
	}
	return raw, err
}

func parseRules(raw []byte, deps Deps) (*Rules, error) {
	fields, err := strictjson.Object(raw, "rules", "ask")
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if fields["rules"] == nil || json.Unmarshal(fields["rules"], &list) != nil || list == nil {
		return nil, errors.New("/rules must be a list of rules")
	}
	r := &Rules{}
	asks := false
	for i, raw := range list {
		parsed, err := parseRule(raw)
		if err != nil {
			return nil, fmt.Errorf("/rules/%d: %w", i, err)
		}
		r.rules = append(r.rules, parsed)
		asks = asks || parsed.do == ask
	}
	var spec string
	if fields["ask"] != nil {
		if json.Unmarshal(fields["ask"], &spec) != nil || spec == "" {
			return nil, errors.New("/ask must name a gate")
		}
		if strings.HasPrefix(spec, "rules:") {
			return nil, errors.New("/ask must not name another file of rules")
		}
		if r.asked, err = ParseSpec(spec, deps); err != nil {
			return nil, fmt.Errorf("/ask: %w", err)
		}
	}
	if asks && r.asked == nil {
		return nil, errors.New(`a rule asks, and /ask does not say whom: add "ask": "exec:PROGRAM" or "ask": "elicit"`)
	}
	return r, nil
}

func parseRule(raw json.RawMessage) (rule, error) {
	fields, err := strictjson.Object(raw, "tool", "path", "do", "note")
	if err != nil {
		// Offsets within a rule would mislead: the file's own are another.
		return rule{}, errors.New(strings.SplitN(err.Error(), " (at byte", 2)[0])
	}
	var r rule
	var do string
	for _, part := range []struct {
		name string
		to   *string
	}{{"tool", &r.tool}, {"path", &r.path}, {"do", &do}, {"note", &r.note}} {
		name, to := part.name, part.to
		value, given := fields[name]
		if !given {
			continue
		}
		if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, to) != nil {
			return rule{}, fmt.Errorf("%s must be a string", name)
		}
		if *to == "" && name != "note" {
			return rule{}, fmt.Errorf("%s must not be empty", name)
		}
	}
	if r.tool == "" {
		return rule{}, errors.New(`tool is missing; "*" means all`)
	}
	var ok bool
	if r.do, ok = parseAction(do); !ok {
		return rule{}, fmt.Errorf("do must be allow, deny or ask, not %q", do)
	}
	for _, pattern := range []string{r.tool, r.path} {
		if !doublestar.ValidatePattern(pattern) {
			return rule{}, fmt.Errorf("%q is not a valid glob", pattern)
		}
	}
	if strings.HasPrefix(r.path, "/") || strings.HasPrefix(r.path, "./") || strings.HasPrefix(r.path, "../") {
		return rule{}, fmt.Errorf("path is relative to the workspace root, and begins with a name: %q", r.path)
	}
	return r, nil
}

// Decide implements [Gate].
func (r *Rules) Decide(ctx context.Context, call Call) (Verdict, error) {
	path, has, bad := pathOf(call)
	for _, rule := range r.rules {
		if !doublestar.MatchUnvalidated(rule.tool, call.Tool()) {
			continue
		}
		if rule.path != "" {
			switch {
			case bad:
				// Whether a rule speaks of it cannot be told. It would be refused later, but nobody is asked to allow it.
				return Verdict{Note: "the path cannot be held against the rules"}, nil
			case !has || !doublestar.MatchUnvalidated(rule.path, path):
				continue
			}
		}
		switch rule.do {
		case allow:
			return Verdict{Approved: true}, nil
		case ask:
			return r.asked.Decide(ctx, call)
		}
		return Verdict{Note: rule.note}, nil
	}
	return Verdict{Note: "no rule allows it"}, nil
}

// pathOf gives the path that a call names, as a rule spells it. bad means that there is one which is no path.
func pathOf(call Call) (path string, has, bad bool) {
	var args map[string]json.RawMessage // and not a struct, which would take "PATH" for "path"
	if json.Unmarshal(call.args, &args) != nil {
		return "", false, true
	}
	raw, has := args["path"]
	if !has {
		raw, has = args["cwd"]
	}
	if !has {
		return "", false, false
	}
	if len(raw) == 0 || raw[0] != '"' {
		return "", true, true
	}
	var asked string
	if json.Unmarshal(raw, &asked) != nil {
		return "", true, true
	}
	backend, err := workspace.RootedPaths{}.ToBackend(asked)
	if err != nil {
		return "", true, true
	}
	return strings.TrimSuffix(backend, "/"), true, false
}
