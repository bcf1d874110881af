package cluster

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// A partition that another process gets goes on firing while handlers that had begun take their time.
func TestPartitionGoesOnBesideASlowHandler(t *testing.T) {
	w := newWorld(t)
	entered, leave := make(chan bool), make(chan bool)
	w.handle = func(ctx context.Context, f core.Firing) error {
		if f.Key == "slow3" {
			entered <- true
			<-leave
		}
		return nil
	}
	a, b := w.patient(), w.patient() // nothing waits for the ends of their leases
	w.NoError(a.open(t.Context()))
	a.set("slow3", "", 0)
	<-entered
	asked := w.spy(b, a, 3)
	opened := make(chan error, 1)
	go func() { opened <- b.open(t.Context()) }()
	<-asked
	w.eventually("the other", func() bool { return a.owns() == 3 })
	for i := range 10 {
		time.Sleep(20 * time.Millisecond) // the question is on its way
		key := fmt.Sprintf("fast%d-3", i)
		a.set(key, "", 0)
		w.eventually("fired", func() bool { return len(w.firings(key)) == 1 })
	}
	leave <- true
	w.NoError(<-opened)
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
	w.Len(w.firings("slow3"), 1)
}

// spy tells when a process asks another for a partition.
func (w *world) spy(from, to *process, at int) <-chan bool {
	asked := make(chan bool, 1)
	wanted := to.session.slots[at].requestMessage()[:5]
	_, err := from.conn.Subscribe(to.session.requestSubject(to.session.member.ID()), func(m *nats.Msg) {
		if bytes.HasPrefix(m.Data, wanted) {
			select {
			case asked <- true:
			default:
			}
		}
	})
	w.NoError(err)
	w.NoError(from.conn.Flush())
	w.NoError(to.conn.Flush()) // else the spy may be the only one who is asked, and nobody answers
	return asked
}

// patient is a process that has not begun yet, whose lease does not end, and which waits for its logs: it would leave
// one that is silent for a moment to others for two leases.
func (w *world) patient() *process {
	p := w.process()
	p.lease, p.answer = time.Hour, patience
	return p
}
