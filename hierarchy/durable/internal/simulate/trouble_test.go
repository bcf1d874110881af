package simulate

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// Little troubles are single failures, which a process survives by itself: partitions stay where they are, calls are
// answered, and timers are on time.

// littleLogFault is what goes wrong with an append.
func (w *world) littleLogFault(at int) memlog.Fault {
	chance := w.chances.of("appends", at)
	if chance.intN(8) > 0 {
		return memlog.None
	}
	return []memlog.Fault{memlog.Drop, memlog.Refuse, memlog.Forget, memlog.Later, memlog.Twice, memlog.Stranger, memlog.Copy}[chance.intN(7)]
}

// littleTableFault is what goes wrong with a call of the table, at most once in half a lease.
func (p *worker) littleTableFault(c memtable.Call) memtable.Fault {
	f := memtable.Fault{Before: p.chance.upTo(10 * time.Millisecond)}
	last, now := p.failed.Load(), time.Now().UnixNano()
	if c.Op == "watch" || now-last < int64(lease/2) || !p.failed.CompareAndSwap(last, now) {
		return f
	}
	switch p.chance.intN(4) {
	case 0:
		f.Lose = true
	case 1:
		f.Drop = true
	case 2:
		f.Err = storage.ErrRefused // though it was done
	case 3:
		f.Behind = 5
	}
	return f
}

// bearTrouble lets little troubles happen.
func (w *world) bearTrouble(ctx context.Context) {
	w.rounds++
	w.mu.Lock()
	before := w.epochs
	w.mu.Unlock()
	w.little.Store(true)
	var wg sync.WaitGroup
	for at := range partitions {
		wg.Go(func() { w.askSteadily(ctx, at) })
	}
	w.requestAll()
	wg.Wait()
	w.little.Store(false)
	time.Sleep(lease)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epochs != before {
		w.wrong("trouble: the owners %v become %v, though what failed could be tried again", before, w.epochs)
	}
}

// askSteadily sets timers in a partition, one after the other, and looks when they fire.
func (w *world) askSteadily(ctx context.Context, at int) {
	r := w.chance.branch()
	due := make(map[string]time.Time)
	for begun := time.Now(); time.Since(begun) < 2*lease; time.Sleep(time.Duration(r.Int64N(int64(time.Second)))) {
		key, in := fmt.Sprintf("steady %d %d %d", w.rounds, len(due), at), time.Duration(r.Int64N(int64(lease/2)))
		// Copies are sent after 1, 3, 7 and 15 seconds. In some thousand histories the first four are lost, or their answers.
		limited, cancel := context.WithTimeout(ctx, 2*lease)
		_, err := do(limited, w.any(r).api(), key, core.Op{Kind: frame.Set, In: in})
		cancel()
		if due[key] = time.Now().Add(in); err != nil {
			w.mu.Lock()
			w.wrong("trouble: %v, though what failed could be tried again", err)
			w.mu.Unlock()
			delete(due, key)
		}
	}
	time.Sleep(lease)
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, at := range due {
		if all := w.firings[key]; len(all) == 0 || all[0].at.Sub(at) > prompt {
			w.wrong("late: %q fires later than %v", key, at.Sub(w.begun))
		}
	}
}

// requestAll has all processes request all partitions several times, as late copies of earlier requests would. Nobody gives a
// partition to a process that should not have it.
func (w *world) requestAll() {
	p := w.anyWorker(w.chance.branch())
	members, _ := p.cluster.Members()
	for _, to := range members {
		for _, from := range members {
			id, err := strconv.ParseUint(from.ID, 16, 64)
			require.NoError(w.t, err)
			for i := range uint32(4 * partitions) {
				request := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32([]byte{1}, i%partitions), id)
				require.NoError(w.t, p.bus.Publish("epicycle.world.give."+to.ID, "", request))
			}
		}
	}
}

// election is for how long a table is away that elects a leader.
const election = lease * 4 / 10

// electTable lets the table elect a leader. No lease ends by that.
func (w *world) electTable() {
	for range 3 {
		time.Sleep(w.chance.upTo(lease / 2))
		w.mu.Lock()
		all := append([]*worker(nil), w.living...)
		w.mu.Unlock()
		for _, p := range all {
			p.table.Store(callsLost)
		}
		for begun := time.Now(); time.Since(begun) < 2*election; time.Sleep(20 * time.Millisecond) {
			for _, p := range all {
				if time.Since(begun) > election {
					p.table.Store(usual)
				}
				p.holds()
			}
		}
	}
}

// holds checks that a process owns the partitions that it has.
func (p *worker) holds() {
	for at := range partitions {
		owner, _ := p.cluster.Partition(at)
		if owner == nil {
			continue
		}
		if _, err := owner.Time(); err != nil {
			p.w.mu.Lock()
			p.w.wrong("held: a lease ends while the table elects a leader: %v", err)
			p.w.mu.Unlock()
		}
	}
}

// dieWhileGiving kills a process while others wait for its partitions, which it does not give yet as handlers run. They
// are back when its lease is over.
func (w *world) dieWhileGiving(ctx context.Context) {
	r := w.chance.branch()
	w.rounds++
	w.setSome(ctx, "slow", func(int) time.Duration { return 0 })
	keys := w.setSome(ctx, "back", func(int) time.Duration { return 4 * time.Second })
	p := w.anyWorker(r)
	time.Sleep(time.Second)
	go p.cluster.HandOver(ctx)
	time.Sleep(time.Duration(r.Int64N(int64(2 * time.Second))))
	w.note("kill in the calm")
	p.kill()
	killed := time.Now()
	time.Sleep(2 * lease)
	w.replace(ctx)
	time.Sleep(2 * lease)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		if all := w.firings[key]; len(all) == 0 || all[0].at.Sub(killed) > back {
			w.wrong("back: %q of a process that was killed at %v has not fired for %v: %v", key, killed.Sub(w.begun), back, all)
		}
	}
}

// back is how long a partition has no owner at most after one was killed and nothing else fails: others wait for one and a
// quarter leases, and read the log.
const back = 5*lease/4 + 3*time.Second
