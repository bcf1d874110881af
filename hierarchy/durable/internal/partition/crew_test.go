package partition

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

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
