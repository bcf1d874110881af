package calls

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
)

// giveUp is how long calls wait for an answer.
const giveUp = time.Minute

// asked is a call that sets timers, whose keys nobody else uses, and what is known of it.
type asked struct {
	keys         []string
	begun, ended time.Time
	limit        time.Time // of its context
	local        bool      // its process owned the log
	err          error
	first        frame.ID // by the answer, as the next one
	dues         []int64
	settled      uint64 // the last frame when another call of the client was answered that removes the timers, or 0
}

func (w *world) client(n int) *client {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clients[n]
}

// connect begins a client.
func (w *world) connect(n int) {
	bus := w.net.Connect()
	c, err := remote.New(w.remote(bus))
	require.NoError(w.t, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients[n] = &client{Client: c, bus: bus, n: n}
}

// disturb replaces a client now and then, until the end, cuts it off, or has it ask for nothing for so long that it may be
// forgotten.
func (w *world) disturb(n int, end time.Time) {
	for time.Sleep(w.upTo(span / 8)); time.Now().Before(end); time.Sleep(w.upTo(span / 8)) {
		c, long := w.client(n), w.upTo(span/4)
		switch w.intN(5) {
		case 0:
			w.note("client %d is replaced", n)
			w.connect(n)
			c.Close()
		case 1:
			w.note("client %d is idle for %v", n, long)
			w.idle[n].Store(true)
			time.Sleep(long)
			w.idle[n].Store(false)
		default:
			w.note("client %d is cut off for %v", n, long)
			c.bus.Cut(w.intN(2) == 0, true)
			time.Sleep(long)
			c.bus.Cut(false, false)
		}
	}
}

// ask asks for operations until the end.
func (w *world) ask(n, asker int, r *rand.Rand, end time.Time) {
	for i := 0; time.Now().Before(end); i++ {
		if time.Sleep(time.Duration(r.Int64N(int64(time.Second)))); w.idle[n].Load() {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience(r))
		c := w.client(n)
		a := w.set(ctx, n, fmt.Sprint(n, " ", asker, " ", i, " "), r)
		cancel()
		if a.err != nil && r.IntN(2) == 0 {
			time.Sleep(time.Duration(r.Int64N(2) * r.Int64N(int64(20*time.Second)))) // its process may own the log then
			w.settle(c, a)
		}
	}
}

// patience is how long the context of a call lasts.
func patience(r *rand.Rand) time.Duration {
	switch r.IntN(4) {
	case 0:
		return time.Duration(r.Int64N(int64(20 * time.Millisecond)))
	case 1:
		return time.Duration(r.Int64N(int64(5 * time.Second)))
	}
	return 2 * giveUp
}

// set sets timers by one call of a client.
func (w *world) set(ctx context.Context, n int, name string, r *rand.Rand) *asked {
	a, call := &asked{begun: time.Now()}, &core.Call{}
	op := core.Op{Kind: frame.Set, In: 1000 * time.Hour}
	if r.IntN(2) == 0 { // the client need not know the owner's time
		op = core.Op{Kind: frame.SetAt, Due: time.Now().Add(op.In).UnixNano()}
	}
	for i := range 1 + r.IntN(4)/3*(1+r.IntN(5)) {
		a.keys = append(a.keys, fmt.Sprint(name, i))
		op.Key, op.Value = []byte(a.keys[i]), make([]byte, r.IntN(50))
		call.Ops = append(call.Ops, op)
	}
	c := w.client(n)
	a.err = w.do(ctx, c, call, &a.local)
	a.ended = time.Now()
	if a.err == nil {
		a.first = call.First
		for i := range call.Ops {
			a.dues = append(a.dues, call.Ops[i].Due)
		}
	}
	a.limit, _ = ctx.Deadline()
	most := giveUp
	if a.local { // it may wait for the frame before
		most += 5 * time.Second
	}
	if took := a.ended.Sub(a.begun); took > most || a.ended.After(a.limit) {
		w.wrong("waits: a call ends after %v: %v", took, a.err)
	} else if took < giveUp && !w.mayFail(a, c) {
		w.wrong("error: a call ends after %v: %v", took, a.err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, a)
	return a
}

// mayFail reports whether a call may end as it has, before a minute has passed.
func (w *world) mayFail(a *asked, by *client) bool {
	switch {
	case a.err == nil, w.client(by.n) != by:
		return true
	case errors.Is(a.err, context.DeadlineExceeded):
		return !a.ended.Before(a.limit)
	}
	if w.small && (errors.Is(a.err, core.ErrTooLarge) || strings.Contains(a.err.Error(), "large")) {
		return true
	}
	return w.part.Remember > 0 && isForgotten(a.err) ||
		a.local && (errors.Is(a.err, partition.ErrUnavailable) || errors.Is(a.err, core.ErrClosed))
}

// isForgotten reports whether a call has failed because its client was forgotten, so that nobody knows what became of it.
func isForgotten(err error) bool {
	text := err.Error()
	return errors.Is(err, partition.ErrUnavailable) &&
		(strings.Contains(text, core.ErrOld.Error()) || strings.Contains(text, core.ErrPassed.Error()))
}

// do makes a call like a process that may own the log. local tells whether the owner was called directly.
func (w *world) do(ctx context.Context, c *client, call *core.Call, local *bool) error {
	begun := c.Now()
	if p := c.owned.Load(); p != nil && c.Settled(0) {
		*local = true
		if err := p.Do(ctx, call); !errors.Is(err, partition.ErrNotOwner) {
			return err
		}
	}
	return c.Do(ctx, 0, call, begun)
}

// settle removes the timers of a call that has failed by the client that has made it. If that is answered, they are not
// set later.
func (w *world) settle(c *client, a *asked) {
	call := &core.Call{}
	for _, key := range a.keys {
		call.Ops = append(call.Ops, core.Op{Kind: frame.Remove, Key: []byte(key)})
	}
	if w.do(context.Background(), c, call, new(bool)) == nil {
		a.settled = w.look()
	}
}

// judge compares what is known of calls with the log.
func (w *world) judge() {
	w.look()
	for _, a := range w.asked {
		var frames []uint64
		for i, key := range a.keys {
			for _, e := range w.log[key] {
				if e.kind == frame.Remove {
					continue
				}
				frames = append(frames, e.frame)
				if id := (frame.ID{Owner: a.first.Owner, Number: a.first.Number + uint64(i)}); a.err == nil && (e.id != id || e.due != a.dues[i]) {
					w.wrong("answer: %q has %v, due %v, and the answer says %v, %v", key, e.id, e.due, id, a.dues[i])
				}
				if a.settled > 0 && e.frame > a.settled {
					w.wrong("given up: %q is set by frame %d, though a call after it was answered in frame %d", key, e.frame, a.settled)
				}
			}
		}
		w.judgeFrames(a, frames)
	}
}

// judgeFrames checks how often a call is in the log, by the frames of all its operations.
func (w *world) judgeFrames(a *asked, frames []uint64) {
	switch n := len(frames); {
	case n > len(a.keys):
		w.wrong("twice: %q are set by frames %v: %v", a.keys, frames, a.err)
	case n > 0 && (n < len(a.keys) || frames[0] != frames[n-1]):
		w.wrong("batch: %q are set by frames %v: %v", a.keys, frames, a.err)
	case n == 0 && a.err == nil:
		w.wrong("lost: %q are not in the log", a.keys)
	case n > 0 && a.err != nil && !errors.Is(a.err, partition.ErrUnavailable) && !errors.Is(a.err, context.DeadlineExceeded):
		w.wrong("refused: %q are set by frame %d, and the call says %v", a.keys, frames[0], a.err)
	}
}

// close ends all processes.
func (w *world) close() {
	for n := range clients {
		c := w.client(n)
		c.Close()
		c.bus.Close()
	}
	w.owner.die()
	time.Sleep(10 * time.Minute) // what was held arrives, and what was deposed ends
}
