package dq

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

type timers = durable.Keyed[string, []byte]

// role tells whether a queue is opened to produce or to consume.
type role bool

const (
	produces role = false
	consumes role = true
)

// queue is an open queue, with the jobs that are due in this process. With Dir the producers and consumers of the
// process share it. With Conn or NATS each producer and consumer has a queue of its own. The queue of a producer has no
// jobs, since it only calls the owners.
type queue struct {
	timers *timers
	due    due
	nc     *nats.Conn // the connection to close with the queue; may be nil

	place       place // zero unless the queue is shared
	users       int   // guarded by shared.mu
	maxAttempts int
}

// place identifies the files of a queue.
type place struct{ dir, name string }

// shared has the queues of this process that have a directory.
var shared = struct {
	mu   sync.Mutex // locked while a queue is opened or closed
	open map[place]*queue
}{open: make(map[place]*queue)}

// open opens a queue.
func open(ctx context.Context, c DqConf, r role) (*queue, error) {
	q, err := openAny(ctx, c, r)
	if err != nil {
		return nil, fmt.Errorf("dq: the queue can't be opened: %w", err)
	}
	return q, nil
}

func openAny(ctx context.Context, c DqConf, r role) (*queue, error) {
	switch {
	case c.Dir == "" && c.NATS == "" && c.Conn == nil:
		return nil, fmt.Errorf("%w: DqConf has none of Dir, NATS and Conn", durable.ErrArgument)
	case c.NATS != "" && (c.Dir != "" || c.Conn != nil), c.Dir != "" && c.Conn != nil:
		return nil, fmt.Errorf("%w: DqConf has more than one of Dir, NATS and Conn", durable.ErrArgument)
	case c.Dir != "":
		return openDir(ctx, c)
	case c.NATS != "":
		return dial(ctx, c, r)
	}
	nc, ok := c.Conn.(*nats.Conn)
	if !ok || nc == nil {
		return nil, fmt.Errorf("%w: DqConf.Conn has to be a *nats.Conn that is not nil, and is a %T", durable.ErrArgument, c.Conn)
	}
	return openConn(ctx, c, nc, r)
}

// openDir opens the queue of a directory, or shares the queue that this process has open in the directory.
func openDir(ctx context.Context, c DqConf) (*queue, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	cfg := c.timers()
	at := place{dir, cfg.Name}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if q := shared.open[at]; q != nil {
		if q.maxAttempts != c.MaxAttempts {
			return nil, fmt.Errorf("%w: this process has it open with MaxAttempts %d, not %d", durable.ErrArgument,
				q.maxAttempts, c.MaxAttempts)
		}
		q.users++
		return q, nil
	}
	q := &queue{place: at, users: 1, maxAttempts: c.MaxAttempts}
	cfg.Announce, cfg.Replicas, cfg.Lease = q.announce, c.Replicas, c.Lease // Open refuses the last two with Dir
	if q.timers, err = durable.Open(ctx, cfg); err != nil {
		return nil, err
	}
	shared.open[at] = q
	return q, nil
}

func dial(ctx context.Context, c DqConf, r role) (*queue, error) {
	options := []nats.Option{nats.MaxReconnects(-1), nats.Name("dq")}
	if c.Credentials != "" {
		options = append(options, nats.UserCredentials(c.Credentials))
	}
	nc, err := nats.Connect(c.NATS, options...)
	if err != nil {
		return nil, err
	}
	q, err := openConn(ctx, c, nc, r)
	if err != nil {
		nc.Close()
		return nil, err
	}
	q.nc = nc
	return q, nil
}

func openConn(ctx context.Context, c DqConf, nc *nats.Conn, r role) (q *queue, err error) {
	q = new(queue)
	cfg := c.timers()
	cfg.Conn = nc
	if r == consumes {
		cfg.Announce, cfg.Replicas, cfg.Lease = q.announce, c.Replicas, c.Lease
	}
	q.timers, err = durable.Open(ctx, cfg)
	return q, err
}

func (q *queue) announce(f durable.Firing[string, []byte]) { q.due.put(job{f.Key, f.ID}) }

// close closes the queue if this was its last user.
func (q *queue) close() error {
	if q.place != (place{}) {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		if q.users--; q.users > 0 {
			return nil
		}
		delete(shared.open, q.place)
	}
	err := q.timers.Shutdown(context.Background())
	err = errors.Join(err, q.timers.Close())
	if q.nc != nil {
		q.nc.Close()
	}
	return err
}
