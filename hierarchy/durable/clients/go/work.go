package epicycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Worker is how Work takes firings.
type Worker struct {
	// Concurrency is how many handlers run at once; 1 by default.
	Concurrency int
	// Grace is how long the contexts of handlers last after that of Work is done. By default it is as long as their attempts.
	Grace time.Duration
	// OnError is called with an error of the server or the network, after which Work goes on. By default it is logged.
	OnError func(error)
}

// takeWait is how long a request of Work waits for a firing.
const takeWait = 20 * time.Second

// Work takes firings from a queue and calls handle with them, until ctx is done. A firing is done if handle returns nil;
// otherwise it is retried, as it is after a panic and if handle takes longer than the timeout of its timer.
//
// When ctx is done, Work takes nothing more, waits until the handlers that run have returned and the server knows their
// results, and returns nil. It returns an error if the server refuses to hand out firings.
func (c *Client) Work(ctx context.Context, queue string, w Worker, handle func(context.Context, Firing) error) error {
	l := &loop{client: c, queue: queue, worker: w, handle: handle}
	l.places = make(chan struct{}, max(1, w.Concurrency))
	l.grace, l.end = context.WithCancel(context.WithoutCancel(ctx))
	defer l.end()
	if w.Grace > 0 {
		defer context.AfterFunc(ctx, func() { time.AfterFunc(w.Grace, l.end) })()
	}
	err := l.run(ctx)
	l.handlers.Wait()
	return err
}

// loop is a call of Work.
type loop struct {
	client   *Client
	queue    string
	worker   Worker
	handle   func(context.Context, Firing) error
	places   chan struct{} // has an element for each handler that runs, or that a request asks a firing for
	handlers sync.WaitGroup
	grace    context.Context // of the handlers
	end      context.CancelFunc
}

func (l *loop) run(ctx context.Context) error {
	for attempt := 1; ; {
		n := l.acquire(ctx)
		if n == 0 {
			return nil
		}
		all, err := l.client.Take(ctx, l.queue, n, takeWait)
		for i := range all {
			l.handlers.Go(func() { l.attempt(&all[i]) })
		}
		for range n - len(all) {
			<-l.places
		}
		switch {
		case err == nil:
			attempt = 1
			continue
		case ctx.Err() != nil:
			return nil
		case !passing(err, true):
			return err
		}
		l.report(fmt.Errorf("taking from %q: %w", l.queue, err))
		sleep(ctx, pause(attempt, err))
		attempt++
	}
}

// acquire waits for a place, and takes all that are free. It returns 0 if ctx is done.
func (l *loop) acquire(ctx context.Context) (n int) {
	select {
	case l.places <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for n = 1; n < cap(l.places); n++ {
		select {
		case l.places <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// attempt runs the handler, and tells the server the result.
func (l *loop) attempt(f *Firing) {
	defer func() { <-l.places }()
	ctx, cancel := context.WithTimeout(l.grace, time.Duration(f.Timeout))
	defer cancel()
	result := l.call(ctx, f)
	ctx = context.WithoutCancel(ctx) // the server is told in any case
	var results []Result
	var err error
	if result == nil {
		results, err = l.client.Done(ctx, l.queue, f.Token)
	} else {
		results, err = l.client.Fail(ctx, l.queue, result.Error(), f.Token)
	}
	if err == nil && !results[0].OK {
		err = errors.New(results[0].Error)
	}
	if err != nil {
		l.report(fmt.Errorf("ending %q: %w", f.Key, err))
	}
}

func (l *loop) call(ctx context.Context, f *Firing) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return l.handle(ctx, *f)
}

func (l *loop) report(err error) {
	if l.worker.OnError != nil {
		l.worker.OnError(err)
		return
	}
	slog.Warn("epicycle: a worker's request failed", "err", err)
}
