package recipes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// retry calls f until it succeeds or the attempts are used up, and then calls done with
// the last error of f. It waits between calls, twice as long each time, and shortens each
// wait by a random part, so that callers that failed at the same time don't retry at the
// same time. If ctx is done or the wheel is stopped first, done gets that error, too. A wait
// is a timer, so a million waiting retries need no goroutines. wait must be a millisecond
// or more.
func retry(ctx context.Context, w *hierarchy.Wheel, attempts int, wait time.Duration, f func() error, done func(error)) {
	err := f()
	if err == nil || attempts <= 1 {
		done(err)
		return
	}
	pause, cancel := w.WithTimeout(ctx, wait-rand.N(wait/4))
	context.AfterFunc(pause, func() {
		defer cancel()
		if ctx.Err() != nil || pause.Err() != context.DeadlineExceeded {
			done(errors.Join(err, context.Cause(pause)))
			return
		}
		retry(ctx, w, attempts-1, 2*wait, f, done)
	})
}

func Example_retry() {
	ctx, m := context.Background(), clock.NewMock()
	w, _ := hierarchy.New(hierarchy.Config{Clock: m})
	defer w.Stop()

	calls := 0
	flaky := func() error {
		if calls++; calls < 4 {
			return fmt.Errorf("call %d failed", calls)
		}
		return nil
	}
	done := make(chan error)
	retry(ctx, w, 5, time.Second, flaky, func(err error) { done <- err })
	for range 3 {
		_ = m.WaitFor(ctx, 1) // until it waits
		m.AddNext()
	}
	err := <-done
	fmt.Println("after", calls, "calls:", err)
	fmt.Println("between 5.25 and 7 seconds:", m.Elapsed() > 5250*time.Millisecond && m.Elapsed() <= 7*time.Second)
	// Output:
	// after 4 calls: <nil>
	// between 5.25 and 7 seconds: true
}

// A retry that waits ends with its context and with the wheel.
func TestRetryEnds(t *testing.T) {
	failure, gone := errors.New("failed"), errors.New("gone")
	for _, end := range []struct {
		name string
		do   func(*hierarchy.Wheel, context.CancelCauseFunc)
		want error
	}{
		{"context", func(_ *hierarchy.Wheel, cancel context.CancelCauseFunc) { cancel(gone) }, gone},
		{"wheel", func(w *hierarchy.Wheel, _ context.CancelCauseFunc) { w.Stop() }, hierarchy.ErrClosed},
	} {
		t.Run(end.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			m := clock.NewMock()
			w, err := hierarchy.New(hierarchy.Config{Clock: m})
			require.NoError(t, err)
			defer w.Stop()
			done := make(chan error, 1)
			retry(ctx, w, 2, time.Second, func() error { return failure }, func(err error) { done <- err })
			require.Equal(t, 1, w.Len())
			end.do(w, cancel)
			err = <-done
			require.ErrorIs(t, err, failure)
			require.ErrorIs(t, err, end.want)
		})
	}
}
