package srtconfig

import (
	"encoding/binary"
	"sync"
)

// globSet runs many patterns over a tree at once. A directory has a state: which positions of which patterns its path
// has reached. Nearly all directories of a tree share a few states, so that a state is compiled once, into tables that
// answer for a name without looking at each pattern.
type globSet struct {
	globs []*Glob

	mu     sync.Mutex
	states map[string]*globState
}

func newGlobSet(globs []*Glob) *globSet {
	return &globSet{globs: globs, states: map[string]*globState{}}
}

// place is a set of positions in one pattern.
type place struct {
	glob int
	set  uint64
}

// globState is the compiled form of a set of places. It is immutable.
type globState struct {
	places []place // sorted by glob, none empty

	exact  map[string][]int32 // name: tests
	heads  [256][]int32       // first byte of the name: tests that begin with it
	tails  [256][]int32       // last byte of the name: tests that end with it
	always []int32            // tests with neither
	tests  []test
	rest   *globState // the state below a name that no test matches; nil when no pattern goes on
}

// test is one segment that a name may match.
type test struct {
	seg  *segment
	glob int
	next int // the position after it
}

// intern returns the state for a set of places; nil for the empty one.
func (gs *globSet) intern(places []place) *globState {
	if len(places) == 0 {
		return nil
	}
	key := make([]byte, 0, len(places)*12)
	for _, p := range places {
		key = binary.LittleEndian.AppendUint32(key, uint32(p.glob))
		key = binary.LittleEndian.AppendUint64(key, p.set)
	}
	gs.mu.Lock()
	defer gs.mu.Unlock()
	return gs.internLocked(string(key), places)
}

func (gs *globSet) internLocked(key string, places []place) *globState {
	if s, ok := gs.states[key]; ok {
		return s
	}
	s := &globState{places: places}
	gs.states[key] = s
	s.compile(gs)
	return s
}

func (s *globState) compile(gs *globSet) {
	var rest []place
	for _, p := range s.places {
		g := gs.globs[p.glob]
		var stays uint64
		for i := range g.segs {
			if p.set&(1<<i) == 0 {
				continue
			}
			if g.segs[i].any {
				stays |= 1 << i
				continue
			}
			s.addTest(test{seg: &g.segs[i], glob: p.glob, next: i + 1})
		}
		if stays = g.skipAny(stays); stays != 0 {
			rest = append(rest, place{p.glob, stays})
		}
	}
	key := make([]byte, 0, len(rest)*12)
	for _, p := range rest {
		key = binary.LittleEndian.AppendUint32(key, uint32(p.glob))
		key = binary.LittleEndian.AppendUint64(key, p.set)
	}
	if len(rest) > 0 {
		s.rest = gs.internLocked(string(key), rest)
	}
}

func (s *globState) addTest(t test) {
	n := int32(len(s.tests))
	s.tests = append(s.tests, t)
	switch seg := t.seg; {
	case seg.form == formExact:
		if s.exact == nil {
			s.exact = map[string][]int32{}
		}
		s.exact[seg.head] = append(s.exact[seg.head], n)
	case seg.tail != "":
		c := seg.tail[len(seg.tail)-1]
		s.tails[c] = append(s.tails[c], n)
	case seg.head != "":
		s.heads[seg.head[0]] = append(s.heads[seg.head[0]], n)
	default:
		s.always = append(s.always, n)
	}
}

// hit is a pattern that a name matched, or came one step further in.
type hit struct {
	glob int
	next int
}

// match appends to hits what a name, which is not empty, matches in this state.
func (s *globState) match(name string, hits []hit) []hit {
	if s.exact != nil {
		for _, n := range s.exact[name] {
			hits = append(hits, hit{s.tests[n].glob, s.tests[n].next})
		}
	}
	for _, group := range [...][]int32{s.tails[name[len(name)-1]], s.heads[name[0]], s.always} {
		for _, n := range group {
			if t := &s.tests[n]; t.seg.match(name) {
				hits = append(hits, hit{t.glob, t.next})
			}
		}
	}
	return hits
}

// below is the state inside a directory whose name gave these hits.
func (gs *globSet) below(s *globState, hits []hit) *globState {
	if len(hits) == 0 {
		return s.rest
	}
	var places []place
	if s.rest != nil {
		places = append(places, s.rest.places...)
	}
	return gs.intern(gs.merge(places, hits))
}

// seeded adds the start of some patterns to a state, which may be nil.
func (gs *globSet) seeded(s *globState, globs []int) *globState {
	if len(globs) == 0 {
		return s
	}
	var places []place
	if s != nil {
		places = append(places, s.places...)
	}
	for _, g := range globs {
		places = addPlace(places, place{g, gs.globs[g].start()})
	}
	return gs.intern(places)
}

func (gs *globSet) merge(places []place, hits []hit) []place {
	for _, h := range hits {
		g := gs.globs[h.glob]
		// What lies below a match needs no further look for this pattern only when nothing follows the match.
		if h.next < len(g.segs) {
			places = addPlace(places, place{h.glob, g.skipAny(1 << h.next)})
		}
	}
	return places
}

// addPlace keeps places sorted by glob, with one element for each.
func addPlace(places []place, p place) []place {
	at := 0
	for at < len(places) && places[at].glob < p.glob {
		at++
	}
	if at < len(places) && places[at].glob == p.glob {
		places[at].set |= p.set
		return places
	}
	places = append(places, place{})
	copy(places[at+1:], places[at:])
	places[at] = p
	return places
}

// matches reports which of the hits are whole matches.
func (gs *globSet) matches(h hit) bool { return h.next == len(gs.globs[h.glob].segs) }
