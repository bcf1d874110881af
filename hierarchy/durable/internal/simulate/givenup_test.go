package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// givenUp is a call that was given up, while the network held its message for so long that its process may own the
// partition by then.
type givenUp struct {
	key string
	t   *timer
}

// other returns another process that owns partitions.
func (w *world) other(than *worker) *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.living[slices.IndexFunc(w.living, func(p *worker) bool { return p != than })]
}

// patienceBefore is how long such calls last. In some histories their contexts do not end them.
func (w *world) patienceBefore() time.Duration {
	if w.seed%4 == 3 {
		return giveUp
	}
	return 50 * time.Millisecond
}

// giveUpCalls has a process set timers in partitions of others, and give that up after a time. A call before each of them
// is answered after that.
func (w *world) giveUpCalls(ctx context.Context, p *worker, patience time.Duration) (all []givenUp) {
	w.rounds++
	for at := range partitions {
		if owner, _ := p.cluster.Partition(at); owner == nil {
			all = append(all, givenUp{fmt.Sprintf("given up %d %d", w.rounds, at), &timer{in: 1, unknown: true, caller: p}})
			_, err := do(ctx, p.api(), fmt.Sprint("nothing ", at), core.Op{Kind: frame.Move}) // it knows the owner's clock then
			w.nothingFails(err)
		}
	}
	var before, calls sync.WaitGroup
	w.holdAll(p, lease/20)
	for _, g := range all {
		before.Go(func() {
			_, err := do(ctx, p.api(), fmt.Sprint("nothing ", of(g.key)), core.Op{Kind: frame.Remove})
			w.nothingFails(err)
		})
	}
	time.Sleep(10 * time.Millisecond)
	w.holdAll(p, patience+2*lease)
	for _, g := range all {
		calls.Go(func() { w.giveUpCall(ctx, g, patience) })
	}
	calls.Wait()
	w.holdNone()
	before.Wait()
	for _, g := range all {
		w.askTooMuch(ctx, p, of(g.key))
	}
	return all
}

// askTooMuch has a process send a call that is too large for the log. Its answer does not settle what was given up before.
func (w *world) askTooMuch(ctx context.Context, p *worker, at int) {
	w.takesSmall(at, 450)
	defer w.takesAll(at)
	op := core.Op{Kind: frame.Set, Value: make([]byte, 500), In: 1000 * time.Hour}
	if _, err := do(ctx, p.api(), fmt.Sprint("nothing ", at), op); !errors.Is(err, core.ErrTooLarge) {
		w.nothingFails(cmp.Or(err, errNotTooLarge))
	}
}

var errNotTooLarge = errors.New("a call is answered that is too large")

func (w *world) giveUpCall(ctx context.Context, g givenUp, patience time.Duration) {
	if patience == giveUp {
		patience *= 2
	}
	a, limited, cancel := g.t.caller.asks(ctx, of(g.key), patience)
	defer cancel()
	g.t.begun, g.t.rate = a.begun, g.t.caller.clock.rate
	_, err := do(limited, g.t.caller.api(), g.key, core.Op{Kind: frame.Set, In: g.t.in})
	a.ended(err)
	g.t.answered = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timers[g.key] = g.t
}

// removeGivenUp has a process remove what it may have set in partitions that it owns by now.
func (w *world) removeGivenUp(ctx context.Context, all []givenUp) {
	for _, g := range all {
		p, at := g.t.caller, of(g.key)
		if owner, _ := p.cluster.Partition(at); owner == nil {
			continue
		}
		_, err := do(ctx, p.api(), g.key, core.Op{Kind: frame.Remove})
		w.nothingFails(err)
		w.mu.Lock()
		g.t.removed = time.Now()
		w.mu.Unlock()
	}
}
