package state

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// What is appended is read, and nothing of it can be left out, nor has anything another meaning.
func TestTimersAsBytes(t *testing.T) {
	for _, timer := range []Timer{
		{},
		{Key: "k", Value: "v", ID: frame.ID{Owner: 1, Number: math.MaxUint64}, Due: math.MinInt64, Attempt: math.MaxUint32, Next: math.MaxInt64, Wall: true},
		{Running: true, Extra: Extra{Schedule: "@daily", Trace: "t", Missed: math.MaxUint32, Started: true}},
		{Key: "k", Due: 3, Next: 9},
		{Extra: Extra{Schedule: "@daily", Paused: true}},
		{Extra: Extra{Debounced: true}},
		{Extra: Extra{Trace: "t", Debounced: true, Since: math.MinInt64}},
		{Dead: true, Wall: true, Extra: Extra{LastError: "no", Failed: math.MaxInt64}},
	} {
		b := timer.Append(nil)
		require.Less(t, len(b), timer.Size())
		r := frame.Reader{B: b}
		require.Equal(t, timer, ReadTimer(&r))
		require.True(t, r.Ended())
		for n := range b {
			r := frame.Reader{B: b[:n]}
			ReadTimer(&r)
			require.True(t, r.Failed, n)
		}
		for _, flags := range []byte{3, timerPostponed ^ b[0], 0x80} {
			b[0] = flags
			r := frame.Reader{B: b}
			ReadTimer(&r)
			require.True(t, r.Failed)
		}
	}
	r := frame.Reader{B: append([]byte{timerExtra, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 6)...)} // an Extra that is none
	ReadTimer(&r)
	require.True(t, r.Failed)
}
