package cluster

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
)

// router brings each call to the owner of its partition: by a function call if this process is the owner, otherwise by
// a message. A message goes to the subject of the partition, so the sender need not know which process is the owner. A
// Caller is a router that owns nothing.
type router struct {
	Reads
	cfg   Config
	owned []atomic.Pointer[partition.Partition] // nil if this process does not own the partition
	gone  atomic.Pointer[time.Time]             // the time since which the connection is closed for good, or nil
	// offline is the time since which there is no connection, or nil.
	offline atomic.Pointer[time.Time]
	ending  context.Context // ended by stop when Close or Shutdown begins
	stop    context.CancelFunc
}

// newRouter returns a router, which needs a close.
func newRouter(cfg Config) (*router, error) {
	r := &router{cfg: cfg, owned: make([]atomic.Pointer[partition.Partition], cfg.Member.Partitions)}
	r.ending, r.stop = context.WithCancel(context.Background())
	r.Here = func(at int) (*partition.Partition, error) { return r.owned[at].Load(), nil }
	var err error
	if r.client, err = remote.New(r.remote()); err != nil {
		return nil, err
	}
	go r.watchBus()
	return r, nil
}

func (r *router) remote() remote.Config {
	return remote.Config{Bus: r.cfg.Bus, Name: r.cfg.Name, Partitions: len(r.owned), Logger: r.cfg.Logger, Clock: r.cfg.Common.Clock}
}

// watchBus notes the time since which there is no connection. The connection may also be closed for good: nats.go
// closes a connection when the servers have refused the same user twice. Nothing works from then on.
func (r *router) watchBus() {
	r.cfg.Bus.Watch(r.ending.Done(), func() {
		if r.cfg.Bus.Offline() == nil {
			r.offline.Store(nil)
			return
		}
		now := time.Now()
		r.offline.CompareAndSwap(nil, &now)
		err := r.cfg.Bus.Closed()
		if err == nil || r.isEnding() {
			return
		}
		r.gone.Store(&now)
		r.cfg.Logger.Error("durable: the connection to the servers is closed for good: open another one, and Open anew", "err", err)
		for at := range r.owned {
			r.client.Moved(at) // so that waiting calls end
		}
	})
}

// sees retries the calls that wait for a partition whose owner has changed since the old view, if there was one.
func (r *router) sees(old, next *member.View) {
	for at := range r.owned {
		if old != nil && next.Claims[at].Holder != old.Claims[at].Holder {
			r.client.Moved(at)
		}
	}
}

// allOwned returns an iterator over the partitions that this process owns.
func (r *router) allOwned() iter.Seq2[int, *partition.Partition] {
	return func(yield func(int, *partition.Partition) bool) {
		for at := range r.owned {
			if p := r.owned[at].Load(); p != nil && !yield(at, p) {
				return
			}
		}
	}
}

func (r *router) isEnding() bool { return r.ending.Err() != nil }

// close ends all calls.
func (r *router) close() {
	r.stop()
	r.client.Close()
}

// Len returns the number of partitions.
func (r *router) Len() int { return len(r.owned) }

// Calls returns figures of the calls that other processes had to answer.
func (r *router) Calls() remote.Stats { return r.client.Stats() }

// Do commits the operations of a call in a partition. It returns when the operations are in the log, or when ctx is
// done. After ErrUnavailable or the error of the context, the operations may or may not be committed.
func (r *router) Do(ctx context.Context, at int, call *core.Call) error {
	begun := r.client.Now()
	if p := r.owned[at].Load(); p != nil && r.client.Settled(at) {
		if err := p.Do(ctx, call); !errors.Is(err, partition.ErrNotOwner) {
			return err
		}
	}
	return r.client.Do(ctx, at, call, begun)
}
