package clock_test

import (
	"context"
	"testing"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

func TestWrapOfNil(t *testing.T) {
	for _, c := range []benbjohnson.Clock{nil, (*benbjohnson.Mock)(nil)} {
		require.PanicsWithValue(t, "clock: Wrap of a nil Clock", func() { clock.Wrap(c) })
	}
}

func TestZeroMock(t *testing.T) {
	const words = "clock: method called on a zero Mock: use NewMock"
	for _, call := range []func(*clock.Mock){
		func(m *clock.Mock) { m.Add(1) },
		func(m *clock.Mock) { m.Set(time.Unix(1, 0)) },
		func(m *clock.Mock) { m.Jump(1) },
		func(m *clock.Mock) { m.AddNext() },
		func(m *clock.Mock) { m.WaitForAllTimers() },
		func(m *clock.Mock) { _ = m.WaitFor(context.Background(), 1) },
		func(m *clock.Mock) { _ = m.WaitNext(context.Background(), 1) },
		func(m *clock.Mock) { m.NewAlarm(func() {}) },
		func(m *clock.Mock) { m.Benbjohnson() },
	} {
		require.PanicsWithValue(t, words, func() { call(new(clock.Mock)) })
	}
}

func TestMockWaitsWithNilContext(t *testing.T) {
	m := clock.NewMock()
	var none context.Context
	const words = "clock: Mock waits with a nil context"
	require.PanicsWithValue(t, words, func() { _ = m.WaitFor(none, 1) })
	require.PanicsWithValue(t, words, func() { _ = m.WaitNext(none, 1) })
}
