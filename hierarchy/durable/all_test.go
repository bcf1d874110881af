package durable_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// A loop over timers may end after its context has.
func TestLoopThatEndsAfterItsContext(t *testing.T) {
	var fired []string
	w := open(t, config(t, t.TempDir(), clock.NewMock(), &fired))
	for _, k := range []string{"a", "b", "c", "d"} {
		require.NoError(t, errOf(w.Set(t.Context(), k, "", time.Hour)))
	}
	for end := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for _, err := range w.All(ctx) {
			if n++; n == 2 {
				require.ErrorIs(t, err, context.Canceled)
				break
			}
			require.NoError(t, err)
			if cancel(); end == 0 {
				break
			}
		}
		require.Equal(t, 1+min(end, 1), n)
	}
}
