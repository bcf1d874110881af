package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// tenure is the period in which a process owns a partition. The owner's time begins at its wall time at the takeover,
// or ahead of that by as much as the owner reports, and its monotonic clock counts from there. So everything that it
// does must be consistent with one offset, which its wall clock had during the takeover.
type tenure struct {
	partition, worker int
	epoch             uint64

	// The takeover was between from and to. from is when the last operation began that is known to be in the log before
	// it.
	from, to int64
	ahead    int64   // how far ahead it was, as the owner reported
	offsets  []int64 // the offsets that its time may have had at the takeover: those of the clock, plus ahead
	offset   int64   // the offset that fits best

	sets  []*fire // first attempts of timers that were set or moved in it
	fires []*fire // first attempts in it, of timers of Set and Move
	maker string  // the owner, as in its IDs
	mixed bool    // there are IDs of another owner, whose tenure is not known
}

// owns records that a worker owned a partition at a time.
func (h *History) owns(worker, partition int, epoch uint64, at int64) *tenure {
	for _, t := range h.tenures {
		if t.worker == worker && t.partition == partition && t.epoch == epoch {
			t.to = min(t.to, at)
			return t
		}
	}
	t := &tenure{partition: partition, worker: worker, epoch: epoch, to: at}
	h.tenures = append(h.tenures, t)
	return t
}

const (
	makerDigits = 16 // of an ID: the owner that gave it
	placeBits   = 12 // of the rest: the place in the frame. The bits before are the frame's number
)

// frameOf returns the number of the frame that an ID is from.
func frameOf(id string) uint64 {
	number, err := strconv.ParseUint(id[makerDigits:], 16, 64)
	if err != nil {
		panic("torture: " + err.Error())
	}
	return number >> placeBits
}

// setIn returns the tenure in which a timer was set or moved, as far as it is known.
func (h *History) setIn(f *fire) (in *tenure) {
	if len(h.tenures) == 0 {
		return nil
	}
	p, number := partitionOf(f.Key, h.Partitions), frameOf(f.ID)
	for _, t := range h.tenures {
		if t.partition == p && t.epoch < number && (in == nil || t.epoch > in.epoch) {
			in = t
		}
	}
	return in
}

// findTenures determines who owned what and when.
func (h *History) findTenures(lives map[string]*life) {
	for i := range h.fires {
		f := &h.fires[i]
		h.owns(f.worker, partitionOf(f.Key, h.Partitions), f.Epoch, f.Time)
	}
	for i := range h.fires {
		f := &h.fires[i]
		p, number := partitionOf(f.Key, h.Partitions), frameOf(f.ID)
		begun, ok := lives[f.Key].begun(f.Value)
		for _, t := range h.tenures {
			if ok && t.partition == p && number < t.epoch {
				t.from = max(t.from, begun)
			}
		}
		if t := h.setIn(f); t != nil {
			maker := f.ID[:makerDigits]
			t.mixed = t.mixed || t.maker != "" && t.maker != maker
			t.maker = maker
		}
	}
	for _, t := range h.tenures {
		for _, offset := range h.clocks[t.worker].between(min(t.from, t.to), t.to) {
			t.offsets = append(t.offsets, offset+t.ahead)
		}
	}
}

// offsetsOf returns the offsets that the clock may have had by which a timer was set. If it is not known whose clock
// that was, it returns the offsets of all clocks.
func (h *History) offsetsOf(f *fire) (all []int64) {
	if t := h.setIn(f); t != nil && !t.mixed {
		return t.offsets
	}
	for _, c := range h.clocks {
		all = append(all, c.between(0, math.MaxInt64)...)
	}
	for _, t := range h.tenures {
		all = append(all, t.offsets...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// wrong is a broken promise.
type wrong struct{ promise, text string }

// judgeTenures checks that the clocks of owners are as promised. A promise is broken if no offset is consistent with
// it.
func (h *History) judgeTenures(r *Report) {
	for _, t := range h.tenures {
		var least []wrong
		for i, offset := range t.offsets {
			if all := h.wrongs(t, offset); i == 0 || len(all) < len(least) {
				least, t.offset = all, offset
			}
		}
		for _, w := range least {
			r.broke(w.promise, "%s", w.text)
		}
		h.judgeClock(r, t)
		if by := time.Duration(t.offset).Abs(); by > MostOff {
			r.byJump++
		}
		for _, f := range t.fires {
			f.ready = f.Due - h.Zero - t.offset
		}
	}
}

// judgeClock checks that an owner's time was ahead of its clock by no more than maxSkew, as the owner reported it, and
// that this time was off by no more than maxSkew at the takeover.
func (h *History) judgeClock(r *Report, t *tenure) {
	if h.Alone || !h.heard { // the reports of owners are needed for it
		return
	}
	if by := time.Duration(t.ahead); by < 0 || by > maxSkew {
		r.broke(offClock, "partition %d, worker %d, epoch %d, ahead of its clock by %v", t.partition, t.worker, t.epoch, by)
	}
	least := slices.MinFunc(t.offsets, func(a, b int64) int { return cmp.Compare(time.Duration(a).Abs(), time.Duration(b).Abs()) })
	if by := time.Duration(least); by.Abs() > maxSkew {
		r.broke(offClock, "partition %d, worker %d, epoch %d, taken over by %d, off by %v", t.partition, t.worker, t.epoch, t.to, by)
	}
}

// wrongs returns the promises that are broken if the offset at the takeover was this one.
func (h *History) wrongs(t *tenure, offset int64) (all []wrong) {
	shift := h.Zero + offset
	for _, f := range t.sets {
		if !f.of.fits(f.Due, shift) {
			all = append(all, wrong{misdue, fmt.Sprintf("%s, the clock is ahead by %v", describe(f), time.Duration(offset))})
		}
	}
	for _, f := range t.fires {
		if by := f.Due - f.Time - shift; by > 0 {
			all = append(all, wrong{early, fmt.Sprintf("%s, by %v, the clock is ahead by %v", describe(f), time.Duration(by), time.Duration(offset))})
		}
	}
	return all
}

// tenureOf returns the tenure that a firing was in.
func (h *History) tenureOf(f *fire) *tenure {
	p := partitionOf(f.Key, h.Partitions)
	i := slices.IndexFunc(h.tenures, func(t *tenure) bool { return t.worker == f.worker && t.partition == p && t.epoch == f.Epoch })
	return h.tenures[i]
}

// judgeMoves checks that no partition changes hands where nothing has happened. Setting a clock has no effect on
// leases.
func (h *History) judgeMoves(r *Report) {
	if !h.Strict || len(h.Events) == 0 {
		return
	}
	begun, end := h.Events[0].From, int64(0)
	for _, e := range h.Events {
		end = max(end, e.To)
	}
	for _, t := range h.tenures {
		if begun < t.from && t.to < end && !h.disturbed(t.from, t.to) {
			r.broke(moved, "partition %d to worker %d, epoch %d, between %d and %d", t.partition, t.worker, t.epoch, t.from, t.to)
		}
	}
}
