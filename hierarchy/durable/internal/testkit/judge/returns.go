package judge

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// back has, for one kind of fault, how long partitions were without an owner after such a fault. This is measured as
// the greatest delay of the timers that were due meanwhile. Faults that happened close to another fault are not
// included.
type back struct {
	what   string
	limit  time.Duration
	delays terminal.Delays // of each partition at each fault
}

// serverTime is how long a fault of servers has effects.
const serverTime = 8 * time.Second

// busyTime is how long a busy machine has effects after it was busy.
const busyTime = 500 * time.Millisecond

// judgeReturns measures promise 6.
func (h *History) judgeReturns(r *Report) {
	killed := &back{what: KillWorker, limit: 2 * h.Lease}
	left := &back{what: TermWorker, limit: 500 * time.Millisecond} // handlers take up to 0.2s
	server := &back{what: KillServer, limit: 10 * time.Second}
	r.backs = []*back{killed, left, server}
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Fault {
		case KillWorker:
			h.measure(r, killed, i, h.ownedBy(e), 5*h.Lease/4)
		case TermWorker:
			h.measure(r, left, i, h.ownedBy(e), time.Second)
		case KillServer:
			h.measure(r, server, i, h.ownedBy(nil), serverTime)
		}
	}
}

// ownedBy returns for each partition whether its last firing before the event was by the event's worker. Without an
// event, it returns true for all.
func (h *History) ownedBy(e *Event) []bool {
	owned := make([]bool, h.Partitions)
	for i := range owned {
		owned[i] = e == nil
	}
	for i := range h.fires {
		f := &h.fires[i]
		if e == nil || f.Time > e.From {
			break
		}
		owned[partitionOf(f.Key, h.Partitions)] = f.worker == e.Worker
	}
	return owned
}

// measure adds how late timers were that fell due within a window after event i.
func (h *History) measure(r *Report, b *back, i int, owned []bool, window time.Duration) {
	e := h.Events[i]
	if !h.isAlone(i, e.From+int64(b.limit)) {
		return
	}
	late := make([]time.Duration, h.Partitions)
	for j := range h.fires {
		f := &h.fires[j]
		since := f.since()
		if p := partitionOf(f.Key, h.Partitions); f.Attempt == 1 && owned[p] && since >= e.From && since < e.From+int64(window) {
			late[p] = max(late[p], time.Duration(f.Time-since))
		}
	}
	for p, late := range late {
		if late == 0 {
			continue
		}
		b.delays = append(b.delays, late)
		if late > b.limit && h.Strict {
			r.broke(slow, "partition %d %v after %s at %d", p, late, e.Fault, e.From)
		}
	}
}

// since returns the earliest time at which the timer could fire. If its caller has another clock, it may already be
// overdue when it is set.
func (f *fire) since() int64 {
	if f.of == nil {
		return f.ready
	}
	return max(f.ready, f.of.by.Time)
}

// isAlone reports whether no other fault had effects from event i until then.
func (h *History) isAlone(i int, until int64) bool {
	e := h.Events[i]
	for j, o := range h.Events {
		if j != i && o.From < until && h.effects(&o) > e.From {
			return false
		}
	}
	return true
}
