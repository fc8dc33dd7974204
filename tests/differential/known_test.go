package differential

import (
	"github.com/sandboxctl/sandboxctl/evaluator"
	"github.com/sandboxctl/sandboxctl/srtconfig"
)

// knownDifference is a place where evaluator and kernel may differ. docs/two-boundaries.md lists the same.
type knownDifference struct {
	name string // as the heading in the documentation
	// covers reports whether a denial by the evaluator need not be the kernel's. absent says that the path of the decision
	// did not exist when the rules were derived.
	covers func(d evaluator.Decision, absent bool) bool
}

// knownDifferences is the whole list. Every one is a denial of the evaluator that the kernel does not know; where the
// evaluator allows, the kernel has to. Hard links that existed before need no row: each side judges the name that is used.
var knownDifferences = []knownDifference{
	{"absent protected names", func(d evaluator.Decision, absent bool) bool {
		return absent && d.Rule != nil && !d.Rule.Exists && d.Rule.List == srtconfig.Protected
	}},
	{"absent deny entries", func(d evaluator.Decision, absent bool) bool {
		return absent && d.Rule != nil && !d.Rule.Exists && (d.Rule.List == srtconfig.DenyRead || d.Rule.List == srtconfig.DenyWrite)
	}},
	{"files made after a pattern was expanded", func(d evaluator.Decision, absent bool) bool {
		return absent && d.Glob != nil
	}},
	// What is made there is gone with the sandbox; runCase checks that the host's tree stays as it was.
	{"the sandbox's own /tmp", func(d evaluator.Decision, _ bool) bool {
		return d.Reason == evaluator.PrivateTmp && d.Op != evaluator.Read
	}},
}

// known returns the name of the difference that covers every denial of the verdict; "" when one is not covered.
func (v verdict) known() string {
	if v.blocked.Op != 0 || len(v.denials) == 0 {
		return ""
	}
	name := ""
	for i, d := range v.denials {
		name = ""
		if v.hidden && d.Reason != evaluator.PrivateTmp {
			return ""
		}
		for _, k := range knownDifferences {
			if k.covers(d, v.absent[i]) {
				name = k.name
			}
		}
		if name == "" {
			return ""
		}
	}
	return name
}
