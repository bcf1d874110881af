package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
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

// Calls of a process that has given its partitions away and waits for the table say that it is closed, and
// nothing of its lease, which it gives back.
func TestCallsWhileTheLeaseIsGivenBack(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	a.lease = time.Minute
	w.NoError(a.open(t.Context()))
	a.store.Cut(true)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		_ = a.Shutdown(context.Background())
	}()
	w.eventually("the lease is given back", func() bool { return !a.latest().member.Holds() })
	_, _, err := a.do(frame.Set, "key1", "", time.Hour)
	w.ErrorIs(err, partition.ErrClosed)
	_, _, _, err = a.Get(t.Context(), 1, []byte("key1"))
	w.ErrorIs(err, partition.ErrClosed)
	<-ended
}
