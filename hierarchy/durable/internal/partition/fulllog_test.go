package partition

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// setMany sets one timer many times, as fast as the log takes that.
func (b *bench) setMany(n int) {
	value := string(make([]byte, 1000))
	for range n {
		b.set("a", value, time.Hour)
	}
}

// countDoubts counts the frames that got no clear answer, as those do that the log has no room for.
func (b *bench) countDoubts() *int {
	doubts := new(int)
	b.cfg.Doubted = func(error) { *doubts++ }
	return doubts
}

// A log that is full, since deletions have failed, goes on once they don't, without another frame.
func TestFullLogAfterDeletionsFailed(t *testing.T) {
	inBubble(t, func(b *bench) {
		doubts := b.countDoubts()
		b.disk.SetMost(1 << 20)
		b.open()
		begun := time.Now()
		b.log.Trimming = func(context.Context) error {
			if time.Since(begun) < 20*time.Second {
				return errHandler
			}
			return nil
		}
		b.setMany(5000)
		b.NotZero(*doubts)
		b.shut()
	})
}

// Deletions that have failed for long are tried again as soon as a frame needs the room: it does not wait as long as for a log
// that does not answer.
func TestRoomIsMadeWhenItIsNeeded(t *testing.T) {
	inBubble(t, func(b *bench) {
		var fails atomic.Bool
		fails.Store(true)
		b.disk.SetMost(1 << 20)
		b.open()
		b.log.Trimming = func(context.Context) error {
			if fails.Load() {
				return errHandler
			}
			return nil
		}
		begun := time.Now()
		b.setMany(800)
		for ; time.Since(begun) < 2*time.Minute; time.Sleep(time.Second) {
			b.setMany(1)
		}
		fails.Store(false)
		begun = time.Now()
		b.setMany(100)
		b.Less(time.Since(begun), time.Second)
		b.shut()
	})
}

// A log that is full since it was limited just now has what is before its beginning deleted, however little that is.
func TestFullLogWithLittleToDelete(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.TrimAbove = 100 << 10
		b.open()
		b.setMany(300)
		b.settled()
		b.Zero(b.disk.Trims)
		b.disk.SetMost(int64(b.disk.Size()))
		b.setMany(5000)
		b.shut()
	})
}

// A deletion that was under way as the log became full does not leave it full: what has come before its beginning
// meanwhile is deleted next.
func TestFullLogWhileDeleting(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.TrimAbove = 100 << 10
		b.open()
		hold := make(chan bool)
		b.log.Trimming = func(context.Context) error { <-hold; return nil }
		b.setMany(3000)
		b.disk.SetMost(int64(b.disk.Size()))
		large := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("b"), Value: make([]byte, 1<<20-300), In: time.Hour}}}
		largeStarted := b.start(large)
		synctest.Wait()
		close(hold)
		b.NoError(largeStarted.Wait(b.t.Context()))
		b.shut()
	})
}

// Who takes a full log over deletes what is before its beginning first, if there is no room for the takeover.
func TestFullLogIsTakenOver(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.TrimAbove = 100 << 10
		b.open()
		b.log.Trimming = func(context.Context) error { return errHandler }
		b.setMany(3000)
		b.crash()
		b.disk.SetMost(int64(b.disk.Size()))
		b.open()
		b.setMany(3000)
		b.shut()
	})
}

// A limited log does not get full while what is live in its oldest frames is written again, however large these frames
// are, and however much callers write meanwhile.
func TestLimitedLogBeginsWithWhatIsLive(t *testing.T) {
	for _, live := range []int{1, 30} { // timers in a frame
		inBubble(t, func(b *bench) {
			doubts := b.countDoubts()
			b.cfg.TrimAbove = 1 << 30
			b.disk.SetMost(1 << 20)
			b.open()
			for i := range 450 / live {
				c := new(core.Call)
				for k := range live {
					c.Ops = append(c.Ops, setOf(1000, "live", i, k))
				}
				b.NoError(b.p.Do(b.t.Context(), c))
			}
			for range 100 {
				var calls [24]*Pending
				for i := range calls {
					calls[i] = b.start(&core.Call{Ops: []core.Op{setOf(15<<10, "a")}})
				}
				for _, c := range calls {
					b.NoError(c.Wait(b.t.Context()))
				}
			}
			b.Zero(*doubts)
			b.shut()
		})
	}
}

// setOf sets a timer with a value of some size.
func setOf(size int, key ...any) core.Op {
	return core.Op{Kind: frame.Set, Key: fmt.Append(nil, key...), Value: make([]byte, size), In: time.Hour}
}
