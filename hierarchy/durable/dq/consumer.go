package dq

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Consume is called with the body of a job that is due. When it has returned, the job has ended. If it panics or exits
// its goroutine, it is called again. The first pause is about a second. Each further pause is twice as long as the one
// before, up to ten minutes.
type Consume func(body []byte)

// Consumer consumes the jobs of a queue. All methods are safe for concurrent use.
type Consumer interface {
	// Consume calls a function for each job that is due, for several at once: see DqConf.Concurrency. It returns after
	// Stop. If the queue can't be opened, Consume logs the error, and retries.
	Consume(consume Consume)
	// Stop ends Consume: it prevents further calls of the function, and waits for those in progress. The function must
	// not call Stop.
	Stop()
}

// NewConsumer returns a consumer for a queue.
func NewConsumer(c DqConf) Consumer {
	r := &consumer{conf: c}
	r.running, r.stop = context.WithCancel(context.Background())
	return r
}

type consumer struct {
	conf    DqConf
	running context.Context // ends at Stop
	stop    context.CancelFunc

	mu    sync.Mutex     // held for calls.Add and for stop, so that no call is counted while Stop waits
	calls sync.WaitGroup // counts the calls of Consume
}

func (c *consumer) Consume(consume Consume) {
	if !c.begin() {
		return
	}
	defer c.calls.Done()
	q := c.open()
	if q == nil {
		return
	}
	c.consume(q, consume)
	if err := q.close(); err != nil {
		c.conf.logger().Error("dq: a consumer did not end in order", "err", err)
	}
}

// begin counts a call of Consume. It reports false after Stop.
func (c *consumer) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running.Err() != nil {
		return false
	}
	c.calls.Add(1)
	return true
}

func (c *consumer) Stop() {
	c.mu.Lock()
	c.stop()
	c.mu.Unlock()
	c.calls.Wait()
}

// open opens the queue, retrying if necessary. It returns nil after Stop.
func (c *consumer) open() *queue {
	pause := wait.Backoff{First: time.Second, Last: 30 * time.Second}
	for {
		q, err := open(c.running, c.conf, consumes)
		switch {
		case err == nil:
			return q
		case c.running.Err() != nil:
			return nil
		}
		c.conf.logger().Error("dq: nothing is consumed yet", "name", c.conf.timers().Name, "err", err)
		if !pause.Wait(c.running) {
			return nil
		}
	}
}

// consume calls a function for each job that is due, until Stop, and waits for the calls.
func (c *consumer) consume(q *queue, consume Consume) {
	var calls sync.WaitGroup
	defer calls.Wait()
	free := make(chan struct{}, c.conf.concurrency())
	for {
		select {
		case free <- struct{}{}:
		case <-c.running.Done():
			return
		}
		j, ok := q.due.take(c.running)
		if !ok {
			return
		}
		calls.Go(func() { // a goroutine for each job, since consume may exit it
			defer func() { <-free }()
			c.try(q, j, consume)
		})
	}
}

// errExited is the error of an attempt whose function has exited its goroutine.
var errExited = errors.New("the function exited its goroutine")

// try makes one attempt to consume a job, unless it was revoked.
func (c *consumer) try(q *queue, j job, consume Consume) {
	a, ok := q.timers.Begin(j.key, j.id)
	if !ok {
		return
	}
	failed := errExited
	defer func() {
		if r := recover(); r != nil {
			failed = fmt.Errorf("panic: %v", r)
			c.conf.logger().Error("dq: a consumer panicked", "id", a.Key, "err", failed, "stack", string(debug.Stack()))
		}
		if _, err := a.End(context.Background(), failed); err != nil {
			c.conf.logger().Error("dq: a job may be consumed again", "id", a.Key, "err", err)
		}
	}()
	consume(a.Value)
	failed = nil
}
