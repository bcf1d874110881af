package partition

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// What another owner has refused is not committed. What had no answer may be.
func TestWhichCallsDidNotTakeHold(t *testing.T) {
	b := newBench(t)
	b.open()
	old, oldLog := b.p, b.log
	b.open()
	err := old.Do(t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("a")}}})
	b.ErrorIs(err, ErrNotOwner)
	b.ErrorIs(err, storage.ErrTaken)
	old.kill(oldLog)
	b.Empty(b.keys(false))

	b.log.SetFault(func([]byte) memlog.Fault { return memlog.Drop })
	doubt := make(chan error)
	go func() { _, err := b.try(core.Op{Kind: frame.Set, Key: []byte("a")}); doubt <- err }()
	b.Eventually(b.p.InDoubt, time.Minute, time.Millisecond)
	queued := make(chan error)
	go func() { _, err := b.try(core.Op{Kind: frame.Set, Key: []byte("b")}); queued <- err }()
	b.Eventually(b.p.writer.queue.any, time.Minute, time.Millisecond)
	b.p.Abandon()
	err = <-doubt
	b.ErrorIs(err, ErrUnavailable)
	b.NotErrorIs(err, ErrNotOwner)
	b.ErrorIs(<-queued, ErrNotOwner)
}

// An owner whose lease has ended takes no calls, and answers none, not even those that are committed. These wait: when
// the lease returns they are answered, after a minute or when the log is lost they are ErrUnavailable.
func TestLeaseEndsBeforeTheAnswer(t *testing.T) {
	inBubble(t, func(b *bench) {
		var ended, ends atomic.Bool
		var slow atomic.Int64
		b.cfg.Tenure = func() bool { return !ended.Load() }
		b.open()
		b.log.Before = func(uint64) { time.Sleep(time.Duration(slow.Swap(0))) }
		b.log.After = func(uint64) { ended.Store(ends.Load()) }
		answers := make(chan error, 1)
		set := func(key string) {
			ends.Store(true)
			go func() { _, err := b.try(core.Op{Kind: frame.Set, Key: []byte(key), In: time.Hour}); answers <- err }()
			synctest.Wait()
			time.Sleep(30 * time.Second)
			b.Empty(answers)
			ends.Store(false)
		}
		set("returns")
		_, err := b.try(core.Op{Kind: frame.Set, Key: []byte("refused")})
		b.ErrorIs(err, ErrNotOwner)
		ended.Store(false)
		b.p.Resume()
		b.NoError(<-answers)
		begun := time.Now()
		slow.Store(int64(20 * time.Second)) // a part of the minute
		set("minute")
		b.ErrorIs(<-answers, errLate)
		b.Equal(time.Minute, time.Since(begun))
		ended.Store(false)
		set("lost")
		b.p.Abandon()
		err = <-answers
		b.ErrorIs(err, errLate)
		b.NotErrorIs(err, ErrNotOwner)
		ended.Store(false)
		b.open()
		b.Equal(map[string]string{"returns": "", "minute": "", "lost": ""}, b.keys(false))
		b.shut()
	})
}
