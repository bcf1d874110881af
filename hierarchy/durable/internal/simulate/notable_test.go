package simulate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// bearNoTable keeps the table from all processes for more than a minute, so that all leases end, and nobody takes anything
// over. A log does not answer just before that: what is committed after the lease waits for its return, but for no longer than
// a minute since the call. Then all goes on as before.
func (w *world) bearNoTable(ctx context.Context) {
	p, at := w.anyOwner()
	if p == nil || w.chance.intN(2) == 0 {
		return
	}
	w.note("no table")
	w.rounds++
	before := w.ownersOf()
	w.cutTable(true)
	w.disks[at].SetSilent(true)
	if w.chance.intN(3) == 0 { // no lease is held in most of the time without an answer
		time.Sleep(lease + w.chance.upTo(giveUp/2))
		w.cutTable(false)
		time.Sleep(lease / 4)
		w.disks[at].SetSilent(false)
		w.staysSettled(before)
		return
	}
	var wg sync.WaitGroup
	for _, p := range []*worker{p, w.calling[w.chance.intN(callers)]} {
		wg.Go(func() { w.waitsForLease(ctx, p, at) })
	}
	time.Sleep(lease + w.chance.upTo(giveUp/2))
	w.disks[at].SetSilent(false)
	wg.Wait()
	w.cutTable(false)
	w.staysSettled(before)
}

// staysSettled checks that the owners are the same still, and remain it, and that runs go on.
func (w *world) staysSettled(before [partitions]uint64) {
	time.Sleep(2 * lease)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epochs != before {
		w.wrong("unsettled: the owners %v become %v, though nobody could use the table", before, w.epochs)
	}
	w.runsGoOn()
}

// ownersOf returns the epochs of the last owners.
func (w *world) ownersOf() [partitions]uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.epochs
}

func (w *world) cutTable(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range append(w.living[:len(w.living):len(w.living)], w.calling...) {
		p.store.Cut(cut)
	}
}

// waitsForLease checks that a call ends within a minute, though it is committed and only the lease is over.
func (w *world) waitsForLease(ctx context.Context, p *worker, at int) {
	begun := time.Now()
	limited, cancel := context.WithTimeout(ctx, 2*giveUp)
	defer cancel()
	key := fmt.Sprintf("no table %d %d", w.rounds, at)
	_, err := do(limited, p.api(), key, core.Op{Kind: frame.Set, In: 1000 * time.Hour})
	w.mu.Lock()
	defer w.mu.Unlock()
	if took := time.Since(begun); err == nil || took > giveUp+prompt {
		w.wrong("waits: a call whose owner has no lease ends after %v: %v", took, err)
	}
}
