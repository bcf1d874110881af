package calls

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// owner is a process that owns the log, or has owned it.
type owner struct {
	bus    *membus.Bus
	log    connection
	lease  atomic.Bool
	p      *partition.Partition
	server *remote.Server
}

// connection is an owner's connection to the log. The judge looks at the log after each call, and before what is deleted.
type connection struct {
	*memlog.Log
	w *world
}

func (c connection) Append(ctx context.Context, last uint64, data []byte) error {
	time.Sleep(c.w.upTo(5 * time.Millisecond))
	c.w.shrink()
	defer c.w.look()
	return c.Log.Append(ctx, last, data)
}

func (c connection) Trim(ctx context.Context, begin uint64) error {
	c.w.look()
	return c.Log.Trim(ctx, begin)
}

// own takes the log over.
func (w *world) own() (*owner, error) {
	o := &owner{bus: w.net.Connect(), log: connection{w.disk.Open(), w}}
	o.log.SetFault(func([]byte) memlog.Fault { return w.logFault() })
	o.lease.Store(true)
	cfg := w.part
	cfg.Log, cfg.Tenure = o.log, o.lease.Load
	var err error
	if o.p, err = partition.Open(context.Background(), cfg); err != nil {
		o.die()
		return nil, err
	}
	o.server, err = remote.Serve(w.remote(o.bus), 0, o.p)
	return o, err
}

func (w *world) remote(bus *membus.Bus) remote.Config {
	return remote.Config{Bus: bus, Name: "calls", Partitions: 1}
}

// die ends a process that owns nothing any more, or never has.
func (o *owner) die() {
	o.bus.Close()
	o.log.Close()
	if o.p != nil {
		o.p.Close()
	}
	if o.server != nil {
		o.server.Stop()
	}
}

// ownInTurn has one owner after the other take the log over, until the end. The last one remains.
func (w *world) ownInTurn(end time.Time) {
	for {
		o, err := w.own()
		w.note("a process takes the log over: %v", err)
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		process := w.client(w.intN(clients))
		process.owned.Store(o.p)
		for n := range clients {
			if w.intN(4) > 0 {
				w.client(n).Moved(0)
			}
		}
		if time.Sleep(w.upTo(w.tenure)); !time.Now().Before(end) {
			w.owner = o
			return
		}
		w.depose(o)
		time.AfterFunc(w.upTo(10*time.Second), func() { process.owned.CompareAndSwap(o.p, nil) })
		if w.intN(2) == 0 {
			time.Sleep(w.upTo(3 * time.Second))
		}
	}
}

// ownAgain has a process take the log over again whose frame had become too large, when nothing fails any more.
func (w *world) ownAgain() {
	select {
	case <-w.owner.p.Stopped():
		w.owner.die()
		for n := range clients {
			w.client(n).owned.Store(nil)
		}
		var err error
		w.owner, err = w.own()
		require.NoError(w.t, err)
	default:
	}
}

// depose ends an owner: it leaves, dies, or stands still while the next one takes the log over.
func (w *world) depose(o *owner) {
	switch w.intN(4) {
	case 0:
		w.note("the owner leaves")
		o.p.Close()
		o.server.Stop()
		o.lease.Store(false)
		o.die()
	case 1:
		w.note("the owner dies")
		o.lease.Store(false)
		o.bus.Close()
		o.log.Close()
		go o.die()
	default:
		w.note("the owner's lease ends")
		o.lease.Store(false)
		time.AfterFunc(w.upTo(time.Minute), o.die)
	}
}
