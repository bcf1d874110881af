package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// fault is something that happens to a process, or to a log, for a time.
type fault struct {
	name    string
	process func(w *world, ctx context.Context, p *worker, r *rand.Rand, long time.Duration)
	log     func(w *world, at int, long time.Duration)
	often   int // how often it happens, in comparison with others; 0 is once
}

var faults = []fault{
	{name: "kill", process: func(w *world, ctx context.Context, p *worker, _ *rand.Rand, _ time.Duration) {
		w.end(ctx, p, p.kill)
	}},
	{name: "shutdown", process: func(w *world, ctx context.Context, p *worker, _ *rand.Rand, long time.Duration) {
		w.end(ctx, p, func() {
			limited, cancel := context.WithTimeout(ctx, long)
			defer cancel()
			_ = p.cluster.Shutdown(limited)
			p.close()
		})
	}},
	{name: "close", process: func(w *world, ctx context.Context, p *worker, _ *rand.Rand, _ time.Duration) {
		w.end(ctx, p, p.close)
	}},
	{name: "kill in a handover", process: func(w *world, ctx context.Context, p *worker, r *rand.Rand, _ time.Duration) {
		w.end(ctx, p, func() {
			go p.cluster.HandOver(ctx)
			time.Sleep(time.Duration(r.Int64N(int64(time.Second))))
			p.kill()
		})
	}},
	{name: "cut off from the table", process: func(_ *world, _ context.Context, p *worker, _ *rand.Rand, long time.Duration) {
		p.store.Cut(true)
		time.Sleep(long)
		p.store.Cut(false)
	}},
	{name: "cut off from messages", process: func(_ *world, _ context.Context, p *worker, r *rand.Rand, long time.Duration) {
		p.bus.Cut(r.IntN(2) == 0, r.IntN(2) == 0)
		time.Sleep(long)
		p.bus.Cut(false, false)
	}},
	{name: "offline", process: func(_ *world, _ context.Context, p *worker, _ *rand.Rand, long time.Duration) {
		p.bus.SetOffline(true)
		time.Sleep(long)
		p.bus.SetOffline(false)
	}},
	{name: "the connection comes and goes", process: func(_ *world, _ context.Context, p *worker, r *rand.Rand, long time.Duration) {
		for begun := time.Now(); time.Since(begun) < long; time.Sleep(time.Duration(r.Int64N(int64(time.Second)))) {
			p.bus.SetOffline(r.IntN(2) == 0)
		}
		p.bus.SetOffline(false)
	}},
	{name: "a watch sees nothing more", process: func(_ *world, _ context.Context, p *worker, _ *rand.Rand, _ time.Duration) {
		p.store.Mute()
	}},
	{name: "stands still", process: func(_ *world, _ context.Context, p *worker, _ *rand.Rand, long time.Duration) {
		p.pause(long)
	}},
	{name: "stands still in doubt", process: func(w *world, _ context.Context, p *worker, _ *rand.Rand, long time.Duration) {
		for at := range w.elects {
			w.elects[at].Store(true)
		}
		time.Sleep(long / 50)
		go func() {
			time.Sleep(long / 50) // the process tries no more when the logs answer again
			for at := range w.elects {
				w.elects[at].Store(false)
			}
		}()
		p.pause(2*lease + 2*long)
	}},
	{name: "a wall clock is set", process: func(_ *world, _ context.Context, p *worker, r *rand.Rand, _ time.Duration) {
		p.clock.set(wrong(r))
	}},
	{name: "a wall clock is off", process: func(_ *world, _ context.Context, p *worker, r *rand.Rand, long time.Duration) {
		defer p.heldUp(time.Now(), everywhere)
		p.clock.set(tooFar(r))
		time.Sleep(long)
		p.clock.set(wrong(r))
		time.Sleep(wallCheck)
	}},
	{name: "the table answers once", often: 2, process: func(_ *world, _ context.Context, p *worker, r *rand.Rand, _ time.Duration) {
		p.answerOnce(lease/2 + time.Duration(r.Int64N(int64(lease/4))))
	}},
	{name: "alone with the logs", often: 2, process: func(w *world, ctx context.Context, p *worker, _ *rand.Rand, _ time.Duration) {
		w.leaveAlone(ctx, p)
	}},
	{name: "a log does not answer", log: func(w *world, at int, long time.Duration) {
		if long%4 == 0 { // longer than calls wait
			long += giveUp
		}
		w.disks[at].SetSilent(true)
		time.Sleep(long)
		w.disks[at].SetSilent(false)
	}},
	{name: "a log is full", log: func(w *world, at int, long time.Duration) {
		w.disks[at].SetFull(true)
		time.Sleep(long)
		w.disks[at].SetFull(false)
	}},
	{name: "appends are late", log: func(w *world, at int, long time.Duration) {
		w.slow[at].Store(true)
		time.Sleep(long)
		w.slow[at].Store(false)
	}},
	{name: "a log takes only small messages", log: func(w *world, at int, long time.Duration) {
		w.takesSmall(at, 1500)
		w.small[at].varies.Store(true)
		time.Sleep(long)
		w.takesAll(at)
	}},
	{name: "a log elects a leader", log: func(w *world, at int, long time.Duration) {
		w.elects[at].Store(true)
		time.Sleep(long / 3)
		w.elects[at].Store(false)
	}},
}

// draw draws a fault.
func draw(r *rand.Rand) int {
	for {
		if i := r.IntN(len(faults)); faults[i].often > 1 || r.IntN(2) == 0 {
			return i
		}
	}
}

// disturb lets one thing happen to a process or a log to which nothing else happens, and returns when it is over.
func (w *world) disturb(ctx context.Context, r *rand.Rand) {
	p, at, i := w.anyWorker(r), r.IntN(partitions), draw(r)
	long := time.Duration(r.Int64N(int64(2 * lease)))
	f, hit := &faults[i], &w.hit[at]
	if f.log == nil {
		if p == nil {
			return
		}
		hit = &p.hit
	}
	if !hit.CompareAndSwap(false, true) {
		return
	}
	defer hit.Store(false)
	defer w.happens(i)()
	if f.log != nil {
		w.note(fmt.Sprint("log ", at, ": ", f.name, " for ", long))
		f.log(w, at, long)
		return
	}
	w.note(fmt.Sprint(f.name, " for ", long))
	f.process(w, ctx, p, r, long)
}

// happens records that a fault begins, while others happen. The function that it returns records the end.
func (w *world) happens(i int) (ends func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for j, n := range w.happening {
		if n > 0 {
			w.pairs.Add(i, j)
		}
	}
	w.happening[i]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.happening[i]--
	}
}

// end ends a process, and begins another one.
func (w *world) end(ctx context.Context, p *worker, how func()) {
	if p.leave() { // otherwise it is ending already
		how()
		w.replace(ctx)
	}
}
