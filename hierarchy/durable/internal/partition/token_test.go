package partition

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// announcing makes the bench announce timers: their firings are appended to fired, and those that were withdrawn to the
// result.
func (b *bench) announcing() *[]core.Firing {
	b.cfg.Announce = func(f core.Firing) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.fired = append(b.fired, f)
		return nil
	}
	withdrawn := new([]core.Firing)
	b.cfg.Withdrawn = func(f core.Firing) { *withdrawn = append(*withdrawn, f) }
	return withdrawn
}

// begin begins the attempt that was announced last.
func (b *bench) begin() Taken {
	f := b.last()
	t, ok := b.p.Begin([]byte(f.Key), f.ID)
	b.True(ok)
	return t
}

// due sets a timer, makes it due, and begins its attempt, which has a token for a time.
func (b *bench) due(k string, d time.Duration) (t Taken, end func(error) bool) {
	b.set(k, "v", 0)
	b.mock.Add(time.Second)
	t = b.begin()
	return t, b.ends(&t, d)
}

// ends gives an attempt a token, and returns a function that ends the attempt by it.
func (b *bench) ends(t *Taken, d time.Duration) func(error) bool {
	name, number := t.Token(d)
	return func(err error) bool {
		return b.do(core.Op{Kind: frame.End, Key: []byte(t.Key), Ending: core.End(name, number, err)})
	}
}

// If the last attempt was left, and is not ended in time, the timer is dead then, and not before.
func TestLeftUnanswered(t *testing.T) {
	b := newBench(t)
	b.announcing()
	b.cfg.MaxAttempts = 1
	died := make(chan core.Firing, 1)
	b.cfg.OnDead = func(f core.Firing, _ error) { died <- f }
	b.open()
	_, end := b.due("k", time.Minute)
	b.shut()
	b.open()
	b.took()
	b.mock.Add(time.Minute - 1)
	b.Empty(died)
	b.mock.Add(1)
	b.EqualValues(1, (<-died).Attempt)
	b.False(end(nil), "it comes too late")
	b.Empty(b.took())
}

// Shutdown does not wait for attempts with tokens, nor does Settle, but for others. An attempt that gets its token
// meanwhile is left, too.
func TestShutdownLeaves(t *testing.T) {
	b := newBench(t)
	b.announcing()
	b.open()
	b.due("a", time.Hour)
	b.p.Settle(t.Context())
	b.set("b", "v", 0)
	b.mock.Add(time.Second)
	other := b.begin()
	ended := make(chan error)
	go func() { ended <- b.p.Shutdown(t.Context()) }()
	b.Eventually(func() bool {
		b.p.mu.Lock()
		defer b.p.mu.Unlock()
		return b.p.firer.stopped
	}, time.Minute, time.Millisecond)
	name, number := other.Token(time.Hour)
	b.NoError(<-ended)
	b.ErrorIs(context.Cause(other.Context()), ErrLeft)
	b.open()
	b.True(b.do(core.Op{Kind: frame.End, Key: []byte("b"), Ending: core.End(name, number, nil)}))
	b.Equal(map[string]string{"a": "v"}, b.keys(false))
}

// While the end of an attempt that was left is on its way to the log, no other attempt of the timer begins, though its time
// is over meanwhile.
func TestLeftAttemptEndsAsItsTimeIsOver(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.announcing()
		b.cfg.Patience.Answer = time.Minute
		b.open()
		b.set("k", "v", 0)
		synctest.Wait()
		first := b.begin()
		end := b.ends(&first, 2*time.Second)
		b.shut()
		b.open()
		b.log.Before = func(uint64) { time.Sleep(3 * time.Second) }
		ended := make(chan bool)
		go func() { ended <- end(errHandler) }()
		time.Sleep(2500 * time.Millisecond)
		b.Len(b.took(), 2, "the next attempt was announced")
		_, ok := b.p.Begin([]byte("k"), first.ID)
		b.False(ok)
		b.True(<-ended)
		time.Sleep(b.cfg.Backoff(1))
		second := b.begin()
		b.EqualValues(2, second.Attempt)
		took, err := second.End(b.t.Context(), nil)
		b.NoError(err)
		b.True(took)
		b.Len(b.took(), 1, "it was announced once more")
		b.shut()
	})
}
