package jetstream

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// Open waits for servers without a leader as long as it may. Servers that are too few for the replicas,
// or have no JetStream, it takes for such that have just begun, for a while.
func TestUntilAnswered(t *testing.T) {
	logger := slog.New(slog.DiscardHandler)
	unplaced := &jetstream.APIError{Code: 400, ErrorCode: 10005}
	noLeader := &jetstream.APIError{Code: 503, ErrorCode: 10008}
	for name, c := range map[string]struct {
		err         error
		for_, takes time.Duration
		want        error
	}{
		"no leader":        {noLeader, time.Hour, time.Hour, nil},
		"no others yet":    {unplaced, 2 * time.Second, 2 * time.Second, nil},
		"too few":          {unplaced, time.Hour, settleTime, unplaced},
		"not there yet":    {jetstream.ErrStreamNotFound, 2 * time.Second, 2 * time.Second, nil},
		"no JetStream yet": {nats.ErrNoResponders, 2 * time.Second, 2 * time.Second, nil},
		"no JetStream":     {nats.ErrNoResponders, time.Hour, settleTime, nats.ErrNoResponders},
		"something else":   {errors.ErrUnsupported, time.Hour, 0, errors.ErrUnsupported},
		"nobody waits now": {noLeader, 3 * time.Hour, 2 * time.Hour, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()
				begun := time.Now()
				err := untilAnswered(ctx, logger, asItIs, func(context.Context, func()) error {
					if time.Since(begun) < c.for_ {
						return c.err
					}
					return nil
				})
				require.ErrorIs(t, err, c.want)
				require.InDelta(t, c.takes, time.Since(begun), float64(openPause+1))
			})
		})
	}
}

// Many logs take long to look at, one after the other. A try goes on as long as the servers answer, since
// the next one would have to begin anew.
func TestTryGoesOnWhileThereAreAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		err := untilAnswered(t.Context(), slog.New(slog.DiscardHandler), asItIs, func(ctx context.Context, answered func()) error {
			tries++
			for range 1000 {
				select {
				case <-time.After(firstOpenTime / 2):
					answered()
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 1, tries)
	})
}

// A try without answers ends, and the next one has longer.
func TestTryWithoutAnswersEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took []time.Duration
		err := untilAnswered(t.Context(), slog.New(slog.DiscardHandler), asItIs, func(ctx context.Context, _ func()) error {
			if len(took) == 4 {
				return nil
			}
			begun := time.Now()
			<-ctx.Done()
			took = append(took, time.Since(begun))
			return ctx.Err()
		})
		require.NoError(t, err)
		require.Equal(t, []time.Duration{firstOpenTime, 2 * firstOpenTime, 4 * firstOpenTime, openTime}, took)
	})
}

// Servers that begin long after Open has their time too.
func TestUntilAnsweredByServersThatBeginLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		require.NoError(t, untilAnswered(t.Context(), slog.New(slog.DiscardHandler), asItIs, func(context.Context, func()) error {
			switch now := time.Since(begun); {
			case now < time.Hour:
				return nats.ErrTimeout
			case now < time.Hour+settleTime/2:
				return nats.ErrNoResponders
			}
			return nil
		}))
	})
}

// An operator reads once that there was no answer.
func TestNoAnswerIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := whileAnswered(t.Context(), time.Second, func(ctx context.Context, _ func()) error {
			<-ctx.Done()
			return context.DeadlineExceeded
		})
		require.EqualError(t, err, "context deadline exceeded")
	})
}

func asItIs(err error) error { return err }
