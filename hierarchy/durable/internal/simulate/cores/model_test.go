package cores

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// model is what the log means: a map of timers, changed by one call and one event after the other.
type model struct {
	w        *world
	timers   map[string]entry
	epoch    uint64          // of the last takeover
	time     int64           // of the last frame
	names    uint64          // of attempts
	over     map[uint64]bool // by name: the attempts that were ended by their tokens
	requests map[state.Request]string
	floors   map[uint64]uint64 // by caller
	latest   map[uint64]uint64 // by caller: the last serial that was committed
	seen     map[uint64]int64  // by caller: the time of the frame with the last
	kept     map[uint64]int64  // by caller: the same, or that of the takeover if it is later
}

// entry is a timer.
type entry struct {
	value   string
	due     int64
	wall    bool
	attempt uint32
	next    int64 // when the next attempt is due, or 0
	dead    bool
	begun   bool   // the log has the begin of an attempt, and not its end
	left    uint64 // the name of the attempt that was left
	suspect bool   // an owner has ended during an attempt
	died    bool   // the last owner was killed while the handler was called, which no result in the log says
	careful bool   // that is so, and the timer was due at the takeover
	bounced bool   // it was set by debounced calls, of which the first was at
	since   int64
	fired   uint32   // the last attempt that was seen
	id      frame.ID // once it was seen
}

// result is what has happened to an attempt, or to a dead timer.
type result struct {
	key            string
	id             frame.ID
	number         uint32
	kind           resultKind
	wait           time.Duration
	again          bool
	attempt        *core.Attempt
	job            *core.Job
	took, expected bool
}

type resultKind string

const (
	begun     resultKind = "begin"
	succeeded resultKind = "success"
	failed    resultKind = "failure"
	died      resultKind = "death"
	expired   resultKind = "expiry"
	left      resultKind = "left"
)

func newModel(w *world) *model {
	return &model{w: w, timers: make(map[string]entry), over: make(map[uint64]bool), requests: make(map[state.Request]string),
		floors: make(map[uint64]uint64), latest: make(map[uint64]uint64), seen: make(map[uint64]int64), kept: make(map[uint64]int64)}
}

func (m *model) String() string { return fmt.Sprint(m.timers) }

// apply applies a frame that was appended, or what needs none.
func (m *model) apply(b *batch, number uint64) {
	before := m.time
	if number > 0 {
		f, err := frame.Parse(m.w.log.get(number))
		if err != nil || f.Time < m.time {
			m.w.fail("log: frame %d goes back: %v", number, err)
		}
		m.time = f.Time
	}
	if b.takeover {
		m.epoch = number
		m.takenOver(before)
		return
	}
	for _, key := range b.begun {
		e := m.timers[key]
		e.suspect = true
		m.failed(b, key, e, &result{number: e.attempt, wait: backoff, kind: m.fate(e.attempt)})
	}
	for _, it := range b.items {
		switch {
		case it.call != nil:
			m.call(b, it.call)
		case it.what != nil:
			m.event(b, it.what)
		default:
			m.closed()
		}
	}
}

// closed takes back the begins of attempts whose handlers were not called, as the owner has ended in order.
func (m *model) closed() {
	for key, e := range m.timers {
		if e.begun {
			e.attempt, e.begun = e.attempt-1, false
		}
		e.died, e.careful = false, false
		m.timers[key] = e
	}
}

// fate is what the failure of an attempt means.
func (m *model) fate(number uint32) resultKind {
	if int(number) >= coreConfig.MaxAttempts {
		return died
	}
	return failed
}

// call carries a call out, and decides what its answer is.
func (m *model) call(b *batch, k *call) {
	k.known = true
	if k.of == nil {
		k.expected = m.commit(b, k)
		return
	}
	id := state.Request{Caller: k.Request.Caller, Serial: k.Request.Serial}
	if answer, ok := m.requests[id]; ok {
		k.expected = answer
		return
	}
	if id.Serial < m.floors[id.Caller] {
		m.w.fail("floor: a request that was given up is committed: %v", k)
	}
	if id.Serial < m.latest[id.Caller] && m.remembers(k) {
		m.w.fail("passed: %v is committed, and the latest is %d", k, m.latest[id.Caller])
	}
	k.expected = m.commit(b, k)
	m.requests[id] = k.expected
	m.floors[id.Caller] = max(m.floors[id.Caller], k.Request.Floor)
	m.latest[id.Caller] = max(m.latest[id.Caller], id.Serial)
	m.seen[id.Caller], m.kept[id.Caller] = m.time, m.time
}

// refused judges the refusal of a call, which is not in the frame. The model does not know yet what is in the frame
// before it.
func (m *model) refused(b *batch, k *call, err error) {
	floor, latest := uint64(0), uint64(0)
	if k.of != nil {
		floor, latest = m.floors[k.Request.Caller], m.latest[k.Request.Caller]
	}
	for _, it := range b.items {
		if c := it.call; c != nil && k.of != nil && c.Request.Caller == k.Request.Caller {
			floor, latest = max(floor, c.Request.Floor), max(latest, c.Request.Serial)
		}
	}
	stale := b.by.lapsed
	switch {
	case errors.Is(err, core.ErrFull), stale:
	case errors.Is(err, core.ErrForgotten):
		if k.Request.Serial >= floor {
			m.w.fail("floor: %v is forgotten, and the floor is %d", k, floor)
		}
	case k.of != nil && k.Request.Serial < floor && m.remembers(k):
		m.w.fail("floor: %v is below it, and not forgotten but: %v", k, err)
	case errors.Is(err, core.ErrPassed):
		if k.Request.Serial >= latest {
			m.w.fail("passed: %v, and the latest is %d", k, latest)
		}
	case errors.Is(err, core.ErrOld):
		if m.remembers(k) {
			m.w.fail("old: %v, although its caller is remembered", k)
		}
	default:
		m.w.fail("answer: %v to %v", err, k)
	}
}

// takenOver lets callers be remembered by the clock of another owner, unless the last one has forgotten them.
func (m *model) takenOver(before int64) {
	for caller, at := range m.seen {
		delete(m.kept, caller)
		if at > before-int64(remember) {
			m.kept[caller] = m.time
		}
	}
}

// remembers reports whether the caller of k is remembered.
func (m *model) remembers(k *call) bool {
	at, ok := m.kept[k.Request.Caller]
	return ok && m.time-at < int64(remember)
}

// commit carries out all operations of a call, or none, and returns the answer.
func (m *model) commit(b *batch, k *call) string {
	was, counts := maps.Clone(m.timers), b.by.counts
	pending := m.pending()
	var took []bool
	values := []string{}
	for i := range k.Ops {
		op := &k.Ops[i]
		e, ok := m.timers[string(op.Key)]
		t := m.do(b, k, i, e, ok)
		if took = append(took, t); returns(op, t) {
			values = append(values, m.returned(b, op, e, ok))
		}
	}
	if n := m.pending(); n > pending && n > coreConfig.MaxPending {
		m.timers, b.by.counts = was, counts
		return core.ErrFull.Error()
	}
	return fmt.Sprint(took, values)
}

func (m *model) pending() (n int) {
	for _, e := range m.timers {
		if !e.dead {
			n++
		}
	}
	return n
}

// do carries out an operation. It reports whether that changes anything.
func (m *model) do(b *batch, k *call, i int, e entry, ok bool) bool {
	op := &k.Ops[i]
	key, counts, live := string(op.Key), &b.by.counts, ok && !e.dead
	switch op.Kind {
	case frame.Set, frame.SetAt:
		if live && !m.holds(b, op, e, k.Took[i]) {
			return false
		}
		m.timers[key] = m.set(b, k, op, e, live)
		counts.Set++
	case frame.Move, frame.MoveAt:
		if !live {
			return false
		}
		m.timers[key] = entry{value: e.value, due: op.Due, wall: op.Kind == frame.MoveAt}
		counts.Moved++
	case frame.Remove:
		if !ok {
			return false
		}
		delete(m.timers, key)
		counts.Removed++
	case frame.Revive:
		if !ok || !e.dead {
			return false
		}
		m.timers[key] = entry{value: e.value, due: b.now, id: e.id, suspect: e.suspect}
	case frame.End:
		return m.end(b, key, op.Ending, e, live, k.Took[i])
	}
	return true
}

// event applies an event, if it is one of the timer that the key has.
func (m *model) event(b *batch, r *result) {
	e, ok := m.timers[r.key]
	r.expected = ok && e.id == r.id && e.dead == (r.kind == expired)
	if r.attempt != nil && m.over[r.attempt.Name] {
		r.expected = false // its token has ended it
	}
	if !r.expected {
		return
	}
	switch r.kind {
	case begun:
		b.begins[r.id] = true
		e.attempt, e.begun, e.left = r.number, true, 0
		m.timers[r.key] = e
	case left:
		e.attempt, e.begun, e.left, e.next, e.died, e.careful = r.number, false, r.attempt.Name, r.attempt.Until, false, false
		delete(b.attempts, e.id)
		m.timers[r.key] = e
	case succeeded:
		delete(m.timers, r.key)
	case expired:
		delete(m.timers, r.key)
		b.by.counts.Expired++
	default:
		m.failed(b, r.key, e, r)
	}
}

// failed applies the failure of an attempt.
func (m *model) failed(b *batch, key string, e entry, r *result) {
	e.attempt, e.begun, e.left, e.next, e.died, e.careful = r.number, false, 0, b.now+int64(r.wait), false, false
	if r.again {
		e.attempt--
		e.fired = e.attempt
	}
	b.by.counts.Failed++
	delete(b.attempts, e.id)
	if r.kind == died {
		e.dead, e.next = true, 0
		b.by.counts.Died++
	}
	m.timers[key] = e
}

// compare compares a timer of the state with that of the model. running tells whether an attempt is in progress here.
func (m *model) compare(t state.Timer, running bool) {
	e, ok := m.timers[t.Key]
	if e.id == (frame.ID{}) {
		e.id = t.ID
		m.timers[t.Key] = e
	}
	attempt := t.Attempt
	if running && !e.begun {
		attempt--
	}
	if !ok || t.Value != e.value || t.Due != e.due || t.Wall != e.wall || attempt != e.attempt || t.Dead != e.dead || t.ID != e.id {
		m.w.fail("state: %+v instead of %+v", t, e)
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
	case a.Number != number || a.Number < e.fired:
		m.w.fail("attempt: %d of %s, which is %+v", a.Number, a.Key, e)
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

// overdue judges that all that is due has begun. Suspects begin one after the other. What the last owner has written again
// as due is not due yet if the time of this one begins later, as the clock of that one was ahead by more than maxSkew.
func (m *model) overdue(o *worker) {
	if o.time() < m.time {
		return
	}
	trial := slices.ContainsFunc(o.attempts, func(a *core.Attempt) bool { return a.Suspect })
	for _, e := range m.timers {
		trial = trial || e.suspect && o.busy[e.id]
	}
	for _, key := range slices.Sorted(maps.Keys(m.timers)) {
		e := m.timers[key]
		due, now := m.next(o, e)
		if known := e.id != (frame.ID{}); known && !e.dead && due <= now && !o.busy[e.id] && !(e.suspect && trial) {
			m.w.fail("late: %s is due since %v", key, time.Duration(now-due))
		}
	}
}

// next returns when the next attempt of a timer is due, and the present time by the same clock.
func (m *model) next(o *worker, e entry) (due, now int64) {
	switch {
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
		e.careful = e.died && due <= now
		m.timers[key] = e
	}
}
