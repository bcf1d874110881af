package timers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// Drain is called inside a callback of a mock, and its function moves that mock. That
// panics at each call, also after the first panic, when the rest is passed in another
// goroutine. There it must not wait for the move that it is part of.
func TestDrainFunctionThatMovesTheMockInsideACallback(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	k, err := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(int, int) {})
	require.NoError(t, err)
	for i := range 3 {
		require.NoError(t, k.Set(i, i, time.Hour))
	}
	calls := 0
	_, err = w.AfterFunc(1, func() {
		defer func() { _ = recover() }()
		k.Drain(func(int, int) {
			calls++
			m.Add(1)
		})
	})
	require.NoError(t, err)
	moved := make(chan struct{})
	go func() { defer close(moved); m.Add(2) }()
	select {
	case <-moved:
	case <-time.After(time.Minute):
		t.Fatal("Add waits for itself")
	}
	require.Equal(t, 3, calls)
}
