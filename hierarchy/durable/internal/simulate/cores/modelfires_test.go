package cores

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// compare compares a timer of the state with that of the model. a is the attempt that is in progress here, or nil.
func (m *model) compare(t state.Timer, a *core.Attempt) {
	e, ok := m.timers[t.Key]
	if e.id == (frame.ID{}) {
		e.id = t.ID
		m.timers[t.Key] = e
	}
	attempt := t.Attempt
	if a != nil && !e.begun && a.Number > e.attempt { // otherwise it was left, and only fails
		attempt--
	}
	if !ok || t.Value != e.value || t.Due != e.due || t.Wall != e.wall || attempt != e.attempt ||
		t.Dead != e.dead || t.ID != e.id || t.Extra != e.Extra {
		m.w.fail("state: %+v instead of %+v", t, e)
	}
	if t.Next != 0 && e.next != 0 && t.Next != e.next {
		m.w.fail("state: the next attempt of %s is due %v later than it should be", t.Key, time.Duration(t.Next-e.next))
	}
}

// fires judges the call of a handler, unless a frame is in doubt that may have changed the timer.
func (m *model) fires(o *worker, a *core.Attempt) {
	e, ok := m.timers[string(a.Key)]
	if o.flight != nil {
		return
	}
	number := e.attempt + 1
	if e.begun {
		number = e.attempt
	}
	switch {
	case !ok || e.dead || e.id != a.ID && e.id != (frame.ID{}) || e.value != a.Firing.Value:
		m.w.fail("removed: %s fires with %v, and is %+v", a.Key, a.ID, e)
	case a.Number != number || a.Number < e.fired || int(a.Number) > coreConfig.MaxAttempts:
		m.w.fail("attempt: %d of %s, which is %+v", a.Number, a.Key, e)
	case !m.isStarted(e) || a.Firing.Due != e.due || a.Firing.Missed != e.Missed || a.Firing.Schedule != e.Schedule:
		m.w.fail("run: %s fires with %+v, and is %+v", a.Key, a.Firing, e)
	case e.careful && !e.begun:
		m.w.fail("unwritten: %s fires after the last owner was killed in its attempt, and nobody will know if this one is", a.Key)
	case m.early(o, e) > 0:
		m.w.fail("early: %s fires %v before its time", a.Key, m.early(o, e))
	}
	e.fired = a.Number
	m.timers[string(a.Key)] = e
}

// early returns how much too early an attempt is that begins now.
func (m *model) early(o *worker, e entry) time.Duration {
	switch {
	case e.next != 0:
		return time.Duration(e.next - o.time())
	case e.wall:
		return time.Duration(e.due - o.now - int64(o.most))
	}
	return time.Duration(e.due - o.time())
}

// overdue judges that all that is due has begun, and that the alarm rings before anything else is due, or a wall clock that
// is set can be noticed too late. Suspects begin one after the other.
func (m *model) overdue(o *worker, alarm int64) {
	trial := slices.ContainsFunc(o.attempts, func(a *core.Attempt) bool { return a.Suspect }) ||
		slices.ContainsFunc(o.queue, func(it item) bool { return it.what != nil && it.what.job != nil && it.what.job.Suspect })
	for _, e := range m.timers {
		trial = trial || e.suspect && o.busy[e.id]
	}
	for _, key := range slices.Sorted(maps.Keys(m.timers)) {
		e := m.timers[key]
		if known := e.id != (frame.ID{}); !known || o.busy[e.id] || o.expiring[e.id] || e.Paused || e.suspect && trial {
			continue
		}
		due, now := m.next(o, e)
		left := state.Sub(due, now)
		if e.wall && e.next == 0 && !e.dead {
			left = min(left, int64(wallCheck))
		}
		if left <= 0 {
			m.w.fail("late: %s is due since %v", key, time.Duration(-left))
		} else if late := state.Sub(alarm, state.Add(o.time(), left)); late > 0 {
			m.w.fail("agenda: the alarm rings %v later than it must for %s", time.Duration(late), key)
		}
	}
}

// expires removes a dead timer, and judges that this is not too early.
func (m *model) expires(b *batch, key string, e entry) {
	if left := e.Failed + int64(keepDead) - b.now; left > 0 {
		m.w.fail("expiry: %s is removed %v too early", key, time.Duration(left))
	}
	delete(m.timers, key)
	b.by.counts.Expired++
}

// someDead returns the key of a dead timer, if there is one, or else another key.
func (m *model) someDead(other []byte, r *rand.Rand) []byte {
	var keys []string
	for key, e := range m.timers {
		if e.dead {
			keys = append(keys, key)
		}
	}
	if slices.Sort(keys); len(keys) > 0 {
		return []byte(keys[r.IntN(len(keys))])
	}
	return other
}

// next returns when the next attempt, or the removal, of a timer is due, and the present time by the same clock.
func (m *model) next(o *worker, e entry) (due, now int64) {
	switch {
	case e.dead:
		return e.Failed + int64(keepDead), o.time()
	case e.next != 0:
		return e.next, o.time()
	case e.wall:
		return e.due, o.wall()
	}
	return e.due, o.time()
}

// killed is called when an owner is killed during an attempt.
func (m *model) killed(a *core.Attempt) {
	if e, ok := m.timers[string(a.Key)]; ok && e.id == a.ID && e.left == 0 && a.Called && !e.dead {
		e.died = true
		m.timers[string(a.Key)] = e
	}
}

// reviewed is called when an owner has taken over from one that was killed.
func (m *model) reviewed(o *worker) {
	for key, e := range m.timers {
		due, now := m.next(o, e)
		e.careful = e.died && due <= now && !e.Paused
		m.timers[key] = e
	}
}
