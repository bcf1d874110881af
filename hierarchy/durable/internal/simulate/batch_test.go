package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// batch sets timers of its own by one call: all of them, or none. Among its operations is one that changes nothing, and two
// that leave nothing.
func (w *world) batch(ctx context.Context, name string, p *worker, r *rand.Rand) {
	at := r.IntN(partitions)
	key := func(i int) []byte { return fmt.Appendf(nil, "%s %d %d", name, i, at) }
	a, limited, cancel := p.asks(ctx, at, patience(r))
	defer cancel()
	a.sets, a.large = true, true
	var ops []core.Op
	n := 2 + r.IntN(4)
	for i := range n {
		ops = append(ops, core.Op{Kind: frame.Set, Key: key(i), In: time.Duration(r.Int64N(int64(3 * lease)))})
	}
	extra := r.IntN(n)
	ops = slices.Insert(ops, extra+1+r.IntN(n-extra), core.Op{Kind: frame.Remove, Key: key(extra)})
	ops = slices.Insert(ops, r.IntN(n+1), core.Op{Kind: frame.Remove, Key: key(n)})
	c := &core.Call{Ops: slices.Clone(ops)}
	err := p.api().Do(limited, at, c)
	a.ended(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	answered := time.Now()
	var id frame.ID
	if err == nil { // else others may still use the call
		id = c.First
	}
	var keys []string
	for i, op := range ops {
		nothing := string(op.Key) == string(key(n))
		if err == nil && c.Took[i] == nothing {
			w.wrong("batch: the answer to operation %d of a batch is %v: %q", i, c.Took[i], op.Key)
		}
		if op.Kind == frame.Set && string(op.Key) != string(key(extra)) {
			t := &timer{in: op.In, begun: a.begun, answered: answered, rate: p.clock.rate, caller: p, unknown: err != nil,
				refused: notCommitted(err), twice: a.mayBeTooLarge()}
			if err == nil {
				t.id = id
			}
			w.timers[string(op.Key)] = t
			keys = append(keys, string(op.Key))
		}
		if !nothing {
			id.Number++
		}
	}
	w.batches = append(w.batches, keys)
}

// checkBatch checks that of the timers that a call sets, all fire, or none.
func (w *world) checkBatch(keys []string) {
	fired := 0
	for _, key := range keys {
		fired += min(1, len(w.firings[key]))
	}
	if fired > 0 && fired < len(keys) {
		w.wrong("batch: of %q only %d fire", keys, fired)
	}
}
