package core

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// The largest call has room beside what trimming writes again, with the answer that is remembered.
func TestLargestCallFitsBesideTrimming(t *testing.T) {
	for _, id := range []RequestID{{}, {Caller: 1, Serial: 2}} {
		o, c := New(Config{}), &Call{Request: id}
		o.Start(0, 0, Limits{Message: math.MaxInt})
		for i := range keepOps {
			o.Add(&frame.Op{Kind: frame.Keep, Key: fmt.Append(nil, i)})
		}
		for i := range MaxOps {
			c.Ops = append(c.Ops, Op{Kind: frame.Set, Key: fmt.Append(nil, i)})
		}
		c.Begin(&o.Config, 0, 0)
		require.True(t, o.HasRoomFor(c, nil), "%v", id)
	}
}
