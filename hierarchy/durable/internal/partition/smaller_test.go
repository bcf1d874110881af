package partition

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// waitOnce returns a function that waits when it is called for the first time: from what entered receives until leave is
// closed.
func waitOnce() (hook func(uint64), entered, leave chan bool) {
	entered, leave = make(chan bool), make(chan bool)
	var once sync.Once
	return func(uint64) {
		once.Do(func() {
			entered <- true
			<-leave
		})
	}, entered, leave
}

// The largest message may become smaller while calls wait. Those that are too large by themselves end with an error,
// and the others are committed in smaller frames.
func TestLogThatTakesLess(t *testing.T) {
	b := newBench(t)
	b.open()
	hook, entered, leave := waitOnce()
	b.log.Before = hook
	start := func(key string, size int) *Pending {
		c := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte(key), Value: []byte(strings.Repeat("v", size)), In: time.Hour}}}
		return b.start(c)
	}
	first := start("first", 1)
	<-entered
	calls := map[string]*Pending{"small": start("small", 10), "large": start("large", 100<<10), "half": start("half", 40<<10), "other half": start("other half", 40<<10)}
	b.log.Max = 64 << 10
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

// largeRequest returns a copy of a request that is too large for a log that takes 64 KiB.
func largeRequest(serial uint64) *core.Call {
	return &core.Call{Request: core.RequestID{Caller: 7, Serial: serial, Floor: 1},
		Ops: []core.Op{{Kind: frame.Set, Key: []byte("large"), Value: make([]byte, 100<<10), In: time.Hour}}}
}

// A copy of a request whose first copy is on its way to the log is answered as that is, though the log takes less by now.
// Another one of that size is refused.
func TestCopyForALogThatTakesLess(t *testing.T) {
	b := newBench(t)
	b.open()
	hook, entered, leave := waitOnce()
	b.log.After = hook
	first := b.start(largeRequest(1))
	<-entered
	b.log.Max = 64 << 10
	again, err := b.p.Start(largeRequest(1))
	another, refused := b.p.Start(largeRequest(2))
	close(leave)
	b.NoError(errors.Join(err, refused))
	b.NoError(first.Wait(t.Context()))
	b.NoError(again.Wait(t.Context()))
	b.ErrorIs(another.Wait(t.Context()), core.ErrTooLarge)
	b.Len(b.keys(false), 1)
}

// So is a copy of what the log has, beside a request that was not too large when their frame was made.
func TestCopyBesideWhatIsTooLarge(t *testing.T) {
	b := newBench(t)
	b.open()
	b.NoError(b.p.Do(t.Context(), largeRequest(1)))
	entered, leave := make(chan bool), make(chan bool)
	frames := 0
	b.log.Before = func(uint64) {
		switch frames++; frames {
		case 1:
			entered <- true
			<-leave
		case 2:
			b.log.Max = 64 << 10
		}
	}
	small := b.start(&core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("small"), In: time.Hour}}})
	<-entered
	again, another := b.start(largeRequest(1)), b.start(largeRequest(2))
	close(leave)
	b.NoError(small.Wait(t.Context()))
	b.NoError(again.Wait(t.Context()))
	b.ErrorIs(another.Wait(t.Context()), core.ErrTooLarge)
	b.Len(b.keys(false), 2)
}

// A handler that waits for a frame is called when that is too large, and there is nothing else to write.
func TestHandlerWaitsForAFrameTooLarge(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.open()
		b.set("k", "", 5*time.Millisecond)
		b.log.Before = func(uint64) {
			b.log.Before = nil
			time.Sleep(10 * time.Millisecond)
			b.log.Max = 64 << 10
		}
		_, err := b.try(core.Op{Kind: frame.Set, Key: []byte("k"), Value: make([]byte, 100<<10), Whole: true})
		b.ErrorIs(err, core.ErrTooLarge)
		time.Sleep(time.Minute)
		b.Equal([]string{"k"}, b.took())
		b.shut()
	})
}
