package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// An operation that can't follow those before it is an error, and changes nothing.
func TestSenselessOperations(t *testing.T) {
	s, h := New(), &frame.Header{Number: 1, Owner: 9}
	id := frame.ID{Owner: 9, Number: 1}
	for key, die := range map[string]bool{"live": false, "dead": true} {
		require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Set, Key: []byte(key), ID: id}))
		if die {
			require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Die, Key: []byte(key), ID: id, Attempt: 1}))
		}
	}
	other := frame.ID{Owner: 9, Number: 2}
	for key, ops := range map[string][]frame.Op{
		"live": {
			{Kind: frame.Revive, ID: id}, {Kind: frame.Expire, ID: id}, {Kind: frame.End, ID: other}, {Kind: frame.Keep, ID: other},
			{Kind: frame.Start, ID: id}, {Kind: frame.Next, Ended: 1}, {Kind: frame.Next, Ended: 2}, {Kind: frame.Pause}, {Kind: frame.Resume},
		},
		"dead": {
			{Kind: frame.Move, ID: other}, {Kind: frame.MoveAt, ID: other}, {Kind: frame.End, ID: id}, {Kind: frame.Begin, ID: id},
			{Kind: frame.Fail, ID: id}, {Kind: frame.Die, ID: id}, {Kind: frame.Revive, ID: other}, {Kind: frame.Pause}, {Kind: frame.Resume},
		},
	} {
		for _, op := range ops {
			was, _, _ := s.Find([]byte(key))
			op.Key = []byte(key)
			require.ErrorIs(t, s.Apply(h, &op), errSense, "%v of %s", op.Kind, key)
			is, _, _ := s.Find([]byte(key))
			require.Equal(t, was, is, "%v of %s", op.Kind, key)
		}
	}
}

// A dead timer need not be kept after its time. One that was revived is.
func TestExpiry(t *testing.T) {
	s, h := New(), &frame.Header{Number: 1, Time: 5}
	s.SetKeepDead(10)
	s.Build()
	id := frame.ID{Owner: 9, Number: 1}
	require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Set, Key: []byte("k"), ID: id, Due: int64(time.Hour)}))
	require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Die, Key: []byte("k"), ID: id, Attempt: 1}))
	_, early := s.PopExpired(14)
	require.False(t, early)
	at, ok := s.NextExpiry()
	require.True(t, ok)
	require.EqualValues(t, 15, at)
	require.NoError(t, s.Apply(h, &frame.Op{Kind: frame.Revive, Key: []byte("k"), ID: id, Due: int64(time.Hour)}))
	_, ok = s.PopExpired(100)
	require.False(t, ok)
}
