package simulate

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// fate is what becomes of a message: most are late by little, some by more, and a few are lost or doubled.
func (w *world) fate(from, _ *membus.Bus) membus.Fate {
	chance := w.chances.of("messages", from.Number)
	f := membus.Fate{After: chance.upTo(5 * time.Millisecond)}
	if w.healed.Load() && !w.little.Load() {
		return f
	}
	switch chance.intN(100) {
	case 0:
		f.Lost = true
	case 1:
		f.Again = 1 + chance.upTo(time.Second)
	case 3:
		f.Again = 1 + chance.upTo(3*lease)
	case 2:
		f.After = chance.upTo(2 * time.Second)
	}
	return f
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
	return memlog.Fault(chance.intN(int(memlog.Stranger) + 1))
}

// latency is how long an append is under way, or its answer.
func (w *world) latency(at int) time.Duration {
	chance := w.chances.of("latency", at)
	if !w.healed.Load() && chance.intN(40) == 0 {
		return chance.upTo(time.Second)
	}
	return chance.upTo(5 * time.Millisecond)
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
