package simulate

import (
	"context"
	"time"
)

// beMute keeps an owner from writing to a log that others can write to, for several leases. In half the histories they can't
// ask it for the partition, either. One of them takes it over meanwhile, and the timers there are on time.
func (w *world) beMute(ctx context.Context) {
	p, at := w.anyOwner()
	if p == nil {
		return
	}
	w.note("mute")
	w.rounds++
	keys := w.setSome(ctx, "mute", func(n int) time.Duration { return 5*lease + time.Duration(n)*time.Second/4 })
	w.mu.Lock()
	before := len(w.takeovers[at])
	w.mu.Unlock()
	p.mute.Store(int32(at) + 1)
	p.bus.Cut(false, w.chance.intN(2) == 0)
	time.Sleep(6 * lease)
	p.bus.Cut(false, false)
	p.mute.Store(0)
	time.Sleep(2 * lease) // what has failed is tried again
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		if all := w.firings[key]; len(all) == 0 {
			w.wrong("mute: %q has not fired", key)
		}
	}
	if n := len(w.takeovers[at]) - before; n != 1 {
		w.wrong("mute: partition %d was taken over %d times", at, n)
	}
}

// anyOwner returns a process that owns a partition, and the partition.
func (w *world) anyOwner() (*worker, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.living {
		for at := range partitions {
			if owner, _ := p.cluster.Partition(at); owner != nil {
				return p, at
			}
		}
	}
	return nil, 0
}
