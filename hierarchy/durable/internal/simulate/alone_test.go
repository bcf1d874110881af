package simulate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// held is how long a lease is held after the last renewal was sent, at most, also by a clock that is slow by drift.
const held = (lease - lease/4) * 1002 / 1000

// leaveAlone cuts a process off from the table and from all other processes, but not from the logs, some of which answer
// late. Meanwhile it is asked for operations: once its lease must be over, it answers nothing, and calls no handler.
func (w *world) leaveAlone(ctx context.Context, p *worker) {
	p.store.Cut(true)
	p.bus.Cut(true, true)
	until := time.Now().Add(held)
	p.alone.Store(&until)
	var wg sync.WaitGroup
	for at := range partitions {
		for kind := range 5 {
			wg.Go(func() { p.askAlone(ctx, at, kind, until) })
		}
	}
	wg.Wait()
	p.alone.Store(nil)
	p.bus.Cut(false, false)
	p.store.Cut(false)
}

// askAlone asks for operations of one kind until some time after the lease: some change nothing, and some only read.
func (p *worker) askAlone(ctx context.Context, at, kind int, until time.Time) {
	key := fmt.Sprintf("alone %d", at)
	for n := 0; time.Since(until) < lease/2; n++ {
		limited, cancel := context.WithTimeout(ctx, lease)
		err := error(nil)
		switch kind {
		case 0:
			_, err = do(limited, p.api(), key, core.Op{Kind: frame.Set, In: 1000 * time.Hour})
		case 1:
			_, err = do(limited, p.api(), "none "+key, core.Op{Kind: frame.Remove})
		case 2:
			_, _, _, err = p.api().Get(limited, at, []byte(key))
		case 3:
			_, err = p.api().Count(limited, at)
		case 4:
			err = p.api().All(limited, at, false, func(state.Timer) bool { return true })
		}
		cancel()
		if late := time.Since(until); err == nil && late > 0 {
			p.w.mu.Lock()
			p.w.wrong("alone: an answer of kind %d, %v after the end of the lease", kind, late)
			p.w.mu.Unlock()
		}
		time.Sleep(time.Duration(50+p.chance.intN(100)) * time.Millisecond)
	}
}
