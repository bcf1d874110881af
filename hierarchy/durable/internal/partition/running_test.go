package partition

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// Handlers that hang under all places are said, with the one that has hung longest, and again each minute, as long
// as timers wait for them. So is their age. Handlers that take their time are no news.
func TestHandlersThatHang(t *testing.T) {
	inBubble(t, func(b *bench) {
		const text = "durable: handlers hang, and timers that are due wait for one to return"
		var mu sync.Mutex
		var all []time.Duration
		begun := time.Now()
		b.cfg.Logger = slog.New(onRecord{slog.DiscardHandler, text, func() {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, time.Since(begun))
		}})
		told := func() []time.Duration {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return all
		}
		crew := NewCrew(2)
		b.cfg.Crew = crew
		leave := make(chan bool)
		b.handle = func(context.Context, core.Firing) error { <-leave; return nil }
		b.open()
		b.set("a", "", 0)
		time.Sleep(5 * time.Second)
		b.Equal(5*time.Second, crew.Oldest())
		b.set("b", "", 0)
		time.Sleep(time.Hour)
		b.Empty(told(), "nothing waits")
		mu.Lock()
		begun = time.Now()
		mu.Unlock()
		for i := range 18 {
			b.set(fmt.Sprint(i), "", 0)
		}
		time.Sleep(9 * time.Second)
		b.Empty(told())
		time.Sleep(time.Second)
		b.Equal([]time.Duration{10 * time.Second}, told())
		time.Sleep(2 * time.Minute)
		b.Equal([]time.Duration{10 * time.Second, 70 * time.Second, 130 * time.Second}, told())
		b.remove("a") // its handler hangs all the same
		b.Greater(crew.Oldest(), time.Hour)
		leave <- true
		leave <- true
		synctest.Wait()
		b.Zero(crew.Oldest())
		for range 16 { // each takes sixteen seconds, and a place comes back each eight
			time.Sleep(8 * time.Second)
			leave <- true
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		b.Len(told(), 3)
		b.p.Close()
		b.p = nil
		close(leave)
		synctest.Wait()
		b.Zero(crew.Oldest())
	})
}

// Nothing is said any more of a partition that was closed, whatever hangs.
func TestHandlersThatHangAfterClose(t *testing.T) {
	inBubble(t, func(b *bench) {
		var told atomic.Int32
		b.cfg.Logger = slog.New(onRecord{slog.DiscardHandler, "durable: handlers hang, and timers that are due wait for one to return", func() { told.Add(1) }})
		b.cfg.Crew = NewCrew(1)
		leave := make(chan bool)
		b.handle = func(context.Context, core.Firing) error { <-leave; return nil }
		b.open()
		b.set("a", "", 0)
		b.set("b", "", 0)
		synctest.Wait()
		b.p.Close()
		b.p = nil
		time.Sleep(time.Hour)
		b.Zero(told.Load())
		close(leave)
	})
}
