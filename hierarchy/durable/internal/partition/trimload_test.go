package partition

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// Callers that leave the writer no rest, and set timers at random, don't have the log grow.
func TestTrimmingKeepsUp(t *testing.T) {
	for _, ops := range []int{1, 100, 1000, core.MaxOps} {
		inBubble(t, func(b *bench) {
			b.cfg.TrimAbove = 1 << 20
			b.open()
			const keys = 5_000
			most := b.load(keys, ops, 60*keys/max(ops, 100))
			live := b.p.Stats().LiveBytes
			b.LessOrEqual(most, 2*live+3*b.cfg.TrimAbove, "%d operations a call, %d live", ops, live)
			b.reopen()
			b.LessOrEqual(b.p.Stats().LiveBytes, live)
			b.shut()
		})
	}
}

// load has callers set timers of random keys, until so many frames were written, and returns the
// largest size of the log after all keys were there.
func (b *bench) load(keys, ops, frames int) (most int64) {
	stop, ended := make(chan bool), make(chan bool)
	const callers = 4
	for caller := range callers {
		go func() {
			defer func() { ended <- true }()
			r := rand.New(rand.NewPCG(uint64(caller), 5))
			for {
				select {
				case <-stop:
					return
				default:
				}
				c := new(core.Call)
				for range ops {
					key := binary.LittleEndian.AppendUint64(nil, r.Uint64N(uint64(keys)))
					c.Ops = append(c.Ops, core.Op{Kind: frame.Set, Key: key, Value: make([]byte, 100), In: time.Hour})
				}
				b.NoError(b.p.Do(b.t.Context(), c))
			}
		}()
	}
	appends, p := 0, b.p
	b.log.SetFault(func([]byte) memlog.Fault {
		p.mu.Lock() // the writer is in Append, and does not hold it
		if p.core.State.Len() > keys*9/10 {
			most = max(most, p.core.Total)
		}
		p.mu.Unlock()
		if appends++; appends == frames {
			close(stop)
		}
		return memlog.None
	})
	for range callers {
		<-ended
	}
	b.log.SetFault(nil)
	return most
}
