package dq

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// idSep separates the IDs that Revoke takes.
const idSep = ","

// Producer puts jobs into a queue. All methods are safe for concurrent use.
//
// The first call opens the queue. If that fails, it returns the error, and the next call tries again. With Conn or
// NATS, a process that consumes is needed: without one, calls return an error after a minute.
type Producer interface {
	// At puts a job into the queue. The job is consumed at a wall time, or at once if that time has passed. It returns
	// the job's ID when the job is on the disk. After durable.ErrUnavailable the job may or may not be in the queue, so
	// a retry may result in two jobs. If the body has more than 64 KiB, the error is durable.ErrTooLarge.
	At(body []byte, at time.Time) (string, error)
	// Delay is like At, but the job is consumed after a delay.
	Delay(body []byte, delay time.Duration) (string, error)
	// Revoke removes a job from the queue by its ID. It removes several jobs if ids has their IDs, separated by commas.
	// If it returns nil, no consumer's function is running with these jobs, or will be called with them. The errors of
	// several jobs are joined: ErrRunning for a job that is being consumed, ErrNotFound for a job that does not wait.
	Revoke(ids string) error
	// Close closes the queue. After that, At, Delay and Revoke return durable.ErrClosed.
	Close() error
}

// NewProducer returns a producer for a queue.
func NewProducer(c DqConf) Producer { return &producer{conf: c} }

type producer struct {
	conf DqConf

	mu     sync.Mutex // locked while the queue is opened
	queue  *queue     // nil until it is open. guarded by mu
	closed bool       // guarded by mu
}

func (p *producer) At(body []byte, at time.Time) (string, error) {
	return p.put(func(ctx context.Context, w *timers, id string) error {
		_, err := w.SetAt(ctx, id, body, at)
		return err
	})
}

func (p *producer) Delay(body []byte, delay time.Duration) (string, error) {
	return p.put(func(ctx context.Context, w *timers, id string) error {
		_, err := w.Set(ctx, id, body, delay)
		return err
	})
}

// put sets a timer whose key is a new ID.
func (p *producer) put(set func(ctx context.Context, w *timers, id string) error) (string, error) {
	w, err := p.open()
	if err != nil {
		return "", err
	}
	id := rand.Text()
	if err := set(context.Background(), w, id); err != nil {
		return "", fmt.Errorf("dq: %w", err)
	}
	return id, nil
}

func (p *producer) Revoke(ids string) error {
	w, err := p.open()
	if err != nil {
		return err
	}
	var errs []error
	for id := range strings.SplitSeq(ids, idSep) {
		errs = append(errs, revoke(w, id))
	}
	return errors.Join(errs...)
}

func revoke(w *timers, id string) error {
	e, ok, err := w.RemoveEntry(context.Background(), id)
	switch {
	case err != nil:
		return fmt.Errorf("dq: %w", err)
	case !ok:
		return fmt.Errorf("%w: %q", ErrNotFound, id)
	case e.State == durable.StateRunning:
		return fmt.Errorf("%w: %q", ErrRunning, id)
	}
	return nil
}

// openTime limits how long a producer waits for the first consumer on its servers. Calls wait at most the same time for
// the next consumer.
const openTime = time.Minute

func (p *producer) open() (*timers, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("dq: %w", durable.ErrClosed)
	}
	if p.queue == nil {
		ctx, cancel := context.WithTimeout(context.Background(), openTime)
		defer cancel()
		q, err := open(ctx, p.conf, produces)
		if err != nil {
			return nil, err
		}
		p.queue = q
	}
	return p.queue.timers, nil
}

func (p *producer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	q := p.queue
	p.queue = nil
	if q == nil {
		return nil
	}
	return q.close()
}
