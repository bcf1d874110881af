package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// An owner may die after it was asked for a partition. Who has asked takes the partition over when the
// lease has run out, and does not go on waiting for the answer.
func TestOwnerDiesWhileItGives(t *testing.T) {
	w := newWorld(t)
	entered, leave := make(chan bool, 9), make(chan bool)
	defer close(leave)
	w.handle = func(context.Context, partition.Firing) error {
		entered <- true
		<-leave
		return nil
	}
	a := w.open()
	a.set("slow3", "", 0)
	<-entered
	b := w.process()
	b.lease = time.Hour // for twice as long, it waits for an answer
	asked := make(chan *nats.Msg, 9)
	_, err := b.conn.ChanSubscribe("epicycle."+w.name+".give.>", asked)
	w.NoError(err)
	w.NoError(b.conn.Flush())
	opened := make(chan error, 1)
	go func() { opened <- b.open(t.Context()) }()
	first := a.session.slots[3].askMessage()[:5]
	for m := range asked {
		if len(m.Data) > 5 && string(m.Data[:5]) == string(first) {
			break
		}
	}
	a.kill()
	select {
	case err := <-opened:
		w.NoError(err)
	case <-time.After(patience):
		t.Fatal("the partition is not taken over")
	}
	w.eventually("all", func() bool { return b.owns() == partitions })
}
