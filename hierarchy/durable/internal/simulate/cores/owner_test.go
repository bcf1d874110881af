package cores

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// worker is a process that owns the log now and then. It does what package partition does.
type worker struct {
	*world
	n     int
	rate  float64       // of the clock that counts
	off   time.Duration // how far the wall clock is ahead of true time
	most  time.Duration // how far it has been since the takeover
	owned int64         // the wall time of the takeover
	begin uint64        // where the log began then

	core      *core.Owner // nil unless it owns the log, as far as it knows
	shift     int64       // the owner's time minus the clock that counts
	lapsed    bool        // it does not hold its lease
	looked    int64       // when it has looked for what is due
	turn      bool        // the last frame had only what trimming writes again, as that is late
	ending    bool        // no attempt begins any more
	closing   bool        // nothing is written after what is in the queue
	queue     []item
	flight    *batch        // in doubt
	meanwhile *core.Attempt // the last one whose handler was called while a frame was in flight
	attempts  []*core.Attempt
	busy      map[frame.ID]bool          // the timers whose attempts are beginning, or in progress
	started   map[frame.ID]*core.Attempt // the same, without those that are only beginning
	expiring  map[frame.ID]bool          // the dead timers that are about to be removed
	counts    core.Counts                // what the model counts
	gone      map[*core.Attempt]bool     // those whose contexts have ended
	settled   map[*core.Attempt]bool     // those that were ended by their tokens
	trimming  trimming
	shot      *shot       // or nil
	follower  *core.Owner // or nil
}

func newWorker(w *world, n int) *worker {
	return &worker{world: w, n: n, rate: 1 + float64(n-1)*0.0004}
}

func (o *worker) elapsed() int64 { return int64(float64(o.now-begin) * o.rate) }
func (o *worker) time() int64    { return o.elapsed() + o.shift }
func (o *worker) wall() int64    { return o.now + int64(o.off) }

var coreConfig = core.Config{Remember: remember, MaxPending: 9, MaxAttempts: 3, TrimAbove: 1500, KeepDead: keepDead,
	Backoff: func(int) time.Duration { return backoff }}

const (
	backoff  = 10 * time.Second
	keepDead = 40 * time.Second
	// remember is so short that callers are forgotten in many histories, and that clocks are wrong by a part of it.
	remember = 30 * time.Second
)

// write appends a frame, or tries again with the one that is in doubt.
func (o *worker) write(f fate, r *rand.Rand) {
	if o.core == nil || o.flight == nil && len(o.queue) == 0 && !o.core.HasPortion() {
		return
	}
	if o.flight == nil {
		o.awaitPortion(r)
		b := o.compose()
		if o.core.Len() == 0 && o.core.Header().Begin == o.core.Head.Begin {
			o.answerUnwritten(b)
			return
		}
		data, _ := o.core.Finish()
		if o.fits(b, data); r.IntN(8) == 0 {
			o.limitChanges(r)
		}
		if o.smaller(b, data) {
			return
		}
		b.data = bytes.Clone(data)
		o.log.batches[string(data)] = b
		o.flight = b
	}
	if !o.hasRoom(o.flight) {
		return
	}
	o.Add("%v appends frame %d: %v", o, o.flight.last+1, f)
	acked := o.send(f, o.flight.last, o.flight.data, r)
	switch there := o.log.get(o.flight.last + 1); {
	case f == dropped, f == refused && there == nil, f == later && there == nil, o.log.end() == o.flight.last:
		o.noAnswer(f)
	case acked, bytes.Equal(there, o.flight.data):
		o.settle()
	case there != nil, o.log.end() > o.flight.last:
		o.Add("%v has lost the log", o)
		o.lose()
	}
}

const (
	done fate = iota
	dropped
	forgotten // it is done, and there is no answer
	later
	twice
	refused // although it could be done
	fates
)

// send sends an append. It reports whether it was acknowledged.
func (w *world) send(f fate, last uint64, data []byte, r *rand.Rand) (acked bool) {
	if f != done {
		w.faults++
	}
	switch f {
	case dropped, refused:
		return false
	case later:
		w.log.late = append(w.log.late, late{1 + r.IntN(20), last, data})
		return false
	}
	acked = w.append(last, data)
	if f == twice {
		return w.append(last, data)
	}
	return acked && f == done
}

// settle is called when the frame in flight is in the log.
func (o *worker) settle() {
	b := o.flight
	o.flight = nil
	o.model.mayHaveElapsed(o)
	f, err := frame.Parse(b.data)
	if err == nil {
		err = o.core.Apply(&f)
	}
	if err != nil {
		o.fail("frame %d can't be applied: %v", f.Number, err)
		return
	}
	o.cancelled(b)
	o.meanwhile = nil
	for _, it := range o.queue {
		if it.what != nil && b.paused[it.what.id] {
			it.what.stale = true
		}
	}
	for _, a := range o.attempts {
		if (a.Ended || !o.core.IsRunning(a) && !a.Called) && o.started[a.ID] == a {
			o.free(a.ID)
		}
	}
	o.finish(b, &o.core.Head.Header)
	if o.ended(b) {
		return
	}
	o.compare()
	o.goOnTrimming()
}

// answerUnwritten answers calls that change nothing, of which nothing is written, and ends events that are left out.
func (o *worker) answerUnwritten(b *batch) {
	if o.lapsed { // its state may be out of date
		b.items = slices.DeleteFunc(b.items, func(it item) bool { return it.call != nil })
	}
	b.replaced = o.core.Epoch != o.model.epoch
	o.model.apply(b, 0)
	o.finish(b, &o.core.Head.Header)
}

// finish answers the calls of a batch, and goes on with its events. An owner without a lease answers nothing.
func (o *worker) finish(b *batch, h *frame.Header) {
	for _, it := range b.items {
		switch {
		case it.call != nil && !o.lapsed:
			it.call.answered(it.call.Answer(h))
		case it.what != nil:
			o.written(it)
		}
	}
}

// ended ends the owner if a batch was its last.
func (o *worker) ended(b *batch) bool {
	if n := len(b.items); n == 0 || !b.items[n-1].close {
		return false
	}
	o.lose()
	return true
}

// compare compares the state of the owner with the model, if no other has written since.
func (o *worker) compare() {
	if o.core.Head.End != o.log.end() || o.flight != nil {
		return
	}
	n, listed := 0, make(lists)
	o.core.State.Walk(1, o.core.State.Records(), func(ref state.Ref, t state.Timer) bool {
		n++
		listed.add(t)
		a := o.started[t.ID]
		if a != nil && a.Ended {
			a = nil
		}
		if t.Running != (a != nil || o.core.State.Left(ref) != 0) {
			o.fail("state: an attempt is in progress: %v, and should be: %v, of %+v", t.Running, a != nil, t)
		}
		o.model.compare(t, a)
		o.compareLeft(ref, t.Key)
		return true
	})
	o.comparePage(listed)
	o.takeShot()
	if n != len(o.model.timers) {
		o.fail("state: %d timers instead of %v", n, o.model)
	}
	o.compareSize()
	counts := o.core.Counts
	counts.Frames, counts.Bytes, counts.Trimmed = 0, 0, 0
	if counts != o.counts {
		o.fail("counts: %+v instead of %+v", counts, o.counts)
	}
}
