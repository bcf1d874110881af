// Package cluster shares the partitions of one name among several processes. Each owns an even share of them, sends
// calls for other partitions to their owners, and takes over the partitions of dead processes. A Caller only calls
// owners, and owns nothing.
//
// A router finds the owner of each call. The type Reads, which a router embeds, also serves a process that owns all
// partitions. A session is one membership, from joining to the loss of its lease. It has a slot for each partition: a
// goroutine that takes the partition over, serves it, and gives it away, according to the plan that all members
// compute.
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

// Config is the configuration of a Cluster. Fields without a default are required.
type Config struct {
	Bus    storage.Bus
	Name   string
	Logs   []storage.Log    // the log of each partition
	Member member.Config    // Open sets Partitions and Logger
	Common partition.Config // the configuration that the partitions have in common
	Logger *slog.Logger
	// MaxSkew limits the difference between the wall clocks of this process and of the servers when this process takes
	// a partition over. If it is 0, the clocks are not compared.
	MaxSkew time.Duration
	// Behind is the time for which a log that seems to be damaged is read again before it counts as damaged, since the
	// replica that answers may be behind. Default 15s.
	Behind time.Duration
	// Reread is the interval at which a damaged log is read again, as an operator may have restored it. Default 30s.
	Reread time.Duration
}

// Cluster is the part of this process that shares partitions with other processes. Its methods may be called
// concurrently.
type Cluster struct {
	*router
	broken     []atomic.Pointer[error] // by partition: the error because of which this process can't open it, or nil
	clockMu    sync.Mutex              // held while the wall clock is compared
	skewLogged time.Time               // when a clock that is off was last logged, or zero. Guarded by clockMu

	mu      sync.Mutex
	session *session          // the present session or, between two sessions, the last one
	lost    time.Time         // when the lease was lost; zero once this process has joined again
	past    []partition.Stats // by partition: figures of earlier times at which this process owned the partition
	ended   chan struct{}     // closed when no further session begins
}

// Open makes this process a member, and waits until the logs of all partitions that this process owns have been read.
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

// latest returns the present session or, between two sessions, the last one.
func (c *Cluster) latest() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// run begins another session whenever a session has lost its lease.
func (c *Cluster) run(s *session) {
	defer close(c.ended)
	for {
		select {
		case <-c.ending.Done():
			return
		case <-s.member.Lost():
		}
		c.mu.Lock()
		c.lost = time.Now()
		c.mu.Unlock()
		c.cfg.Logger.Error("durable: this process has lost its lease")
		s.stop()
		if s = c.again(); s == nil {
			return
		}
	}
}

// again begins a session as soon as this process can join. It returns nil if the Cluster ends first.
func (c *Cluster) again() *session {
	for retry := newBackoff(); ; {
		s, err := c.begin(c.ending)
		if err == nil {
			return s
		}
		c.cfg.Logger.Warn("durable: joining has failed", "err", err)
		if !retry.Wait(c.ending) {
			return nil
		}
	}
}

const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

func newBackoff() wait.Backoff { return wait.Backoff{First: firstPause, Last: lastPause} }

// end makes sure that no further session begins, and returns the last one.
func (c *Cluster) end() *session {
	c.stop()
	<-c.ended
	return c.latest()
}

// HandOver makes other processes take the partitions of this one, and waits until they have, for at most a lease or half
// of the time that ctx has left. Shutdown must follow.
func (c *Cluster) HandOver(ctx context.Context) { c.latest().handOver(ctx) }

// Shutdown gives the partitions to others, waits for their handlers until ctx is done, and leaves.
func (c *Cluster) Shutdown(ctx context.Context) error {
	err := c.end().leave(ctx)
	c.close()
	return err
}

// Close ends everything at once. Other processes take over when the lease has run out.
func (c *Cluster) Close() {
	c.end().close()
	c.close()
}

// named adds the number of the partition to an error.
func named(at int, err error) error { return storage.In(fmt.Sprintf("partition %d", at), err) }
