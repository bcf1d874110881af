package lane

import (
	"container/list"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/limits"
)

// rule is a limit that holds, and who waits because of it. The lock of its Gate guards it.
type rule struct {
	gate   *Gate
	scope  limits.Scope
	meter  limits.Meter
	places map[*place]*blocked
	order  list.List   // of *place: those whose timers wait because of this rule
	waits  int         // how many timers they had when they came
	alarm  *time.Timer // the rate lets another attempt begin

	// Of a limit that servers share:
	granted int // attempts that may begin
	running int // attempts that were granted, and are in progress
}

// blocked is a place in the order of a rule.
type blocked struct {
	element *list.Element
	timers  int
}

func (r *rule) set(l limits.Limit, now time.Time) { r.meter.Set(l, now) }

// shared reports whether it is not for this server alone to let attempts begin.
func (r *rule) shared() bool {
	l := r.meter.Limit()
	return r.gate.share != nil && !l.Paused && !l.IsZero()
}

// room returns how many attempts may begin.
func (r *rule) room(now time.Time) int {
	if r.shared() {
		return r.granted
	}
	return r.meter.Room(now)
}

func (r *rule) begin(now time.Time) {
	if r.shared() {
		r.granted--
		r.running++
	}
	r.meter.Begin(now)
}

func (r *rule) end() {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	r.meter.End()
	if r.running > 0 {
		r.running--
		r.gate.share.Ended(r.scope)
	}
}

// block has a place get a turn when an attempt may begin.
func (r *rule) block(p *place, now time.Time) {
	r.join(p)
	r.wait(now, 0)
}

func (r *rule) join(p *place) {
	if r.places[p] == nil {
		b := &blocked{r.order.PushBack(p), p.len()}
		r.places[p] = b
		r.waits += b.timers
		p.blocked = append(p.blocked, r)
	}
}

// leave has a place get no turn. mu is held.
func (r *rule) leave(p *place) {
	b := r.places[p]
	r.order.Remove(b.element)
	r.waits -= b.timers
	delete(r.places, p)
	i := slices.Index(p.blocked, r)
	p.blocked = slices.Delete(p.blocked, i, i+1)
}

// wait has the next turn come when the rate allows it, and no sooner than after a time.
func (r *rule) wait(now time.Time, least time.Duration) {
	if r.shared() {
		r.gate.share.Want(r.scope)
		return
	}
	d := max(least, r.meter.Wait(now))
	switch {
	case d == 0 || r.gate.ended:
	case r.alarm == nil:
		r.alarm = time.AfterFunc(d, r.turn)
	default:
		r.alarm.Reset(d)
	}
}

func (r *rule) stop() {
	if r.alarm != nil {
		r.alarm.Stop()
	}
}

// spokenFor is after how long a turn is given to others if a worker that was woken has not begun an attempt.
const spokenFor = 5 * time.Millisecond

// turn gives places a turn, as many as attempts may begin. The caller has no lock of a place, nor that of the Gate.
func (r *rule) turn() {
	for spoken := 0; ; {
		p := r.next(spoken)
		if p == nil {
			return
		}
		if p.turn(r) {
			spoken++
		}
	}
}

// next returns the place that gets the next turn. Of the attempts that may begin, some are spoken for.
func (r *rule) next(spoken int) *place {
	r.gate.mu.Lock()
	defer r.gate.mu.Unlock()
	now := r.gate.now()
	switch {
	case r.order.Len() == 0 || r.gate.ended:
		return nil
	case r.room(now) <= spoken:
		least := time.Duration(0)
		if spoken > 0 {
			least = spokenFor
		}
		r.wait(now, least)
		return nil
	}
	p := r.order.Front().Value.(*place)
	r.leave(p)
	return p
}
