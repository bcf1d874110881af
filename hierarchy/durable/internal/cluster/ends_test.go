package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Close ends a Shutdown that waits for handlers, and waits for none, also not for those that do not look
// at their contexts.
func TestCloseEndsShutdown(t *testing.T) {
	w := newWorld(t)
	entered, leave := make(chan bool), make(chan bool)
	w.handle = func(_ context.Context, f partition.Firing) error {
		if f.Key == "slow0" {
			entered <- true
			<-leave
		}
		return nil
	}
	defer close(leave)
	a := w.open()
	a.set("slow0", "", 0)
	<-entered
	shut := make(chan error, 1)
	go func() { shut <- a.Shutdown(context.Background()) }()
	n := 0
	w.eventually("Shutdown waits", func() bool {
		n++
		key := fmt.Sprint("other", n, "-0")
		a.set(key, "", 0)
		time.Sleep(20 * time.Millisecond)
		return len(w.firings(key)) == 0
	})
	w.within("Close", a.close)
	w.within("Shutdown", func() { w.ErrorIs(<-shut, partition.ErrClosed) })
}
