package member

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Nothing goes on but a renewal each third of the lease.
func TestIdle(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.join(1), w.join(2)
		a.claim(0, 1)
		b.claim(2, 3)
		before := [4]int64{a.counts[0].Load(), a.counts[1].Load(), a.counts[2].Load(), a.counts[3].Load()}
		w.at(400 * time.Second)
		require.Equal(w, before[0]+100, a.counts[0].Load())
		for i := 1; i < 4; i++ {
			require.Equal(w, before[i], a.counts[i].Load())
		}
		require.True(w, a.Holds())
		require.Equal(w, []ID{1, 2}, a.members())
		require.Equal(w, []ID{1, 1, 2, 2}, b.View().Holders())
	})
}
