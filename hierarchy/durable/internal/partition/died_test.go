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

// OnDead is called once for each death, when that is in the log, and Add of a mock waits for it.
func TestOnDead(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxAttempts = 2
	b.handle = func(_ context.Context, f core.Firing) error { return fmt.Errorf("%s %d", f.Key, f.Attempt) }
	var told []string
	b.cfg.OnDead = func(f core.Firing, last error) {
		told = append(told, fmt.Sprint(f.Key, " ", f.Value, " ", f.Attempt, ": ", last))
		if f.Key == "panics" {
			panic("in OnDead")
		}
		if f.Schedule == "" {
			b.Contains(b.keys(true), f.Key)
		}
	}
	b.open()
	b.set("a", "v", 0)
	b.set("panics", "v", 10*time.Second)
	b.schedule("runs", "v", "@every 20s")
	b.mock.Add(time.Second - 1)
	b.Empty(told)
	b.mock.Add(1)
	b.Equal([]string{"a v 2: a 2"}, told)
	b.mock.Add(50 * time.Second)
	b.Equal([]string{"a v 2: a 2", "panics v 2: panics 2", "runs v 2: runs 2", "runs v 2: runs 2"}, told)
	b.Equal(uint64(4), b.p.Stats().Died)
	b.reopen()
	b.mock.Add(0)
	b.Len(told, 4)
}

// Shutdown waits for OnDead even if a token has killed the timer just before nothing is written any more.
func TestShutdownWaitsForDeathsByToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.announcing()
		tell, told := make(chan bool), false
		b.cfg.OnDead = func(core.Firing, error) { <-tell; told = true }
		b.open()
		a, _ := b.due("k", time.Hour)
		name, number := a.Token(time.Hour)
		hold, held := b.holdNext()
		c := &core.Call{Ops: []core.Op{{Kind: frame.End, Key: []byte("k"), Ending: core.End(name, number, &core.Final{Err: errHandler})}}}
		started := b.start(c)
		<-held
		ended := make(chan error, 1)
		go func() { ended <- b.p.Shutdown(t.Context()) }()
		synctest.Wait()
		hold <- true
		b.NoError(started.Wait(t.Context()))
		<-b.p.Stopped()
		synctest.Wait()
		b.Empty(ended)
		close(tell)
		b.NoError(<-ended)
		b.True(told)
	})
}

// OnDead has the place of the handler, and Shutdown waits for it.
func TestOnDeadHasAPlace(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.Crew, b.cfg.MaxAttempts = NewCrew(1), 1
		b.handle = failing(b)
		tell, told := make(chan bool), 0
		b.cfg.OnDead = func(core.Firing, error) { <-tell; told++ }
		b.open()
		b.set("dead", "", 0)
		synctest.Wait()
		b.set("other", "", 0)
		synctest.Wait()
		b.Equal([]string{"dead"}, b.took())
		tell <- true
		synctest.Wait()
		b.Equal([]string{"other"}, b.took())
		b.set("fails", "", 0)
		synctest.Wait()
		go func() { time.Sleep(time.Minute); tell <- true }()
		b.shut()
		b.Equal(2, told)
	})
}

// What kills the process again and again dies at a takeover. The new owner says so.
func TestOnDeadAfterCrashes(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxAttempts = 1
	var told []string
	b.cfg.OnDead = func(f core.Firing, last error) {
		b.EqualError(last, "the process ended during the attempt")
		told = append(told, fmt.Sprint(f.Key, " ", f.Attempt))
	}
	kill := true
	b.handle = func(context.Context, core.Firing) error {
		if kill {
			b.log.Close()
			b.p.writer.abandon()
		}
		return nil
	}
	b.open()
	b.set("a", "", 0)
	for range 2 {
		b.Empty(told)
		b.mock.Add(0)
		<-b.p.writer.stopped
		b.crash()
		b.open()
	}
	b.Equal([]string{"a 1"}, told)
	b.Len(b.keys(true), 1)
}

// Calls do not wait until a crowd of dead timers has expired.
func TestCrowdOfTheDeadExpiresInPortions(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.MaxAttempts, b.cfg.KeepDead, b.cfg.Precision = 1, time.Hour, time.Millisecond
		b.handle = func(context.Context, core.Firing) error { return errHandler }
		var held atomic.Bool
		held.Store(true)
		b.cfg.Tenure = held.Load
		b.open()
		const n = 4 * expiredAtOnce
		for i := range n {
			b.set(fmt.Sprint(i), "", time.Second)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		b.Equal(n, b.p.Stats().Dead)
		held.Store(false)
		time.Sleep(time.Hour)
		b.p.mu.Lock()
		held.Store(true)
		b.p.firer.expireDead()
		left := 0
		for ok := true; ok && left < expiredAtOnce; {
			if _, ok = b.p.core.State.PopExpired(b.p.time.now()); ok {
				left++
			}
		}
		b.p.mu.Unlock()
		b.Equal(expiredAtOnce, left)
		b.p.Resume()
		time.Sleep(time.Hour)
		b.Equal(left, b.p.Stats().Dead) // those that the test has taken out
		b.shut()
	})
}
