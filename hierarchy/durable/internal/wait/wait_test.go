package wait_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

func TestSignal(t *testing.T) {
	s := wait.NewSignal()
	require.Empty(t, s)
	s.Set()
	s.Set()
	<-s
	require.Empty(t, s, "several count as one")
	s.Set()
	require.Len(t, s, 1)
}

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		b := wait.Backoff{First: 3 * time.Second, Last: 10 * time.Second}
		for _, at := range []time.Duration{3, 9, 19, 29} {
			require.True(t, b.Wait(t.Context()))
			require.Equal(t, at*time.Second, time.Since(begun))
		}
		b.Reset()
		require.Equal(t, 3*time.Second, b.Next())
		require.Equal(t, time.Second, (&wait.Backoff{First: time.Minute, Last: time.Second}).Next())
	})
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.True(t, wait.Sleep(ctx, time.Second/2))
		require.False(t, wait.Sleep(ctx, time.Hour))
		require.Equal(t, time.Second, time.Since(begun))
	})
}

func TestAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.Empty(t, wait.All(0, 0, nil))
		odd, begun := errors.New("odd"), time.Now()
		errs := wait.All(5, 2, func(i int) error {
			time.Sleep(time.Second)
			return []error{nil, odd}[i%2]
		})
		require.Equal(t, []error{nil, odd, nil, odd, nil}, errs)
		require.Equal(t, 3*time.Second, time.Since(begun))
	})
}
