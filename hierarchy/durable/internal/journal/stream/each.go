package stream

import (
	"context"
	"sync"
)

// together is how many streams are looked at together.
const together = 4

// each calls do for each number below n, a few at once. It returns the first error, which ends the context
// of the others.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var first error
	var once sync.Once
	var wg sync.WaitGroup
	places := make(chan struct{}, together)
	for i := 0; i < n && ctx.Err() == nil; i++ {
		places <- struct{}{}
		wg.Go(func() {
			if err := do(ctx, i); err != nil {
				once.Do(func() { first = err })
				cancel()
			}
			<-places
		})
	}
	wg.Wait()
	if first == nil {
		first = ctx.Err()
	}
	return first
}
