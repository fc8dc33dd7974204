package mdtree

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sandboxctl/sandboxctl/artifact/internal/jsonval"
)

const (
	// MaxFrontMatter is the longest front matter that is read, in bytes. Longer ones are Markdown.
	MaxFrontMatter = 256 << 10
	// maxNodes bounds what aliases can blow a front matter up to.
	maxNodes = 100_000
	// maxDepth bounds nesting.
	maxDepth = 1000
)

// splitFrontMatter returns the YAML between a first line "---" and a line "---" or "...", and where the text after
// it begins.
func splitFrontMatter(src string) (yamlText string, body int, ok bool) {
	rest := strings.TrimPrefix(src, "\ufeff")
	start := len(src) - len(rest)
	first, after, found := strings.Cut(rest, "\n")
	if !found || strings.TrimRight(first, " \t\r") != "---" {
		return "", start, false
	}
	begin := len(src) - len(after)
	for off := begin; off < len(src) && off-begin <= MaxFrontMatter; {
		line, next, more := strings.Cut(src[off:], "\n")
		if mark := strings.TrimRight(line, " \t\r"); mark == "---" || mark == "..." {
			return src[begin:off], len(src) - len(next), true
		}
		if !more {
			break
		}
		off = len(src) - len(next)
	}
	return "", start, false
}

// FrontMatter returns the front matter of a text, of which the first MaxFrontMatter bytes are enough; ok is false
// when there is none. Dates stay the strings they are.
func FrontMatter(text string) (v any, ok bool, err error) {
	front, _, ok := splitFrontMatter(text)
	if !ok {
		return nil, false, nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(front), &root); err != nil {
		return nil, true, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if root.Kind == 0 { // nothing but comments
		return nil, true, nil
	}
	c := converter{}
	v = c.value(&root, 0)
	return v, true, c.err
}

// converter makes JSON values of YAML nodes.
type converter struct {
	nodes int
	err   error
}

func (c *converter) value(n *yaml.Node, depth int) any {
	if c.nodes++; c.err == nil && (c.nodes > maxNodes || depth > maxDepth) {
		c.err = fmt.Errorf("line %d: more than %d nodes or %d levels, aliases included", n.Line-1, maxNodes, maxDepth)
	}
	if c.err != nil {
		return nil
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return c.value(n.Content[0], depth)
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		a := &jsonval.Array{}
		for _, e := range n.Content {
			a.Elems = append(a.Elems, c.value(e, depth+1))
		}
		return a
	case yaml.MappingNode:
		o := &jsonval.Object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if n.Content[i].Kind != yaml.ScalarNode {
				key = jsonval.Format(c.value(n.Content[i], depth+1), "")
			}
			o.Keys = append(o.Keys, key)
			o.Vals = append(o.Vals, c.value(n.Content[i+1], depth+1))
		}
		return o
	}
	return scalar(n)
}

func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		if v, err := jsonval.Decode(n.Value, jsonval.Strict); err == nil {
			if num, ok := v.(json.Number); ok {
				return num
			}
		}
		var f float64
		if n.Decode(&f) == nil {
			if math.IsInf(f, 0) || math.IsNaN(f) {
				return f
			}
			if b, err := json.Marshal(f); err == nil {
				return json.Number(b)
			}
		}
	}
	return n.Value
}
