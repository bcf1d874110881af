package timers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// An old handle never reaches a later timer, even one in the same place in memory. The
// test uses a real clock, where each shard numbers its timers itself. The larger crowd
// fills several chunks, which are released in between.
func TestOldHandlesReachNoLaterTimer(t *testing.T) {
	for _, crowd := range []int{1, 5000} {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Shards: 1})
		var old []hierarchy.Timer
		for range 3 {
			set := make([]hierarchy.Timer, crowd)
			for i := range set {
				set[i] = wheeltest.Set(t, w, time.Hour, nop)
			}
			for _, timer := range old {
				require.False(t, timer.Active() || timer.Reset(time.Minute) || timer.Stop())
			}
			require.Equal(t, crowd, w.Len())
			for _, timer := range set {
				require.True(t, timer.Stop())
			}
			old = append(old, set...)
		}
	}
}
