package durable_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Close leaves no goroutine behind.
func TestNoGoroutineIsLeft(t *testing.T) {
	cfg := durable.Config[string, string]{Dir: t.TempDir(),
		Handle: func(context.Context, firing) error { return nil }}
	use := func() {
		w, err := durable.Open(t.Context(), cfg)
		require.NoError(t, err)
		for i := range 50 {
			require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "", time.Duration(i%2)*time.Hour)))
		}
		require.NoError(t, w.Close())
	}
	before := runtime.NumGoroutine()
	for range 3 {
		use()
	}
	for begun := time.Now(); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		require.Less(t, time.Since(begun), time.Minute)
	}
}
