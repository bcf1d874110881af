package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// fate is what becomes of a message: most are late by little, some by more, and a few are lost or doubled.
func (w *world) fate(*membus.Bus, *membus.Bus) membus.Fate {
	f := membus.Fate{After: w.chance.upTo(5 * time.Millisecond)}
	if w.healed.Load() && !w.little.Load() {
		return f
	}
	switch w.chance.intN(100) {
	case 0:
		f.Lost = true
	case 1:
		f.Again = 1 + w.chance.upTo(time.Second)
	case 3:
		f.Again = 1 + w.chance.upTo(3*lease)
	case 2:
		f.After = w.chance.upTo(2 * time.Second)
	}
	return f
}

// logFault is what goes wrong with an append.
func (w *world) logFault(at int) memlog.Fault {
	switch {
	case w.little.Load():
		return w.littleLogFault()
	case w.elects[at].Load():
		return []memlog.Fault{memlog.Drop, memlog.Refuse, memlog.Forget, memlog.Later}[w.chance.intN(4)]
	case w.slow[at].Load() && w.chance.intN(2) == 0:
		return memlog.Later
	case w.healed.Load(), w.chance.intN(20) > 0:
		return memlog.None
	}
	return memlog.Fault(w.chance.intN(int(memlog.Stranger) + 1))
}

// latency is how long an append is under way, or its answer.
func (w *world) latency() time.Duration {
	if !w.healed.Load() && w.chance.intN(40) == 0 {
		return w.chance.upTo(time.Second)
	}
	return w.chance.upTo(5 * time.Millisecond)
}

// tableFault is what goes wrong with a call of the table.
func (p *worker) tableFault(c memtable.Call) memtable.Fault {
	w := p.w
	switch {
	case w.little.Load():
		return p.littleTableFault(c)
	case w.healed.Load() && p.table.Load() == callsLost:
		return memtable.Fault{Drop: c.Op != "watch"}
	case w.healed.Load():
		return memtable.Fault{}
	}
	f := memtable.Fault{
		Before: w.chance.upTo(10 * time.Millisecond), After: w.chance.upTo(10 * time.Millisecond),
		Lose: c.Op != "watch" && w.chance.intN(50) == 0,
	}
	if w.chance.intN(20) == 0 {
		f.Behind = uint64(w.chance.intN(10)) // a replica is
	}
	switch {
	case c.Op == "watch":
		return f
	case p.table.Load() == answersLost:
		return memtable.Fault{Lose: true}
	case p.table.Load() == oneAnswer:
		if c.Op == "get" { // it shows whether the renewal was committed
			p.table.Store(callsLost)
		}
		return memtable.Fault{}
	case p.table.Load() == callsLost:
		return memtable.Fault{Drop: true}
	}
	switch w.chance.intN(50) {
	case 0:
		f.Before = w.chance.upTo(lease)
	case 1:
		f.After = w.chance.upTo(lease)
	}
	return f
}

// disturb lets one thing happen, and returns when it is over.
func (w *world) disturb(ctx context.Context, r *rand.Rand) {
	p := w.anyWorker(r)
	long := time.Duration(r.Int64N(int64(2 * lease)))
	switch r.IntN(18) {
	case 0, 1, 2:
		w.end(ctx, p, r, long)
	case 10:
		w.note(fmt.Sprint("the connection comes and goes for ", long))
		for begun := time.Now(); time.Since(begun) < long; time.Sleep(time.Duration(r.Int64N(int64(time.Second)))) {
			p.bus.SetOffline(r.IntN(2) == 0)
		}
		p.bus.SetOffline(false)
	case 13, 14:
		w.note("the table answers once in a while")
		p.answerOnce(lease/2 + time.Duration(r.Int64N(int64(lease/4))))
	case 15:
		at := r.IntN(partitions)
		w.note(fmt.Sprint("log ", at, " elects a leader for ", long/3))
		w.elects[at].Store(true)
		time.Sleep(long / 3)
		w.elects[at].Store(false)
	case 16, 17:
		w.note("alone with the logs")
		w.leaveAlone(ctx, p)
	case 11:
		w.note("a wall clock is set")
		p.clock.set(wrong(r))
	case 12:
		w.note(fmt.Sprint("appends are late for ", long))
		at := r.IntN(partitions)
		w.slow[at].Store(true)
		time.Sleep(long)
		w.slow[at].Store(false)
	case 3:
		w.note(fmt.Sprint("cut off from the table for ", long))
		p.store.Cut(true)
		time.Sleep(long)
		p.store.Cut(false)
	case 4:
		out, in := r.IntN(2) == 0, r.IntN(2) == 0
		w.note(fmt.Sprint("cut off from messages for ", long, out, in))
		p.bus.Cut(out, in)
		time.Sleep(long)
		p.bus.Cut(false, false)
	case 5:
		w.note(fmt.Sprint("offline for ", long))
		p.bus.SetOffline(true)
		time.Sleep(long)
		p.bus.SetOffline(false)
	case 6:
		at := r.IntN(partitions)
		w.note(fmt.Sprint("log ", at, " does not answer for ", long))
		w.disks[at].SetSilent(true)
		time.Sleep(long)
		w.disks[at].SetSilent(false)
	case 7:
		at := r.IntN(partitions)
		w.note(fmt.Sprint("log ", at, " is full for ", long))
		w.disks[at].SetFull(true)
		time.Sleep(long)
		w.disks[at].SetFull(false)
	case 8:
		w.note("a watch sees nothing more")
		p.store.Mute()
	case 9:
		w.note(fmt.Sprint("stands still for ", long))
		p.pause(long)
	}
}

// What becomes of a process's calls of the table.
const (
	usual int32 = iota
	answersLost
	oneAnswer // and then callsLost
	callsLost
)

// answerOnce lets a process know late that its lease was renewed, and then prevents further renewals.
func (p *worker) answerOnce(late time.Duration) {
	p.table.Store(answersLost)
	time.Sleep(late)
	p.table.Store(oneAnswer)
	time.Sleep(2 * lease)
	p.table.Store(usual)
}

// end ends a process in one of several ways, and begins another one.
func (w *world) end(ctx context.Context, p *worker, r *rand.Rand, long time.Duration) {
	if !p.leave() {
		return // it is ending already
	}
	switch r.IntN(4) {
	case 0:
		w.note("kill")
		p.kill()
	case 1:
		w.note("shutdown")
		limited, cancel := context.WithTimeout(ctx, long)
		_ = p.cluster.Shutdown(limited)
		cancel()
		p.close()
	case 2:
		w.note("close")
		p.close()
	case 3:
		w.note("kill in the middle of a handover")
		go p.cluster.HandOver(ctx)
		time.Sleep(time.Duration(r.Int64N(int64(time.Second))))
		p.kill()
	}
	w.replace(ctx)
}

// replace begins another process for one that has ended.
func (w *world) replace(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := w.rise(ctx); err == nil {
			return
		}
		time.Sleep(time.Second)
	}
}
