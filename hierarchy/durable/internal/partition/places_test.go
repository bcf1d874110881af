package partition

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// another opens another log, whose handlers need places of the same Crew.
func (b *bench) another(places int) *bench {
	b.cfg.Crew, b.cfg.Patience.Answer = NewCrew(places), 5*time.Second
	other := &bench{Assertions: b.Assertions, t: b.t, cfg: b.cfg, disk: newBench(b.t).disk}
	other.open()
	return other
}

// openSlowly opens a log whose next appends take a time each, which may be changed. Then it has the lease, and begins what
// is due.
func (b *bench) openSlowly(long time.Duration) *atomic.Int64 {
	var held atomic.Bool
	b.cfg.Tenure = held.Load
	b.open()
	slow := new(atomic.Int64)
	slow.Store(int64(long))
	b.log.Before = func(uint64) { time.Sleep(time.Duration(slow.Load())) }
	time.Sleep(time.Minute) // after the backoff of attempts that have failed
	held.Store(true)
	b.p.Resume()
	synctest.Wait() // the first begins are written
	return slow
}

// overdue leaves a log in which timers are due.
func (b *bench) overdue(keys ...string) {
	b.open()
	b.p.firer.halt()
	for _, k := range keys {
		b.set(k, "", 0)
	}
	b.crash()
}

// suspects leaves a log in which a process was killed during the first attempts of timers.
func (b *bench) suspects(keys ...string) {
	b.overdue(keys...)
	b.handle = func(ctx context.Context, _ core.Firing) error { <-ctx.Done(); return ctx.Err() }
	b.open()
	time.Sleep(time.Second)
	b.Len(b.took(), len(keys))
	b.crash()
}

// A place that waits for a slow log is lent to others. What has lent it begins when there is one again, and counts once.
func TestSlowLogLendsItsPlaces(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.overdue("a", "b")
		var running atomic.Bool
		b.handle = func(_ context.Context, f core.Firing) error {
			b.True(running.CompareAndSwap(false, true))
			defer running.Store(false)
			b.Equal(uint32(1), f.Attempt)
			if f.Key == "lent" {
				time.Sleep(10 * time.Second)
			}
			return nil
		}
		other := b.another(1)
		slow := b.openSlowly(3 * time.Second)
		other.set("lent", "", 0)
		synctest.Wait()
		b.Empty(b.took())
		time.Sleep(2 * gateTime)
		b.Equal([]string{"lent"}, b.took())
		time.Sleep(9 * time.Second)
		b.Empty(b.took())
		slow.Store(0)
		time.Sleep(2 * time.Second)
		b.ElementsMatch([]string{"a", "b"}, b.took())
		b.Empty(b.keys(false))
		b.shut()
		other.shut()
	})
}

// However slow a log is, it has no more begins without a handler than there are places.
func TestSlowLogHasFewBegins(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.overdue("a", "b", "c", "d", "e")
		other := b.another(2)
		b.openSlowly(3 * time.Second)
		time.Sleep(time.Second)
		b.p.mu.Lock()
		writing := b.p.firer.writing
		b.p.mu.Unlock()
		b.Equal(2, writing)
		time.Sleep(time.Minute)
		b.Len(b.took(), 5)
		b.shut()
		other.shut()
	})
}

// A suspect that has lent its place begins when there is one again: its begin is not written once more, for which it would
// lend that place, too.
func TestSuspectLendsItsPlaceOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.suspects("s")
		b.handle = func(_ context.Context, f core.Firing) error {
			if f.Key != "s" {
				time.Sleep(time.Second)
			}
			return nil
		}
		other := b.another(1)
		b.openSlowly(2 * gateTime)
		for i := range 10 {
			other.set(fmt.Sprint(i), "", 0)
		}
		time.Sleep(5 * time.Second)
		b.Contains(b.took(), "s")
		time.Sleep(time.Minute)
		b.shut()
		other.shut()
	})
}

// A suspect that has lent its place is the next one of its log: each is tried alone.
func TestSuspectThatHasLentItsPlaceIsTheNext(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.suspects("s1", "s2")
		b.handle = func(ctx context.Context, f core.Firing) error {
			if strings.HasPrefix(f.Key, "other") {
				time.Sleep(3 * time.Second)
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		other := b.another(2)
		b.openSlowly(time.Second)
		other.set("other 1", "", 0)
		other.set("other 2", "", 0)
		time.Sleep(2 * time.Second)
		b.ElementsMatch([]string{"other 1", "other 2"}, b.took())
		time.Sleep(time.Minute)
		took := b.took()
		b.Len(took, 1)
		b.Equal(uint32(2), b.attemptOf(took[0]))
		b.Equal(uint32(1), b.attemptOf(map[string]string{"s1": "s2", "s2": "s1"}[took[0]])) // it waits
		b.crash()
		other.shut()
	})
}

// attemptOf returns the number of the last attempt of a timer that has begun, by the log.
func (b *bench) attemptOf(key string) uint32 {
	t, _, ok := b.p.core.State.Find([]byte(key))
	b.True(ok)
	return t.Attempt
}
