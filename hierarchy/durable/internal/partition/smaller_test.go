package partition

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// The largest message may become smaller while calls wait. Those that are too large by themselves end with an error,
// and the others are committed in smaller frames.
func TestLogThatTakesLess(t *testing.T) {
	b := newBench(t)
	b.open()
	entered, leave := make(chan bool), make(chan bool)
	var once sync.Once
	b.log.Before = func(uint64) {
		once.Do(func() {
			entered <- true
			<-leave
			b.log.Max = 64 << 10
		})
	}
	start := func(key string, size int) *Pending {
		c := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte(key), Value: []byte(strings.Repeat("v", size)), In: time.Hour}}}
		return b.start(c)
	}
	first := start("first", 1)
	<-entered
	calls := map[string]*Pending{"small": start("small", 10), "large": start("large", 100<<10), "half": start("half", 40<<10), "other half": start("other half", 40<<10)}
	close(leave)
	b.NoError(first.Wait(t.Context()))
	for key, c := range calls {
		if err := c.Wait(t.Context()); key == "large" {
			b.ErrorIs(err, core.ErrTooLarge)
		} else {
			b.NoError(err, key)
		}
	}
	b.Len(b.keys(false), 4)
	b.crash()
	b.open()
	b.Len(b.keys(false), 4)
}

// A timer that is larger than the log takes now is in the way of trimming, and of nothing else.
func TestTimerThatIsTooLargeToBeKept(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 50
	b.open()
	b.set("large", strings.Repeat("v", 100<<10), time.Hour)
	b.settled()
	b.log.Max = 64 << 10
	for range 400 {
		b.set("other", strings.Repeat("v", 2000), time.Hour)
	}
	b.Len(b.keys(false), 2)
}

// What trimming had put into a frame that was too large is not passed by.
func TestSmallerFrameKeepsAll(t *testing.T) {
	b := newBench(t)
	b.cfg.TrimAbove = 50
	b.open()
	var shrunk atomic.Bool
	b.log.Before = func(uint64) {
		if d := b.p.core; !shrunk.Load() && d.Len() > 2 && d.Size() > 60<<10 { // a call and what is written again
			shrunk.Store(true)
			b.log.Max = 32 << 10
		}
	}
	for _, key := range []string{"kept1", "kept2", "kept3"} {
		b.set(key, "", time.Hour)
	}
	value := strings.Repeat("v", 60<<10)
	for range 100 {
		c := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("other"), Value: []byte(value), In: time.Hour}}}
		if err := b.p.Do(t.Context(), c); err != nil {
			b.ErrorIs(err, core.ErrTooLarge)
			b.True(shrunk.Load())
			break
		}
	}
	b.True(shrunk.Load(), "no frame had both")
	for range 200 {
		b.set("other", value[:2000], time.Hour)
	}
	b.settled()
	b.crash()
	b.open()
	b.Len(b.keys(false), 4)
}

// A log may refuse a frame at first, as its new leader is behind, and then take less. The doubt ends with that.
func TestDoubtEndsWithALogThatTakesLess(t *testing.T) {
	b := newBench(t)
	b.open()
	appends := 0
	b.log.Before = func(uint64) {
		if appends++; appends == 2 {
			b.log.Max = 64 << 10
		}
	}
	b.log.SetFault(func([]byte) memlog.Fault {
		if appends == 1 {
			return memlog.Refuse
		}
		return memlog.None
	})
	_, err := b.try(core.Op{Kind: frame.Set, Key: []byte("large"), Value: make([]byte, 100<<10)})
	b.ErrorIs(err, core.ErrTooLarge)
	b.False(b.p.InDoubt())
	b.set("small", "", time.Hour)
}
