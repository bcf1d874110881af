package judge

import "time"

// justBefore is how long before its handler, on a busy machine, a timer was found to be due.
const justBefore = time.Second

// judgeWall checks the first attempt of a timer of SetAt or MoveAt. It is due when its owner's wall clock shows its time. If that
// clock is set back afterwards, the handler is called nevertheless, and soon, unless the lease or the log was
// disturbed. The firings after a disturbance are counted.
func (h *History) judgeWall(r *Report, f *fire) {
	if f.Due != f.of.by.Due {
		r.broke(misdue, "%s, instead of %d", describe(f), f.of.by.Due)
	}
	clock := h.clocks[f.worker]
	now := clock.between(f.Time, f.Time)
	f.ready = f.Due - h.Zero - now[len(now)-1]
	at, ok := clock.lastShown(f.Due, h.Zero, max(f.of.by.Time, h.tenureOf(f).from), f.Time)
	switch {
	case !ok:
		r.broke(early, "%s, by %v", describe(f), time.Duration(f.ready-f.Time))
	case at >= f.Time-int64(justBefore):
	case h.disturbed(at, f.Time):
		r.setBack++
	default:
		r.broke(early, "%s, by %v, %v after the clock was set back", describe(f), time.Duration(f.ready-f.Time), time.Duration(f.Time-at))
	}
}
