package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// A timer whose attempt was left and is over now is the same after it was written again: that attempt has failed.
// Otherwise an owner that reads it would not know that the last attempt was made.
func TestKeepOfAnAttemptThatWasLeft(t *testing.T) {
	for name, c := range map[string]struct {
		now, until int64
		then       func(*State, Ref, frame.ID)
	}{
		"waiting": {9, 10, func(s *State, _ Ref, _ frame.ID) {}},
		"due":     {12, 12, func(s *State, _ Ref, _ frame.ID) { s.Pop(11, 11) }},
		"the next attempt is in progress": {12, 12, func(s *State, ref Ref, id frame.ID) {
			s.Pop(11, 11)
			s.Start(ref, id)
			require.True(t, s.IsRunning(ref, id))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, id := New(), frame.ID{Owner: 9, Number: 1}
			h := &frame.Header{Number: 1, Owner: 9, Time: 1}
			require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Set, Key: []byte("k"), Due: 1, ID: id}))
			require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Begin, Key: []byte("k"), ID: id, Attempt: 3, Next: 10, Name: 7}))
			s.Build()
			_, ref, _ := s.Find([]byte("k"))
			c.then(s, ref, id)
			op, _ := s.Keep(ref, c.now, nil)
			again := New()
			require.NoError(t, again.Apply(h, &op))
			again.Build()
			timer, ref, _ := again.Find([]byte("k"))
			require.EqualValues(t, 3, timer.Attempt)
			require.True(t, again.WasLeft(ref))
			d, ok := again.Pop(c.until, c.until)
			require.True(t, ok)
			require.Equal(t, c.until, d.Since)
			require.True(t, again.WasLeft(ref))
		})
	}
}
