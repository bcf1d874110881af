package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Caller calls the owners of partitions, and never owns one. It has no lease and reads no log. Its methods may be
// called concurrently.
type Caller struct {
	*router
	members *member.Observer
	ended   chan struct{} // closed when follow has ended
}

// OpenCaller returns once it knows the members. It needs cfg.Member.Partitions and cfg.Common.Clock. It does not use
// cfg.Logs, nor the other fields of cfg.Common. OpenCaller does not wait until the partitions have owners; calls wait
// for their owners.
func OpenCaller(ctx context.Context, cfg Config) (*Caller, error) {
	cfg.Member.Logger = cfg.Logger
	r, err := newRouter(cfg)
	if err != nil {
		return nil, err
	}
	members, err := member.Observe(ctx, cfg.Member)
	if err != nil {
		r.close()
		return nil, fmt.Errorf("observing: %w", err)
	}
	c := &Caller{router: r, members: members, ended: make(chan struct{})}
	view := members.View()
	c.sees(nil, view)
	cfg.Logger.Info("durable: this process has no Handle: it calls the owners, and owns nothing")
	go c.follow(view)
	return c, nil
}

// follow retries waiting calls whenever their partition changes hands. view is the first view of the members.
func (c *Caller) follow(view *member.View) {
	defer close(c.ended)
	for {
		select {
		case <-c.members.Changed():
			next := c.members.View()
			c.sees(view, next)
			view = next
		case <-c.ending.Done():
			return
		}
	}
}

// Members returns the same as Cluster.Members.
func (c *Caller) Members() (members []Member, owners []int) {
	return membersOf(c.members.View(), func(*member.Peer, int) bool { return true })
}

// Partition returns nil, since a Caller owns nothing.
func (c *Caller) Partition(int) (*partition.Partition, error) { return nil, nil }

// Stats sets only st.Unavailable: the time since which, as far as this process knows, calls for the partition can't be
// answered.
func (c *Caller) Stats(at int) (st partition.Stats, owned bool, err error) {
	st.Unavailable, _ = c.unavailable(at)
	return st, false, nil
}

// unavailable returns the time since which calls for a partition can't be answered, or zero, and the reason.
func (c *Caller) unavailable(at int) (since time.Time, why error) {
	if gone := c.gone.Load(); gone != nil {
		return *gone, c.cfg.Bus.Closed()
	}
	if since, ok := c.members.Unowned(at); ok {
		return since, errNoOwner
	}
	return time.Time{}, nil
}

// Close ends all calls at once. Calls whose operations may have been committed return ErrUnavailable.
func (c *Caller) Close() {
	c.close()
	<-c.ended
	c.members.Stop()
}

// HandOver does nothing: a caller has no partitions.
func (c *Caller) HandOver(context.Context) {}

// Shutdown is Close: there is nothing to hand over.
func (c *Caller) Shutdown(context.Context) error {
	c.Close()
	return nil
}
