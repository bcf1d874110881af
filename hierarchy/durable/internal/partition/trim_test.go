package partition

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// settled waits until trimming has nothing to do.
func (b *bench) settled() {
	b.Eventually(func() bool {
		b.p.mu.Lock()
		defer b.p.mu.Unlock()
		return b.p.core.IsTrimmed()
	}, 20*time.Second, 100*time.Microsecond)
}

// Frames that a deletion has left do not count.
func TestInterruptedDeletion(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 500
	b.open()
	b.set("a", "1", time.Hour)
	b.set("b", "1", time.Hour)
	b.remove("b")
	for range 50 {
		b.set("c", "", time.Hour)
		b.settled()
	}
	b.Greater(b.p.core.Head.Begin, uint64(4))
	b.Zero(b.disk.Trims)
	b.crash()
	b.disk.Change(2, nil) // it was deleted before frame 1
	b.open()
	b.Equal(map[string]string{"a": "1", "c": ""}, b.keys(false))
	b.crash()
	b.NoError(b.disk.Open().Trim(t.Context(), 3))
	b.open()
	b.Equal(map[string]string{"a": "1", "c": ""}, b.keys(false))
}

// Trimming goes on while one large call follows the other.
func TestTrimmingBesideLargeCalls(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.open()
		value := make([]byte, 600<<10)
		stop := make(chan bool)
		ended := make(chan bool)
		const callers = 8 // so that some wait always
		for i := range callers {
			go func() {
				defer func() { ended <- true }()
				for {
					select {
					case <-stop:
						return
					default:
					}
					b.NoError(b.p.Do(b.t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte{byte(i)}, Value: value, In: time.Hour}}}))
				}
			}()
		}
		appends, p := 0, b.p
		var most int64
		b.log.SetFault(func([]byte) memlog.Fault {
			if appends++; appends == 150 {
				close(stop)
			}
			p.mu.Lock() // the writer is in Append, and does not hold it
			most = max(most, p.core.Total)
			p.mu.Unlock()
			return memlog.None
		})
		for range callers {
			<-ended
		}
		b.log.SetFault(nil)
		b.LessOrEqual(most, 2*b.p.Stats().LiveBytes+b.cfg.TrimAbove+20<<20)
		b.shut()
	})
}

// An owner learns of a limit that was set while it writes.
func TestLimitSetLater(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.TrimAbove = 1 << 30
		b.open()
		b.setMany(300)
		b.disk.SetMost(1 << 20)
		b.NoError(b.p.Look(b.t.Context()))
		b.setMany(3000)
		b.disk.SetMost(0)
		b.NoError(b.p.Look(b.t.Context()))
		b.settled()
		synctest.Wait()
		trims := b.disk.Trims
		b.setMany(3000)
		b.Equal(trims, b.disk.Trims)
		b.shut()
	})
}
