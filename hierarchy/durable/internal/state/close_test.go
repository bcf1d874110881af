package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// A Close takes back the attempts that had begun, and those only.
func TestCloseAfterBegunAttempts(t *testing.T) {
	for written, want := range map[uint32]uint32{0: 0, 1: 0, 2: 1} {
		s, h := New(), &frame.Header{Number: 5}
		id := frame.ID{Owner: 1, Number: 1}
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Keep, State: frame.Begun, Key: []byte("a"), ID: id, Attempt: written}))
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Close}))
		s.Build()
		timer, _, ok := s.Find([]byte("a"))
		require.True(t, ok)
		require.Equal(t, want, timer.Attempt)
		require.Empty(t, s.Begun())
	}
}

// A timer whose attempt was postponed goes on waiting for that, also if the next attempt had begun.
func TestCloseAfterAPostpone(t *testing.T) {
	for _, built := range []bool{false, true} {
		s, h := New(), &frame.Header{Number: 5}
		if built { // as that of a follower is
			s.Build()
		}
		id := frame.ID{Owner: 1, Number: 1}
		for _, op := range []frame.Op{
			{Kind: frame.Keep, Key: []byte("a"), ID: id, Due: 6},
			{Kind: frame.Fail, Key: []byte("a"), ID: id, Next: 25},
			{Kind: frame.Begin, Key: []byte("a"), ID: id, Attempt: 1},
			{Kind: frame.Close},
		} {
			require.NoError(t, s.Apply(h, &op))
		}
		if !built {
			s.Build()
		}
		_, ref, _ := s.Find([]byte("a"))
		op, _ := s.Keep(ref, nil)
		require.Equal(t, []any{frame.Postponed, uint32(0), int64(25)}, []any{op.State, op.Attempt, op.Next}, built)
	}
}
