package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// A process that waits for a partition takes it over when its owner is gone, whose lease is much shorter
// than the time for which an owner is waited for.
func TestOwnerDiesBeforeItGives(t *testing.T) {
	w := newWorld(t)
	entered, leave := make(chan bool, 10), make(chan bool)
	w.handle = func(ctx context.Context, f partition.Firing) error {
		if f.Attempt == 1 {
			entered <- true
			<-leave
		}
		return nil
	}
	defer close(leave)
	a, b := w.process(), w.process()
	a.lease, b.lease = 5*lease, time.Hour
	w.NoError(a.open(t.Context()))
	for at := range partitions {
		go a.set(fmt.Sprint(at), "", 0)
		<-entered
	}
	asked := make(chan *nats.Msg, 10)
	sub, err := server.Conn().ChanSubscribe(a.session.askSubject(a.session.member.ID()), asked)
	w.NoError(err)
	defer func() { _ = sub.Unsubscribe() }()
	w.NoError(server.Conn().Flush())
	opened := make(chan error, 1)
	go func() { opened <- b.open(t.Context()) }()
	<-asked
	<-asked
	a.kill()
	w.within("Open", func() { w.NoError(<-opened) })
	w.eventually("all", func() bool { return b.owns() == partitions })
}

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
