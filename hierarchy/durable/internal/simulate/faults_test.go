package simulate

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// fate is what becomes of a message: most are late by little, some by more, and a few are lost or doubled.
func (w *world) fate(from, _ *membus.Bus) (f membus.Fate) {
	chance := w.chances.of("messages", from.Number)
	f.After = chance.upTo(5 * time.Millisecond)
	if w.healed.Load() && !w.little.Load() {
		return f
	}
	switch chance.intN(100) {
	case 0:
		f.Lost = true
	case 1:
		f.Again = 1 + chance.upTo(time.Second)
	case 3:
		f.Again = w.held.copyOf(from, 1+chance.upTo(3*lease))
	case 2:
		f.After = chance.upTo(slowMessage)
	case 4:
		if !w.healed.Load() && chance.intN(4) == 0 {
			w.held.hold(from, chance, &f)
		}
	}
	return f
}

// delay is how long a message takes until it is with the servers: a few are held, or all of a process.
func (w *world) delay(from *membus.Bus) time.Duration {
	if w.held.bus.Load() == int64(from.Number) {
		return time.Duration(w.held.long.Load())
	}
	chance := w.chances.of("delays", from.Number)
	if w.healed.Load() || chance.intN(800) > 0 {
		return 0
	}
	return w.held.delay(from, chance)
}

// logFault is what goes wrong with an append.
func (w *world) logFault(at int) memlog.Fault {
	chance := w.chances.of("appends", at)
	switch {
	case w.little.Load():
		return w.littleLogFault(at)
	case w.elects[at].Load():
		return []memlog.Fault{memlog.Drop, memlog.Refuse, memlog.Forget, memlog.Later}[chance.intN(4)]
	case w.slow[at].Load() && chance.intN(2) == 0:
		return memlog.Later
	case w.healed.Load(), chance.intN(20) > 0:
		return memlog.None
	}
	return []memlog.Fault{memlog.None, memlog.Drop, memlog.Forget, memlog.Silence, memlog.Later, memlog.Twice, memlog.Stranger,
		memlog.Copy}[chance.intN(8)]
}

// small is that a log takes only small messages.
type small struct {
	varies atomic.Bool  // what is small changes from message to message
	until  atomic.Int64 // since when it takes large ones again, or math.MaxInt64 while it does not
}

// shrink sets how large a message of a log may be, if that varies. So a frame may have become too large on its
// way, or when it is sent again.
func (w *world) shrink(at int) {
	if chance := w.chances.of("sizes", at); w.small[at].varies.Load() && chance.intN(3) == 0 {
		w.disks[at].SetLarge(450 + chance.intN(1000))
		if !w.small[at].varies.Load() { // that has ended meanwhile
			w.disks[at].SetLarge(0)
		}
	}
}

// takesSmall lets a log take only small messages.
func (w *world) takesSmall(at, most int) {
	w.small[at].until.Store(math.MaxInt64)
	w.disks[at].SetLarge(most)
}

// takesAll lets a log take large messages again.
func (w *world) takesAll(at int) {
	if s := &w.small[at]; s.until.Load() == math.MaxInt64 {
		s.until.Store(time.Now().UnixNano())
		s.varies.Store(false)
		w.disks[at].SetLarge(0)
	}
}

// usualLatency is how long most appends are under way at most, or their answers.
const usualLatency = 5 * time.Millisecond

// latency is how long an append is under way, or its answer.
func (w *world) latency(at int) time.Duration {
	chance := w.chances.of("latency", at)
	if !w.healed.Load() && chance.intN(40) == 0 {
		return chance.upTo(time.Second)
	}
	return chance.upTo(usualLatency)
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
		Before: p.chance.upTo(10 * time.Millisecond), After: p.chance.upTo(10 * time.Millisecond),
		Lose: c.Op != "watch" && p.chance.intN(50) == 0,
	}
	if p.clock.isOff() { // so it is not certain whether the process knows that
		f.Before += p.chance.upTo(lease / 8)
	}
	if p.chance.intN(20) == 0 {
		f.Behind = uint64(p.chance.intN(10)) // a replica is
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
	switch p.chance.intN(50) {
	case 0:
		f.Before = p.chance.upTo(lease)
	case 1:
		f.After = p.chance.upTo(lease)
	}
	return f
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

// replace begins another process for one that has ended.
func (w *world) replace(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := w.rise(ctx); err == nil {
			return
		}
		time.Sleep(time.Second)
	}
}
