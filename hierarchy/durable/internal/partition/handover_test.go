package partition

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// Calls go on until the handlers have returned. Then they end with ErrNotOwner, and the next owner
// has what they did.
func TestHandOver(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = realClock()
	entered, leave := make(chan bool), make(chan bool)
	b.handle = func(context.Context, core.Firing) error { entered <- true; <-leave; return nil }
	b.open()
	b.set("a", "1", 0)
	<-entered
	f := b.follow()
	given := make(chan error)
	go func() { given <- b.p.HandOver(t.Context()) }()
	b.set("b", "2", time.Hour)
	leave <- true
	b.NoError(<-given)
	_, err := b.try(core.Op{Kind: frame.Set, Key: []byte("c")})
	b.ErrorIs(err, ErrNotOwner)
	b.ErrorIs(err, ErrUnavailable)
	_, _, _, err = b.p.Get([]byte("b"))
	b.ErrorIs(err, ErrNotOwner)
	b.p = nil
	b.own(f)
	b.Equal(map[string]string{"b": "2"}, b.keys(false))
	b.shut()
}

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
		var ended atomic.Bool
		b.cfg.Tenure = func() bool { return !ended.Load() }
		b.open()
		answers := make(chan error, 1)
		set := func(key string) {
			b.log.After = func(uint64) { ended.Store(true) }
			go func() { _, err := b.try(core.Op{Kind: frame.Set, Key: []byte(key), In: time.Hour}); answers <- err }()
			synctest.Wait()
			time.Sleep(30 * time.Second)
			b.Empty(answers)
			b.log.After = nil
		}
		set("returns")
		_, err := b.try(core.Op{Kind: frame.Set, Key: []byte("refused")})
		b.ErrorIs(err, ErrNotOwner)
		ended.Store(false)
		b.p.Resume()
		b.NoError(<-answers)
		begun := time.Now()
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

// A call in doubt waits for the log though the lease has ended.
func TestDoubtOutlastsTheLease(t *testing.T) {
	inBubble(t, func(b *bench) {
		var ended atomic.Bool
		b.cfg.Tenure = func() bool { return !ended.Load() }
		b.open()
		b.disk.SetFull(true)
		b.before = func(uint64) { ended.Store(true) }
		answers := make(chan error, 1)
		go func() { _, err := b.try(core.Op{Kind: frame.Set, Key: []byte("a")}); answers <- err }()
		time.Sleep(50 * time.Second)
		b.Empty(answers)
		b.before = nil
		ended.Store(false)
		b.disk.SetFull(false)
		b.NoError(<-answers)
		b.shut()
	})
}

// Owners take turns while callers go on. Each call that is committed is so once, and each that ended
// with ErrNotOwner did not.
func TestOwnersTakeTurns(t *testing.T) {
	turns := &turns{bench: newBench(t)}
	turns.open()
	var wg sync.WaitGroup
	for caller := range 8 {
		wg.Go(func() { turns.call(caller) })
	}
	ended := make(chan bool)
	go func() { wg.Wait(); close(ended) }()
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		case <-time.After(time.Millisecond):
			turns.next()
		}
	}
	n, err := turns.p.Len()
	turns.NoError(err)
	turns.Equal(int(turns.set.Load()), n)
	turns.shut()
}

type turns struct {
	*bench
	owner sync.RWMutex // guards bench.p
	set   atomic.Int64 // keys
}

// call sets keys that nobody else sets. Each must be new.
func (b *turns) call(caller int) {
	for n := 0; n < 200; {
		b.owner.RLock()
		p := b.p
		b.owner.RUnlock()
		key := fmt.Sprintf("%d-%d", caller, n)
		c := &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte(key)}, {Kind: frame.Set, Key: []byte(key), In: time.Hour}}}
		switch err := p.Do(b.t.Context(), c); {
		case err == nil:
			b.False(c.Took[0], "it was there already")
			b.set.Add(1)
			n++
		case !errors.Is(err, ErrNotOwner):
			b.t.Error(err)
			return
		}
	}
}

// next has another owner follow the present one.
func (b *turns) next() {
	f := b.follow()
	b.NoError(b.p.HandOver(b.t.Context()))
	p, err := f.Own(b.t.Context(), func(*Partition) {})
	b.NoError(err)
	b.owner.Lock()
	b.p = p
	b.owner.Unlock()
}
