package jetstream

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Streams are looked at a few at a time.
func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var done [10 * together]atomic.Bool
		require.NoError(t, each(t.Context(), len(done), func(_ context.Context, i int) error {
			time.Sleep(time.Second)
			done[i].Store(true)
			return nil
		}))
		for i := range done {
			require.True(t, done[i].Load())
		}
		require.Equal(t, 10*time.Second, time.Since(begun))
	})
}

// The first error is returned, and ends the others. So does the end of the context.
func TestEachEnds(t *testing.T) {
	wrong := errors.New("wrong")
	for want, do := range map[error]func(context.Context, int) error{
		wrong: func(ctx context.Context, i int) error {
			if i == 1 {
				return wrong
			}
			<-ctx.Done()
			return ctx.Err()
		},
		context.DeadlineExceeded: func(context.Context, int) error { time.Sleep(time.Second); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			var begun atomic.Int64
			err := each(ctx, 1000, func(ctx context.Context, i int) error {
				begun.Add(1)
				return do(ctx, i)
			})
			require.ErrorIs(t, err, want)
			require.LessOrEqual(t, begun.Load(), int64(3*together))
		})
	}
}
