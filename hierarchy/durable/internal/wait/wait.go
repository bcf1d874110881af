// Package wait provides ways for goroutines to wait: signals, pauses that a context ends, backoff, and for several
// calls at once.
package wait

import (
	"context"
	"sync"
	"time"
)

// Signal notifies one goroutine that something has changed. Several notifications that were not received yet count
// as one.
type Signal chan struct{}

// NewSignal returns a Signal that is not set.
func NewSignal() Signal { return make(Signal, 1) }

// Set sets the signal, if it is not set already. Receiving from it clears it. A nil Signal stays as it is.
func (s Signal) Set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Sleep waits for d. It reports false if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Backoff is the pause before a retry: First, then twice as long each time, at most Last.
type Backoff struct {
	First, Last time.Duration
	Pause       time.Duration // the latest
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	b.Pause = min(max(b.First, 2*b.Pause), b.Last)
	return b.Pause
}

// Reset makes the next pause the first one again.
func (b *Backoff) Reset() { b.Pause = 0 }

// Wait waits for the next pause. It reports false if ctx ends first.
func (b *Backoff) Wait(ctx context.Context) bool { return Sleep(ctx, b.Next()) }

// All calls f for each number below n, at most atOnce of them at once, and returns the results.
func All(n, atOnce int, f func(i int) error) []error {
	errs := make([]error, n)
	places := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range n {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			errs[i] = f(i)
		})
	}
	wg.Wait()
	return errs
}
