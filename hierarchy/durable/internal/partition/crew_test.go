package partition

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

func exit() { runtime.Goexit() }

// A place that one partition does not need any more goes to the next one that waits.
func TestPlaceGoesToWhoNeedsIt(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.Crew = NewCrew(1)
		leave := make(chan bool)
		b.handle = func(_ context.Context, f core.Firing) error {
			if f.Key == "holds" {
				<-leave
			}
			return nil
		}
		b.open()
		other := &bench{Assertions: b.Assertions, t: b.t, cfg: b.cfg, disk: newBench(b.t).disk}
		other.open()
		b.set("holds", "", 0)
		synctest.Wait()
		b.set("goes", "", 0) // b waits for the place, and needs it no more
		synctest.Wait()
		other.set("waits", "", 0)
		synctest.Wait()
		b.remove("goes")
		leave <- true
		time.Sleep(time.Minute)
		b.Equal([]string{"holds", "waits"}, b.took())
		b.shut()
		other.shut()
	})
}

// No more handlers run than the crew has places, over all partitions.
func TestCrewLimitsHandlers(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = realClock()
	b.cfg.Crew = NewCrew(2)
	entered, leave := make(chan string), make(chan bool)
	b.handle = func(_ context.Context, f core.Firing) error { entered <- f.Key; <-leave; return nil }
	b.open()
	for _, k := range []string{"a", "b", "c", "d"} {
		b.set(k, "", 0)
	}
	keys := []string{<-entered, <-entered}
	select {
	case <-entered:
		t.Fatal("a third handler runs")
	case <-time.After(20 * time.Millisecond):
	}
	for range 2 {
		leave <- true
		keys = append(keys, <-entered)
	}
	b.ElementsMatch([]string{"a", "b", "c", "d"}, keys)
	leave <- true
	leave <- true
	b.shut()
}
