package cores

import (
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// An attempt that was left goes on until its time is over and the owner has seen that. Each owner sees it by itself, when it
// looks for what is due.

// elapsed is called when an owner has looked for what is due.
func (m *model) elapsed(o *worker) {
	if o.core.Epoch != m.epoch {
		return
	}
	for key, e := range m.timers {
		if e.left != 0 && !e.Paused && e.next <= o.time() {
			e.over = true
			m.timers[key] = e
		}
	}
}

// mayHaveElapsed is called when a frame is not in flight any more. The owner may have looked for what is due meanwhile.
func (m *model) mayHaveElapsed(o *worker) {
	for key, e := range m.timers {
		if e.unsure = e.unsure || e.left != 0 && e.next <= o.looked; e.unsure {
			m.timers[key] = e
		}
	}
}

// unseen is called when an owner takes over, which has seen nothing yet.
func (m *model) unseen() {
	for key, e := range m.timers {
		e.over, e.unsure = false, false
		m.timers[key] = e
	}
}

// compareLeft compares with the model which attempt of a timer was left.
func (o *worker) compareLeft(ref state.Ref, key string) {
	e := o.model.timers[key]
	if name := o.core.State.Left(ref); o.core.State.WasLeft(ref) != (e.left != 0) || name != 0 && (name != e.left || e.over) {
		o.fail("state: attempt %d of %s was left, and should be: %d, over %v", name, key, e.left, e.over)
	}
}

// someNumber returns the number of the attempt, or another one.
func (t *token) someNumber(r *rand.Rand) uint32 {
	if r.IntN(4) == 0 {
		return uint32(r.IntN(5))
	}
	return t.number
}

// giveToken gives an attempt in progress a token. Those that are announced are no suspects.
func (o *worker) giveToken(r *rand.Rand) {
	for _, a := range o.attempts {
		in := r.Int64N(int64(time.Minute))
		if a.Called && !a.Ended && !a.Suspect && !o.ending && o.core.GiveToken(a, o.time()+in) {
			o.tokens = append(o.tokens, token{key: string(a.Key), of: a.Name, number: a.Number})
			o.Add("attempt %d of %s has a token for %v", a.Number, a.Key, time.Duration(in))
			if r.IntN(2) == 0 {
				return
			}
		}
	}
}

// leave leaves the attempts that have tokens to the next owner. Some get another time after that.
func (o *worker) leave(r *rand.Rand) {
	for _, a := range o.attempts {
		if !a.Left && o.hasToken(a) {
			a.Left = true
			o.putLeft(a, a.Until)
			if until := o.time() + r.Int64N(int64(time.Minute)); r.IntN(3) == 0 && o.core.GiveToken(a, until) {
				o.putLeft(a, until)
			}
		}
	}
}

func (o *worker) putLeft(a *core.Attempt, until int64) {
	o.put(a.Leave(), &result{key: string(a.Key), id: a.ID, number: a.Number, kind: left, attempt: a, until: until})
}

// close ends the owner in order, once no attempt is in progress but those that it leaves. It may be killed meanwhile.
func (o *worker) close(r *rand.Rand) {
	if o.flight != nil || o.closing {
		return
	}
	if !o.ending {
		if r.IntN(2) == 0 {
			o.giveToken(r)
		}
		o.Add("%v leaves what has a token", o)
		o.ending = true
		o.leave(r)
	}
	if !o.busyWithout() && r.IntN(3) > 0 {
		o.Add("%v closes", o)
		o.closing = true
		o.queue = append(o.queue, item{close: true})
	}
}
