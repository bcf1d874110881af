package remote

import (
	"fmt"
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

func TestEpoch(t *testing.T) {
	b := newBench(t)
	o := b.own()
	c := b.client()
	epoch, err := c.Epoch(t.Context(), 0)
	b.NoError(err)
	b.NotZero(epoch)
	b.Equal(o.Moment().Epoch, epoch)
	b.die(o)
	b.own()
	next, err := c.Epoch(t.Context(), 0)
	b.NoError(err)
	b.Greater(next, epoch)
}

func TestEpochOfADamagedPartition(t *testing.T) {
	b := newBench(t)
	s, err := Refuse(b.cfg, 0, fmt.Errorf("%w: frame 7 is missing", partition.ErrDamaged))
	b.NoError(err)
	defer s.Stop()
	_, err = b.client().Epoch(t.Context(), 0)
	b.ErrorIs(err, partition.ErrDamaged)
}
