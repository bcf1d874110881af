package partition

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// A call waits a minute for the log, also if the log takes a frame at once before it falls silent again.
func TestMinuteOfACallBehindOthers(t *testing.T) {
	inBubble(t, func(b *bench) {
		begun := time.Now()
		inFrame, queued := b.openFull()
		b.disk.SetLarge(64 << 10)
		alone := make(chan error, 2)
		for _, k := range []string{"b", "c"} {
			b.askAlone(k, alone)
		}
		frames := 0
		b.appended.set(func(uint64) { frames++; b.disk.SetFull(frames == 2) })
		time.Sleep(40 * time.Second)
		b.disk.SetFull(false)
		b.NoError(<-inFrame)
		b.NoError(<-queued)
		b.NoError(<-alone)
		b.ErrorIs(<-alone, ErrUnavailable)
		b.endsAMinuteAfter(begun)
	})
}

// askAlone makes a call that is alone in its frame, or with small ones.
func (b *bench) askAlone(key string, errs chan error) {
	op := core.Op{Kind: frame.Set, Key: []byte(key), Value: make([]byte, 40<<10)}
	go func() { errs <- b.p.Do(b.t.Context(), &core.Call{Ops: []core.Op{op}}) }()
	synctest.Wait()
}

// endsAMinuteAfter checks that a minute has passed, and lets the log answer again.
func (b *bench) endsAMinuteAfter(begun time.Time) {
	b.Equal(time.Minute, time.Since(begun))
	b.disk.SetFull(false)
	b.shut()
}

// A call waits a minute for the log, also if it was queued while the second of several frames was in doubt.
func TestMinuteOfACallBehindTwoDoubts(t *testing.T) {
	inBubble(t, func(b *bench) {
		inFrame, queued := b.openFull()
		b.disk.SetLarge(64 << 10)
		earlier, later := make(chan error, 2), make(chan error, 1)
		for _, k := range []string{"b", "c"} {
			b.askAlone(k, earlier)
		}
		frames := 0
		b.appended.set(func(uint64) { frames++; b.disk.SetFull(frames == 1 || frames == 3) })
		b.disk.SetFull(false)
		b.NoError(<-inFrame)
		begun := time.Now()
		synctest.Wait() // until the second frame is in doubt
		b.askAlone("d", later)
		time.Sleep(50 * time.Second)
		b.disk.SetFull(false)
		b.NoError(<-queued)
		b.NoError(<-earlier)
		b.NoError(<-earlier)
		b.ErrorIs(<-later, ErrUnavailable)
		b.endsAMinuteAfter(begun)
	})
}

// A call waits a minute for the log, also if the log has come to take less than its frame when it answers.
func TestMinuteOfACallInAFrameTooLarge(t *testing.T) {
	inBubble(t, func(b *bench) {
		begun := time.Now()
		inFrame, queued := b.openFull()
		alone := make(chan error, 2)
		for _, k := range []string{"b", "c"} {
			b.askAlone(k, alone)
		}
		var once sync.Once
		b.appended.set(func(uint64) { // the next frame has all of them
			b.log.Before = func(uint64) {
				once.Do(func() {
					b.disk.SetLarge(64 << 10)
					b.disk.SetFull(true)
				})
			}
		})
		time.Sleep(40 * time.Second)
		b.disk.SetFull(false)
		b.NoError(<-inFrame)
		for _, c := range []chan error{queued, alone, alone} {
			b.ErrorIs(<-c, ErrUnavailable)
		}
		b.endsAMinuteAfter(begun)
	})
}

// A call waits a minute for the log, also if earlier ones were given up in a frame that is too large by now.
func TestMinuteAfterAFrameTooLarge(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.open()
		var takes atomic.Bool
		b.log.SetFault(func([]byte) memlog.Fault {
			if takes.Load() {
				return memlog.None
			}
			return memlog.Refuse
		})
		large := core.Op{Kind: frame.Set, Key: []byte("a"), Value: make([]byte, 100<<10)}
		_, err := b.try(large)
		b.ErrorIs(err, ErrUnavailable)
		b.disk.SetLarge(64 << 10)
		time.Sleep(2 * time.Second)
		b.False(b.p.InDoubt())
		begun := time.Now()
		_, err = b.try(core.Op{Kind: frame.Set, Key: []byte("b")})
		b.ErrorIs(err, ErrUnavailable)
		b.Equal(time.Minute, time.Since(begun))
		takes.Store(true)
		b.shut()
	})
}
