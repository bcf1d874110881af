package hierarchy

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

// A FuncTimer has its place as soon as it is set. Otherwise more timers than MaxPending could be pending for a short time.
func TestFuncTimerHasItsPlaceAtOnce(t *testing.T) {
	c := &handclock.Clock{}
	w, err := New(Config{Clock: c, Shards: 1, MaxPending: 1})
	require.NoError(t, err)
	timer, err := w.NewFunc(func() {})
	require.NoError(t, err)
	c.OnSet = func() { _, err = w.AfterFunc(2*time.Hour, func() {}) } // Reset has not returned
	timer.Reset(time.Hour)
	require.Equal(t, ErrFull, err)
}
