package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// While the last attempt of a timer fails, because it was left and not ended in time, the timer has no further attempt.
func TestLastAttemptThatWasLeft(t *testing.T) {
	for number, want := range map[uint32]uint32{3: 3, 4: 4} {
		s, h := New(), &frame.Header{Number: 5}
		id := frame.ID{Owner: 1, Number: 1}
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Keep, State: frame.Left, Name: 7, Next: 10, Key: []byte("a"), ID: id, Attempt: 3}))
		s.Build()
		d, ok := s.Pop(10, 10)
		require.True(t, ok)
		for range 2 {
			s.Start(d.Ref, id, number)
			require.Equal(t, want, s.Listed(d.Ref).Attempt)
			s.Hold(d, id)
			require.EqualValues(t, 3, s.Listed(d.Ref).Attempt)
		}
	}
}
