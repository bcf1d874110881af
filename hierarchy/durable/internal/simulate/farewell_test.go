package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// nobody is for how long no process lives after all have left.
const nobody = 3 * lease

// leaveAll has all processes leave one after the other, while they go on calling, so that the last one has nobody to give
// its partitions to, and lets others begin after a time. What was due meanwhile fires then, for the first time.
func (w *world) leaveAll(ctx context.Context) {
	w.note("all leave")
	w.rounds++
	var keys []string
	var late sync.Map
	for left := workers - 1; left >= 0; left-- {
		p, closes := w.anyWorker(w.chance.branch()), left > 0 && w.chance.intN(3) == 0
		if left == 0 {
			w.bearSilence(ctx, p)
			keys = w.setSome(ctx, "left", func(n int) time.Duration { return nobody/8 + time.Duration(n)*nobody/20 })
		}
		p.leave()
		var wg sync.WaitGroup
		for range 2 * partitions {
			r := w.chance.branch()
			wg.Go(func() { w.askOnTheWayOut(ctx, p, left > 0 && !closes, r, &late) })
		}
		time.Sleep(w.chance.upTo(prompt))
		w.goes(ctx, p, closes)
		wg.Wait()
	}
	for at := range partitions {
		w.endsInOrder(ctx, at)
	}
	w.askNobody(ctx)
	time.Sleep(nobody)
	for range workers {
		w.replace(ctx)
	}
	time.Sleep(4 * lease) // the wall clocks of all may be wrong at first
	w.hasNoneOf(ctx, &late)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		if all := w.firings[key]; len(all) == 0 || all[0].Attempt != 1 {
			w.wrong("left: %q should have fired after all had left: %v", key, all)
		}
	}
}

// handsOver lets a process hand its partitions over before it is shut down, in some rounds. It has none after that.
func (w *world) handsOver(ctx context.Context, p *worker) {
	if w.chance.intN(2) == 0 {
		return
	}
	p.cluster.HandOver(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	for at := range partitions {
		if owner, _ := p.cluster.Partition(at); owner != nil {
			w.wrong("handover: a process has handed over, and owns partition %d", at)
		}
	}
}

// runLong has a handler begin in each partition that runs for longer than it takes to leave without it. An attempt that was
// announced is left to others.
func (w *world) runLong(ctx context.Context) (keys []string) {
	if w.announces() {
		return nil
	}
	w.rounds++
	for at := range partitions {
		key := fmt.Sprintf("slow %d %d", w.rounds, at)
		_, err := do(ctx, w.any(w.chance.branch()).api(), key, core.Op{Kind: frame.Set})
		w.nothingFails(err)
		keys = append(keys, key)
	}
	time.Sleep(prompt)
	return keys
}

// ranOnce checks that who has left, or given a partition away, has waited for handlers, and that their results are in the
// log. The lock is held.
func (w *world) ranOnce(keys []string) {
	for _, key := range keys {
		if all := w.firings[key]; len(all) != 1 || !all[0].done {
			w.wrong("handover: %q, whose handler ran as a process left, has %d attempts, or its context ended", key, len(all))
		}
	}
}

// goes ends a process in order, or so that others have to wait until its lease has run out.
func (w *world) goes(ctx context.Context, p *worker, closes bool) {
	p.left.Store(true)
	if closes {
		p.close()
		time.Sleep(2 * lease)
		return
	}
	begun := time.Now()
	require.NoError(w.t, p.cluster.Shutdown(ctx))
	w.leftInTime(time.Since(begun))
	p.close()
}

// askOnTheWayOut sets timers until the process is closed, and collects those that came too late. If others are to answer,
// it gets no other error than that.
func (w *world) askOnTheWayOut(ctx context.Context, p *worker, others bool, r *rand.Rand, late *sync.Map) {
	for {
		key := fmt.Sprint("late ", r.Uint64())
		a, limited, cancel := p.asks(ctx, of(key), 2*giveUp)
		_, err := do(limited, p.api(), key, core.Op{Kind: frame.Set, In: 1000 * time.Hour})
		cancel()
		a.ended(err)
		switch {
		case errors.Is(err, core.ErrClosed):
			late.Store(key, true)
			return
		case err == nil:
			_, _ = do(ctx, p.api(), key, core.Op{Kind: frame.Remove}) // the log has little room
			time.Sleep(time.Duration(r.Int64N(int64(prompt / 20))))
		case others:
			w.mu.Lock()
			defer w.mu.Unlock()
			w.wrong("left: a call of a process that leaves fails: %v", err)
			return
		default:
			return // nothing is known of it
		}
	}
}

// hasNoneOf checks that nothing became of the calls of processes that were closed.
func (w *world) hasNoneOf(ctx context.Context, late *sync.Map) {
	for key := range late.Range {
		key := key.(string)
		_, _, ok, err := w.any(w.chance.branch()).api().Get(ctx, of(key), []byte(key))
		require.NoError(w.t, err)
		require.False(w.t, ok, "%q is set, though its process said that it was closed", key)
	}
}

// endsInOrder checks that a log says at its end that its owner has left, and that its mark is there: otherwise the log could
// lose its last frames unnoticed until somebody opens it.
func (w *world) endsInOrder(ctx context.Context, at int) {
	log := w.disks[at].Open()
	defer log.Close()
	b, err := log.Bounds(ctx)
	require.NoError(w.t, err)
	data, err := log.Get(ctx, b.Last)
	require.NoError(w.t, err)
	f, err := frame.Parse(data)
	require.NoError(w.t, err)
	var last frame.Kind
	for op := range f.Ops() {
		last = op.Kind
	}
	mark, err := log.Mark(ctx)
	require.NoError(w.t, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	if last != frame.Close {
		w.wrong("left: log %d ends with %v, though its owner has left", at, last)
	}
	if mark.Number != f.Number {
		w.wrong("left: log %d ends with frame %d, and its mark says %d", at, f.Number, mark.Number)
	}
}

// askNobody checks that a call fails in time when no process lives.
func (w *world) askNobody(ctx context.Context) {
	p := w.any(w.chance.branch())
	a, limited, cancel := p.asks(ctx, 0, 2*giveUp)
	defer cancel()
	_, err := do(limited, p.api(), "nothing 0", core.Op{Kind: frame.Remove})
	require.Error(w.t, err)
	a.ended(err)
}

// farewell is how long a process takes at most to leave if no handler runs. Attempts that have tokens are left to others.
// For the others it takes up to a lease more: half of one while further handlers begin, and until the last one has returned.
const farewell = 2 * time.Second

// leftInTime checks how long a process has taken to leave.
func (w *world) leftInTime(took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	most := farewell
	if !w.announces() {
		most += lease
	}
	if took > most {
		w.wrong("handover: a process takes %v to leave", took)
	}
}

// beganNothing checks that a process that leaves others begins no attempt after a time.
func (w *world) beganNothing(p *worker, after time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, all := range w.firings {
		if f := all[len(all)-1]; f.clock == p.clock && f.at.After(after) && !f.over {
			w.wrong("handover: %q fires %v after its process has begun to leave", key, f.at.Sub(after)+prompt)
		}
	}
}
