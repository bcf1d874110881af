// Package cluster has several processes share the partitions of one name. Each owns an even share of
// them, calls the owners of what is not its own, and takes over what a dead one has left. A Caller asks the
// owners, and owns nothing.
//
// A router finds the owner of each call. A session is one membership, from joining to the loss of its lease. It has a slot for each
// partition: a goroutine that takes the partition over, serves it, and gives it away, as the plan of
// all says.
package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Config is what to share, and with what. All fields are needed unless they say otherwise.
type Config struct {
	Bus    storage.Bus
	Name   string
	Logs   []storage.Log    // of each partition
	Member member.Config    // Partitions and Logger are filled in
	Common partition.Config // what the partitions have in common
	Logger *slog.Logger
	// MaxSkew is how far the wall clock may be off from the servers' where this process takes a partition over.
	// 0: clocks are not compared.
	MaxSkew time.Duration
	// Behind is for how long a log is read again that seems to be damaged, since what answers may be
	// behind. Default 15s.
	Behind time.Duration
	// Reread is how often a damaged log is read again, as an operator may have restored it. Default 30s.
	Reread time.Duration
}

// Cluster is this process's part. Its methods may be called concurrently.
type Cluster struct {
	*router
	broken []atomic.Pointer[error] // why partitions of this process are not open
	clock  watched

	mu      sync.Mutex
	session *session          // the present one, or the last
	lost    time.Time         // when the lease was lost, until this process has joined again
	past    []partition.Stats // of the partitions, while they were owned before
	ended   chan struct{}     // closed when no further session begins
}

// Open joins, and waits until all is read that this process owns.
func Open(ctx context.Context, cfg Config) (*Cluster, error) {
	cfg.Member.Partitions = len(cfg.Logs)
	cfg.Member.Logger = cfg.Logger
	if cfg.Member.Lease == 0 {
		cfg.Member.Lease = member.DefaultLease
	}
	if cfg.Behind == 0 {
		cfg.Behind = 15 * time.Second
	}
	if cfg.Reread == 0 {
		cfg.Reread = 30 * time.Second
	}
	r, err := newRouter(cfg)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		router: r, ended: make(chan struct{}),
		past:   make([]partition.Stats, len(cfg.Logs)),
		broken: make([]atomic.Pointer[error], len(cfg.Logs)),
	}
	s, err := c.begin(ctx)
	if err != nil {
		r.close()
		return nil, err
	}
	go c.run(s)
	if err := c.awaitReady(ctx, s); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// latest returns the present session, or the last one.
func (c *Cluster) latest() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// run begins another session whenever one has lost its lease.
func (c *Cluster) run(s *session) {
	defer close(c.ended)
	for {
		select {
		case <-c.ending:
			return
		case <-s.member.Lost():
		}
		c.setLost(time.Now())
		s.abandon()
		if s = c.again(); s == nil {
			return
		}
	}
}

// again begins a session, as soon as one can be begun. It is nil if the Cluster ends before.
func (c *Cluster) again() *session {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-c.ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	for retry := newBackoff(); ; {
		s, err := c.begin(ctx)
		if err == nil {
			c.setLost(time.Time{})
			return s
		}
		c.cfg.Logger.Warn("durable: joining has failed", "err", err)
		if !retry.Wait(ctx) {
			return nil
		}
	}
}

func (c *Cluster) setLost(t time.Time) {
	c.mu.Lock()
	c.lost = t
	c.mu.Unlock()
}

const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

func newBackoff() wait.Backoff { return wait.Backoff{First: firstPause, Last: lastPause} }

// end has no further session begin, and returns the last one.
func (c *Cluster) end() *session {
	c.stop()
	<-c.ended
	return c.latest()
}

// Shutdown gives the partitions to others, waits for their handlers until ctx is done, and leaves.
func (c *Cluster) Shutdown(ctx context.Context) error {
	err := c.end().leave(ctx)
	c.close()
	return err
}

// Close ends all at once. Others wait until the lease has run out.
func (c *Cluster) Close() {
	c.end().close()
	c.close()
}

// named returns which partition an error is of.
func named(at int, err error) error { return storage.In(fmt.Sprintf("partition %d", at), err) }
