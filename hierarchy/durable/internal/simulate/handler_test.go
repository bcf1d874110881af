package simulate

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// firing is a call of a handler.
type firing struct {
	core.Firing
	at      time.Time
	latest  time.Time // what the process's wall clock would have shown by its furthest setting
	clock   *clocks
	elapsed time.Duration // by the clock of the process
	over    bool          // its context was done when it began

	done   bool          // it has returned, and its context was not done
	failed bool          // with an error
	logged time.Time     // when it was answered that its success is in the log, or zero
	ended  time.Duration // when, by the clock of the process
}

// ofOwner reports whether the owner that calls the handler has set the timer.
func (f *firing) ofOwner() bool { return f.ID.Number>>12 > f.Epoch }

var errHandler = errors.New("the handler fails")

// attempts is how many attempts a timer has.
const attempts = 5

// backoff is the time from a failed attempt to the next one.
const backoff = time.Second

// handle is the handler of all timers. It is quick and succeeds, or not.
func (p *worker) handle(ctx context.Context, call core.Firing) error {
	f := p.begun(ctx, call)
	defer p.takePlace()()
	var err error
	switch {
	case strings.HasPrefix(f.Key, "slow"):
		p.beSlow()
	case !strings.HasPrefix(f.Key, "run"):
		if p.chance.intN(4) == 0 {
			time.Sleep(p.chance.upTo(p.longest()))
			p.await(0)
		}
		if p.chance.intN(4) == 0 {
			err = errHandler
		}
	}
	p.w.mu.Lock()
	lost := p.hasLost(f) // asked first: the context may end meanwhile
	f.done, f.failed, f.ended = ctx.Err() == nil, err != nil, p.clock.Elapsed()
	if f.done && lost {
		p.w.wrong("context: that of attempt %d of %q goes on, though owner %d has ended", f.Attempt, f.Key, f.Epoch)
	}
	p.w.mu.Unlock()
	return p.ends(err)
}

// hasLost reports whether the owner has ended that calls a handler, as its process knows.
func (p *worker) hasLost(f *firing) bool {
	select {
	case <-p.opened:
	default:
		return false
	}
	if p.cluster == nil {
		return true
	}
	owner, _ := p.cluster.Partition(f.Partition)
	return owner == nil || owner.Epoch() != f.Epoch
}

// longest is how long a handler takes at most: while there are faults, a few take so long that others take the log over.
func (p *worker) longest() time.Duration {
	if !p.w.healed.Load() && p.chance.intN(16) == 0 {
		return 3 * lease
	}
	return lease / 2
}

// ends ends a handler. One that fails may return the error, panic, or exit its goroutine.
func (p *worker) ends(err error) error {
	if err != nil {
		switch p.chance.intN(8) {
		case 0:
			panic(err)
		case 1:
			runtime.Goexit()
		}
	}
	return err
}

// beSlow takes so long that a partition is not given away for a while.
func (p *worker) beSlow() {
	time.Sleep(lease * 6 / 10)
	p.await(0)
}

// begun records the call of a handler. No owner begins an attempt once another one has begun.
func (p *worker) begun(ctx context.Context, call core.Firing) *firing {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &firing{Firing: call, at: time.Now(), latest: p.clock.latest(), clock: p.clock, elapsed: p.clock.Elapsed(), over: ctx.Err() != nil}
	w.firings[f.Key] = append(w.firings[f.Key], f)
	if last := w.epochs[f.Partition]; f.Epoch < last && !f.over {
		w.wrong("two owners: %q fires by owner %d of partition %d, after owner %d has begun", f.Key, f.Epoch, f.Partition, last)
	}
	w.epochs[f.Partition] = max(w.epochs[f.Partition], f.Epoch)
	if until := p.alone.Load(); until != nil && time.Now().After(*until) && !f.over {
		w.wrong("alone: %q fires %v after the end of the lease", f.Key, time.Since(*until))
	}
	if p.logs[f.Partition].inDoubt() && !f.over {
		w.wrong("doubt: %q fires while an append is in doubt", f.Key)
	}
	return f
}

// watch sets what goes wrong with a connection to a log, and records the takeovers that it acknowledges.
func (p *worker) watch(at int, log *connection) {
	w := p.w
	var last frame.Frame // the last takeover that was sent; guarded by the lock of the disk
	log.SetFault(func(data []byte) memlog.Fault {
		if f, err := frame.Parse(data); err == nil && f.Epoch == f.Number {
			last = f
		}
		if p.mute.Load() == int32(at)+1 {
			return memlog.Drop
		}
		if p.alone.Load() != nil && p.chance.intN(3) == 0 {
			return memlog.Silence
		}
		return w.logFault(at)
	})
	log.Before = func(uint64) {
		p.await(0)
		p.underWay(at)
		p.await(0)
		w.shrink(at)
	}
	log.After = func(before uint64) {
		if w.once[at].Swap(false) {
			w.disks[at].SetSilent(true)
		}
		if last.Number == before+1 {
			p.takenOver(log, &last)
		}
		p.underWay(at)
	}
}

// underWay returns when an append has arrived, or its answer.
func (p *worker) underWay(at int) {
	long := p.w.latency(at)
	if long > usualLatency {
		defer p.heldUp(time.Now(), at)
	}
	time.Sleep(long)
}

// takenOver records a takeover that was acknowledged.
func (p *worker) takenOver(log *connection, f *frame.Frame) {
	w, at := p.w, log.at
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epochs[at] = max(w.epochs[at], f.Number)
	if log.own.off {
		w.wrong("clock: partition %d is taken over by a clock that is off", at)
	}
	if !log.own.unknown {
		w.takeovers[at][f.Number] = takeover{f.Time, log.own.begins + int64(p.clock.Elapsed()), time.Now(), p}
	}
}
