package salvage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Answers to other processes are in the frames, and say nothing of timers.
func TestAnswersAmongTimers(t *testing.T) {
	var w frame.Builder
	w.Start(frame.Header{Number: 1})
	w.Add(&frame.Op{Kind: frame.Set, Key: []byte("a"), Value: []byte("1")})
	w.Add(&frame.Op{Kind: frame.Request, Caller: 1, Serial: 300, Floor: 299,
		Answers: frame.AppendAnswer(nil, frame.Done, []bool{true}, "value")})
	w.Add(&frame.Op{Kind: frame.Set, Key: []byte("b"), Value: []byte("2")})
	b, _ := w.Finish()
	r, c := &replayed{timers: make(map[string]*Timer), lost: make(map[string]uint64)}, new(chain)
	require.NoError(t, r.frame(c, b))
	require.Empty(t, c.problems)
	require.Len(t, r.timers, 2)
	require.Empty(t, r.lost)
}
