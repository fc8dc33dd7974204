package match

import "bytes"

// needle looks for a literal in a block. It is immutable.
type needle struct {
	text []byte // in lower case where mask is set
	mask []byte // 0x20 for a letter that matches in either case, else 0; as long as text
	// i1 <= i2 are the places of the two rarest bytes, which are looked for together.
	i1, i2 int
	fold   bool
}

func newNeedle(l literal) *needle {
	n := &needle{text: l.text, mask: make([]byte, len(l.text))}
	for i, c := range l.text {
		if l.fold && isLower(c) {
			n.mask[i] = 0x20
			n.fold = true
		}
	}
	// Two bytes beside each other often come together anyway ("th", "in"), so a little distance is worth a little
	// commonness; and the same byte twice says less than two bytes.
	best := -1 << 30
	for i := range n.text {
		for j := i; j < len(n.text); j++ {
			score := -rank(n.text[i], l.fold) - rank(n.text[j], l.fold)
			switch {
			case i == j:
				score = -2 * 255
			case n.text[i] == n.text[j]:
				score -= 60
			case j == i+1:
				score -= 10
			}
			if score > best {
				best, n.i1, n.i2 = score, i, j
			}
		}
	}
	return n
}

// next returns the first place at or after from where the literal stands in b, or -1.
func (n *needle) next(b []byte, from int) int {
	for from+len(n.text) <= len(b) {
		// Only places where the whole literal fits are looked at, so that verify needs no bounds.
		last := len(b) - len(n.text)
		i := n.nextPair(b, from, last)
		if i < 0 || n.verify(b[i:]) {
			return i
		}
		from = i + 1
	}
	return -1
}

func (n *needle) verify(b []byte) bool {
	if !n.fold {
		return bytes.HasPrefix(b, n.text)
	}
	for i, c := range n.text {
		if b[i]|n.mask[i] != c {
			return false
		}
	}
	return true
}

// nextPair returns the first place in [from, last] at which the two rare bytes fit, or -1.
func (n *needle) nextPair(b []byte, from, last int) int {
	at, delta := from+n.i1, n.i2-n.i1
	places := last - from + 1
	found, done := pairScan(b[at:at+places+delta], places, delta, n.text[n.i1], n.text[n.i2], n.mask[n.i1], n.mask[n.i2])
	if found >= 0 {
		return from + found
	}
	if i := n.nextByte(b[at+done:at+places], b[at+done+delta:]); i >= 0 {
		return from + done + i
	}
	return -1
}

// nextByte does the work of pairScan without vector instructions: it looks for the first rare byte in b and
// checks the second in b2, which is b moved on by the distance of the two.
func (n *needle) nextByte(b, b2 []byte) int {
	c1, m1 := n.text[n.i1], n.mask[n.i1]
	c2, m2 := n.text[n.i2], n.mask[n.i2]
	for off := 0; off < len(b); {
		i := indexFold(b[off:], c1, m1)
		if i < 0 {
			return -1
		}
		off += i
		if b2[off]|m2 == c2 {
			return off
		}
		off++
	}
	return -1
}

// foldWindow bounds what one look for the second spelling of a letter can waste.
const foldWindow = 4 << 10

// indexFold is bytes.IndexByte for either case of a letter when mask is 0x20.
func indexFold(b []byte, c, mask byte) int {
	if mask == 0 {
		return bytes.IndexByte(b, c)
	}
	for off := 0; off < len(b); off += foldWindow {
		w := b[off:min(off+foldWindow, len(b))]
		i := bytes.IndexByte(w, c)
		if i >= 0 {
			w = w[:i]
		}
		if j := bytes.IndexByte(w, c&^mask); j >= 0 {
			i = j
		}
		if i >= 0 {
			return off + i
		}
	}
	return -1
}

// cursor walks the candidates of a set of literals in one block.
type cursor struct {
	l  *literals
	b  []byte
	at []int // the next place of each literal; len(b) when there is none
}

func (l *literals) in(b []byte) cursor {
	c := cursor{l: l, b: b, at: make([]int, len(l.needles))}
	for i := range c.at {
		c.at[i] = -1
	}
	return c
}

// next returns the first candidate at or after from, or -1. Successive calls must not go back.
func (c *cursor) next(from int) int {
	first := len(c.b)
	for i, n := range c.l.needles {
		if c.at[i] < from {
			c.at[i] = n.next(c.b, from)
			if c.at[i] < 0 {
				c.at[i] = len(c.b)
			}
		}
		first = min(first, c.at[i])
	}
	if first == len(c.b) {
		return -1
	}
	return first
}
