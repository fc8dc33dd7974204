package artifact

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sandboxctl/sandboxctl/artifact/internal/jsonval"
)

// JSONGet returns what a path selects. One value that no other could stand beside is indented; otherwise each match
// is a line "PATH<TAB>JSON", and of JSON Lines "RECORD<TAB>PATH<TAB>JSON", where $ is the record.
func (a *Artifact) JSONGet(ctx context.Context, args JSONGetArgs) (Result, error) {
	return a.onDoc(ctx, args.Path, func(v *view, out *output, d *jsonDoc, p *jsonval.Path) error {
		l := newMatchList(out, "artifact_json_get", args.Start, args.MaxResults)
		if !d.lines && p.Singular() {
			return l.single(ctx, d, p)
		}
		if !d.lines {
			err := p.Select(ctx, d.root, func(at *jsonval.Place, val any) bool {
				return l.add(at.String()+"\t", val)
			})
			l.finish()
			return err
		}
		return l.fromRecords(ctx, v, d, func(r int64, root any) (bool, error) {
			more := true
			err := p.Select(ctx, root, func(at *jsonval.Place, val any) bool {
				more = l.add(strconv.FormatInt(r, 10)+"\t"+at.String()+"\t", val)
				return more
			})
			return more, err
		})
	})
}

// JSONFilter returns the records that a path keeps, each as a line "RECORD<TAB>JSON". Records are the lines of JSON
// Lines, the elements of a root array, or else the root alone.
func (a *Artifact) JSONFilter(ctx context.Context, args JSONFilterArgs) (Result, error) {
	return a.onDoc(ctx, args.Path, func(v *view, out *output, d *jsonDoc, p *jsonval.Path) error {
		l := newMatchList(out, "artifact_json_filter", args.Start, args.MaxResults)
		filter, ok := p.Filter()
		return l.fromRecords(ctx, v, d, func(r int64, root any) (more bool, err error) {
			var keep bool
			if ok {
				keep, err = filter.Keeps(ctx, root)
			} else {
				err = p.Select(ctx, root, func(*jsonval.Place, any) bool {
					keep = true
					return false
				})
			}
			if err != nil || !keep {
				return true, err
			}
			return l.add(strconv.FormatInt(r, 10)+"\t", root), nil
		})
	})
}

// JSONPluck returns what a path selects in each record, each as a line "RECORD<TAB>JSON". Records are as for
// JSONFilter.
func (a *Artifact) JSONPluck(ctx context.Context, args JSONPluckArgs) (Result, error) {
	return a.onDoc(ctx, args.Path, func(v *view, out *output, d *jsonDoc, p *jsonval.Path) error {
		l := newMatchList(out, "artifact_json_pluck", args.Start, args.MaxResults)
		err := l.fromRecords(ctx, v, d, func(r int64, root any) (bool, error) {
			more := true
			err := p.Select(ctx, root, func(_ *jsonval.Place, val any) bool {
				more = l.add(strconv.FormatInt(r, 10)+"\t", val)
				return more
			})
			return more, err
		})
		if err == nil && l.seen == 0 && p.SelectsChildren() {
			out.note("here $ is each record; for a path from the root use artifact_json_get")
		}
		return err
	})
}

// JSONSlice returns records by number, each as a line "RECORD<TAB>JSON". Records are as for JSONFilter, or the
// elements of the array at a path.
func (a *Artifact) JSONSlice(ctx context.Context, args JSONSliceArgs) (Result, error) {
	return a.onDoc(ctx, args.Path, func(v *view, out *output, d *jsonDoc, p *jsonval.Path) error {
		from, to := valueOr(args.Start, 0), valueOr(args.End, -1)
		if to >= 0 && to < from {
			return &ArgumentError{Argument: "end", Reason: fmt.Sprintf("%d is before start, which is %d", to, from)}
		}
		l := newMatchList(out, "artifact_json_slice", nil, nil)
		if d.lines && args.Path == "" {
			return l.sliceLines(ctx, v, d, from, to)
		}
		records := d.records()
		if args.Path != "" {
			val, err := d.the(ctx, p, args.Path)
			if err != nil {
				return err
			}
			array, ok := val.(*jsonval.Array)
			if !ok {
				return &ArgumentError{Argument: "path", Reason: "only an array can be sliced; here is " + describe(val)}
			}
			records = array.Elems
		}
		for i := from; i < int64(len(records)) && (to < 0 || i < to); i++ {
			if !l.add(strconv.FormatInt(i, 10)+"\t", records[i]) {
				break
			}
		}
		l.base = from
		if l.quiet = true; from >= int64(len(records)) {
			out.note("record %d is past the end: there are %d", from, len(records))
		}
		l.finish()
		return nil
	})
}

// matchList writes matches, one a line, as far as they fit.
type matchList struct {
	out      *output
	tool     string
	skip     int64
	max      int64 // 0 = no limit
	seen     int64 // matches met, skipped ones included
	shown    int64
	base     int64 // the number that the first shown match has in a start argument
	overflow bool
	partial  bool // the last match was shown in part
	quiet    bool // that nothing matches has been said, or goes without saying
}

func newMatchList(out *output, tool string, start, maxResults *int64) *matchList {
	l := &matchList{out: out, tool: tool, skip: valueOr(start, 0), max: valueOr(maxResults, 0)}
	l.base = l.skip
	return l
}

// add writes one match and reports whether to go on. A match that does not fit is left to the next call, unless it
// is the first, which is then shown in part.
func (l *matchList) add(prefix string, v any) bool {
	l.seen++
	if l.seen <= l.skip {
		return true
	}
	if l.max > 0 && l.shown == l.max {
		l.overflow = true
		return false
	}
	mark := len(l.out.text)
	if l.out.whole(prefix) && jsonval.Write(v, "", l.out.str) && l.out.whole("\n") {
		l.shown++
		return true
	}
	l.overflow = true
	if l.shown > 0 {
		l.out.text = l.out.text[:mark]
		return false
	}
	l.shown++
	l.partial = true
	l.out.note("the value is %s and is shown in part; ask for parts of it with a longer path", describe(v))
	return false
}

// single writes the one value that a path can select.
func (l *matchList) single(ctx context.Context, d *jsonDoc, p *jsonval.Path) error {
	found := false
	err := p.Select(ctx, d.root, func(_ *jsonval.Place, v any) bool {
		found = true
		if !jsonval.Write(v, "  ", l.out.str) {
			l.out.cut = true
			l.out.note("the value is %s and was cut; ask for parts of it with a longer path, or use artifact_json_keys, artifact_json_length and artifact_json_slice with this one", describe(v))
		}
		return false
	})
	if err == nil && !found {
		l.out.note("nothing matches")
	}
	return err
}

// finish says what was not shown.
func (l *matchList) finish() {
	switch {
	case l.overflow:
		l.out.cut = true
		l.out.note("there is more; for the rest use %s with start %d", l.tool, l.base+l.shown)
	case l.seen == 0 && !l.quiet:
		l.out.note("nothing matches")
	case l.shown == 0 && l.seen > 0:
		l.out.note("only %d match", l.seen)
	}
}

// fromRecords calls query with every record and its number until it returns false.
func (l *matchList) fromRecords(ctx context.Context, v *view, d *jsonDoc, query func(int64, any) (bool, error)) error {
	if !d.lines {
		for i, r := range d.records() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if more, err := query(int64(i), r); err != nil || !more {
				l.finish()
				return err
			}
		}
		l.finish()
		return nil
	}
	var bad badRecords
	var queryErr error
	err := v.eachRecord(ctx, func(r record) bool {
		root, ok := bad.decode(r)
		if !ok {
			return true
		}
		var more bool
		more, queryErr = query(r.index, root)
		return more && queryErr == nil
	})
	if err == nil {
		err = queryErr
	}
	if err == nil {
		err = bad.report(l.out, d.format)
	}
	l.finish()
	return err
}

func (l *matchList) sliceLines(ctx context.Context, v *view, d *jsonDoc, from, to int64) error {
	l.quiet = true
	var bad badRecords
	n, next := int64(0), from
	err := v.eachRecord(ctx, func(r record) bool {
		n = r.index + 1
		if r.index < from {
			return true
		}
		if to >= 0 && r.index >= to {
			return false
		}
		prefix := strconv.FormatInt(r.index, 10) + "\t"
		val, ok := bad.decode(r)
		if !ok {
			ok = l.out.whole(prefix + "(not JSON)\n")
			l.overflow = !ok
		} else {
			ok = l.add(prefix, val)
		}
		if ok || l.partial {
			next = r.index + 1
		}
		return ok
	})
	if err != nil {
		return err
	}
	if n <= from {
		l.out.note("record %d is past the end: there are %d", from, n)
	}
	l.base = next - l.shown
	l.finish()
	return bad.report(l.out, d.format)
}
