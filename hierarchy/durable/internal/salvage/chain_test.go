package salvage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// Where a frame is chained to one that is not the one before it, strangers' messages are between them. Where
// it is not, something is missing.
func TestStrangersBetweenFrames(t *testing.T) {
	s := &scanned{frames: make(map[uint64][]found)}
	sum := uint32(0)
	for _, n := range []uint64{1, 2, 5, 6, 9} { // 3, 4, 7 and 8 are strangers'
		s.frames[n] = []found{{Header: frame.Header{Number: n, Begin: 1, Previous: sum}, checksum: uint32(n)}}
		sum = uint32(n)
	}
	c := link(s, &storage.Mark{Number: 9, Checksum: 9})
	require.Empty(t, c.problems)
	require.Len(t, c.frames, 5)
	delete(s.frames, 6)
	c = link(s, &storage.Mark{Number: 9, Checksum: 9})
	require.Equal(t, []string{"frames 6 to 8 are missing"}, c.problems)
	require.Len(t, c.frames, 4)
	require.True(t, c.frames[3].after)
	require.False(t, c.frames[2].after)
	require.False(t, c.cut)
}
