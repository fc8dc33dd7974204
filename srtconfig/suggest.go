package srtconfig

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknownKey words the refusal of a key, with the nearest one that is known there, or the section that it belongs to.
func unknownKey(name, pointer string, known map[string]reflect.StructField) error {
	if name == "filterRequest" && pointer == "/network" {
		return fmt.Errorf("filterRequest is a function of srt's TypeScript interface; a settings file cannot hold one")
	}
	here := make([]string, 0, len(known))
	for k := range known {
		here = append(here, k)
	}
	slices.Sort(here)
	if near := nearest(name, here); near != "" {
		return fmt.Errorf("unknown key %q; did you mean %q?", name, near)
	}
	if section, key := elsewhere(name, pointer); section != "" {
		return fmt.Errorf("unknown key %q here; %q stands under %q", name, key, section)
	}
	return fmt.Errorf("unknown key %q; known here: %s", name, strings.Join(here, ", "))
}

// elsewhere finds the section that has the key, when this one does not.
func elsewhere(name, pointer string) (section, key string) {
	top := reflect.TypeFor[Settings]()
	fields := fieldsOf(top)
	sections := make([]string, 0, len(fields))
	for k := range fields {
		sections = append(sections, k)
	}
	slices.Sort(sections)
	for _, s := range sections {
		if pointer != "" && strings.EqualFold(s, name) {
			return "the top level", s
		}
		if fields[s].Type.Kind() != reflect.Struct || "/"+s == pointer {
			continue
		}
		for k := range fieldsOf(fields[s].Type) {
			if strings.EqualFold(k, name) {
				return s, k
			}
		}
	}
	return "", ""
}

// nearest returns the candidate that a slip of the keyboard could have turned into name; "" when none is close.
func nearest(name string, candidates []string) string {
	best, bestDistance := "", 1+max(2, len(name)/3)
	for _, c := range candidates {
		if strings.EqualFold(c, name) {
			return c
		}
		if d := editDistance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if bestDistance >= len(best) {
		return ""
	}
	return best
}

// editDistance counts insertions, deletions and replacements (Levenshtein). Long names are cut: they are no slip.
func editDistance(a, b string) int {
	const longest = 64
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
