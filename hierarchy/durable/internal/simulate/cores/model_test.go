package cores

import (
	"fmt"
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
	plans    map[string]plan   // by text: the schedules
	last     gap               // from the last frame that is not a takeover
	gaps     []gap             // before takeovers
}

// entry is a timer.
type entry struct {
	value   string
	due     int64
	wall    bool
	attempt uint32
	next    int64 // when the next attempt is due, or 0
	dead    bool
	begun   bool     // the log has the begin of an attempt, and not its end
	left    uint64   // the name of the attempt that was left
	over    bool     // its time is over, as the owner has seen
	unsure  bool     // that may be so: see elapsed
	suspect bool     // an owner has ended during an attempt
	died    bool     // the last owner was killed while the handler was called, which no result in the log says
	careful bool     // that is so, and the timer was due at the takeover
	fired   uint32   // the last attempt that was seen
	id      frame.ID // once it was seen
	state.Extra
}

// result is what has happened to an attempt, or to a dead timer.
type result struct {
	key            string
	id             frame.ID
	number         uint32
	kind           resultKind
	wait           time.Duration
	until          int64 // left: the time until which it goes on
	again          bool
	text           string // why it has failed
	attempt        *core.Attempt
	job            *core.Job
	took, expected bool
	stale          bool // begin: the timer was paused and resumed meanwhile, so it may not be due any more
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
		floors: make(map[uint64]uint64), latest: make(map[uint64]uint64), seen: make(map[uint64]int64), kept: make(map[uint64]int64),
		plans: make(map[string]plan)}
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
		b.read(&f)
		if !b.takeover {
			m.last = gap{number: number, from: m.time}
		}
	}
	if b.takeover {
		m.epoch = number
		m.gaps = append(m.gaps, gap{m.last.number, m.last.from, m.time})
		m.takenOver(before)
		return
	}
	for _, key := range b.begun {
		e := m.timers[key]
		e.suspect = true
		m.failed(b, key, e, &result{number: e.attempt, wait: backoff, kind: m.fate(e.attempt), text: processEnded})
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
		m.timers[key] = entry{value: e.value, due: op.Due, wall: op.Kind == frame.MoveAt, Extra: moved(e.Extra)}
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
		started := e.Started
		e = entry{value: e.value, due: b.now, id: e.id, suspect: e.suspect, Extra: moved(e.Extra)}
		e.Started = started
		m.timers[key] = e
	case frame.Pause, frame.Resume:
		return m.pauses(b, op, e, live)
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
		m.begins(b, r, e)
	case left:
		e.attempt, e.begun, e.left, e.next, e.died, e.careful = r.number, false, r.attempt.Name, r.until, false, false
		e.over, e.unsure = false, false
		delete(b.attempts, e.id)
		m.timers[r.key] = e
	case succeeded:
		m.succeeded(b, r.key, e)
	case expired:
		m.expires(b, r.key, e)
	default:
		m.failed(b, r.key, e, r)
	}
}

// begins applies what is written before an attempt begins: the start of a run, the begin of the attempt, or both.
func (m *model) begins(b *batch, r *result, e entry) {
	was := e
	_, twice := b.before[r.id]
	if r.expected = !twice && b.attempts[r.id] == nil && (r.took || !r.stale); !r.expected {
		return
	}
	if r.expected = (e.begun || !e.Paused && !b.paused[r.id]) && m.starts(b, r.key, &e); !r.expected {
		return
	}
	b.before[r.id] = was
	if b.written[r.id.Number] {
		e.attempt, e.begun, e.left = r.number, true, 0
	}
	m.timers[r.key] = e
}

// failed applies the failure of an attempt.
func (m *model) failed(b *batch, key string, e entry, r *result) {
	e.attempt, e.begun, e.left, e.next, e.died, e.careful = r.number, false, 0, b.now+int64(r.wait), false, false
	if r.again {
		e.attempt--
		e.fired = e.attempt
	}
	m.why(&e, r)
	b.by.counts.Failed++
	delete(b.attempts, e.id)
	if r.kind == died {
		b.by.counts.Died++
		if m.goesOn(b, key, e, frame.Died, r.text) {
			return
		}
		e.dead, e.next, e.Paused = true, 0, false
	}
	m.timers[key] = e
}
