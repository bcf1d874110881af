package durable

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
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
