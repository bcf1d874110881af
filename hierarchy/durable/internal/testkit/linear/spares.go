package linear

import (
	"cmp"
	"math"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// spares are the calls for a key that have no answer and whose effect was not observed for certain, by the times at
// which they began. Each may be committed once at any later time, or never. If such calls were operations, an order
// would be hard to find, as each of them can be anywhere. Therefore a spare is committed only just before an
// operation whose answer needs it: committing it earlier makes no difference. Of those with the same effect the one
// that began first is committed first, since all operations after it must end after it began.
type spares struct{ sets, removes []int64 }

// latest returns when the last of those spares began that were committed.
func (s *spares) latest(r register) int64 {
	latest := int64(math.MinInt64)
	if r.sets > 0 {
		latest = s.sets[r.sets-1]
	}
	if r.removes > 0 {
		latest = max(latest, s.removes[r.removes-1])
	}
	return latest
}

// bring commits a spare before an operation that ended then, if the register must have a timer, or must have none, and
// is otherwise. It reports false if there is no spare for that.
func (s *spares) bring(r *register, there bool, ended int64) bool {
	if r.there == there {
		return true
	}
	from, used := s.removes, &r.removes
	if there {
		from, used = s.sets, &r.sets
	}
	if *used == len(from) || from[*used] > ended {
		return false
	}
	*used++
	r.there, r.known, r.value = there, false, ""
	return true
}

// operations returns the calls for each key as operations. Those without an answer become spares, unless somebody saw
// their value, so that they were committed before that.
func operations(calls []Call) (all [][]operation) {
	keys := map[string][]Call{}
	for _, c := range calls {
		keys[c.Input.Key] = append(keys[c.Input.Key], c)
	}
	for _, calls := range keys {
		all = append(all, operationsOf(calls))
	}
	return all
}

// operationsOf is operations for the calls for one key.
func operationsOf(calls []Call) (all []operation) {
	set, seen := map[string]int{}, map[string]int64{} // how often a value was set; when it was first seen
	for _, c := range calls {
		in, out := c.Input, c.Output
		if in.isSet() {
			set[in.Value]++
		}
		if in.shows(out) {
			if at, ok := seen[out.Value]; !ok || c.Ended < at {
				seen[out.Value] = c.Ended
			}
		}
	}
	s := new(spares)
	for _, c := range calls {
		if c.Output.Unknown && !s.settle(&c, set[c.Input.Value], seen) {
			continue
		}
		all = append(all, operation{c, s})
	}
	slices.SortStableFunc(all, func(a, b operation) int { return cmp.Compare(a.Begun, b.Begun) })
	slices.Sort(s.sets)
	slices.Sort(s.removes)
	return all
}

// settle determines by when a call without an answer was committed. It reports false if the call is a spare, or has no
// effect.
func (s *spares) settle(c *Call, sets int, seen map[string]int64) bool {
	switch c.Input.Kind {
	case frame.Remove:
		s.removes = append(s.removes, c.Begun)
		return false
	case frame.Set, frame.SetAt:
		at, ok := seen[c.Input.Value]
		switch {
		case !ok:
			s.sets = append(s.sets, c.Begun)
			return false
		case sets > 1: // the value of another call may have been seen
			c.Ended = math.MaxInt64
		default:
			c.Ended = max(at, c.Begun)
		}
		return true
	}
	return false
}
