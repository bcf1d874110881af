package durable

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream/jetstreamtest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// A partition that fails ends those that still wait for their logs. One that is damaged does not.
func TestPartitionThatFailsEndsTheOthers(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	failure := errors.New("no")
	damaged := make(chan bool)
	parts := openAll(end, 3, func(i int) (*partition.Partition, error) {
		switch i {
		case 0:
			defer close(damaged)
			return nil, ErrDamaged
		case 1:
			<-damaged
			return nil, failure
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	require.Equal(t, reason{failure}, context.Cause(ctx))
	require.ErrorIs(t, parts[0].problem(), ErrDamaged)
	require.ErrorIs(t, parts[2].problem(), context.Canceled)
}

// mute is a log that does not answer.
type mute struct{ storage.Log }

func (mute) Bounds(ctx context.Context) (storage.Bounds, error) {
	<-ctx.Done()
	return storage.Bounds{}, ctx.Err()
}

// A server in this process has a minute for each request of Open: a machine may be busy. Looking for a later version is
// given up sooner.
func TestOpenWaitsForABusyServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nc := jetstreamtest.Connect(t, func(string) string { return "" })
		d := &dir{cfg: config{name: "set", partitions: 2}}
		begun := time.Now()
		_, err := jetstream.Open(t.Context(), d.logs(nc, false))
		require.EqualError(t, err, "JetStream has not answered within 1m0s")
		require.Equal(t, time.Minute, time.Since(begun))
		begun = time.Now()
		require.NoError(t, refuseLater(t.Context(), []storage.Log{mute{}, mute{}}))
		require.Equal(t, peekTime, time.Since(begun))
	})
}
