package compat_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

func TestZeroTimingWheel(t *testing.T) {
	const words = "compat: method called on a zero TimingWheel: use NewTimingWheel"
	for _, call := range []func(*compat.TimingWheel){
		func(tw *compat.TimingWheel) { _ = tw.SetTimer("a", 1, time.Second) },
		func(tw *compat.TimingWheel) { _ = tw.MoveTimer("a", time.Second) },
		func(tw *compat.TimingWheel) { _ = tw.RemoveTimer("a") },
		func(tw *compat.TimingWheel) { _ = tw.Drain(func(key, value any) {}) },
		func(tw *compat.TimingWheel) { tw.Stop() },
		func(tw *compat.TimingWheel) { _ = tw.Shutdown(context.Background()) },
	} {
		require.PanicsWithValue(t, words, func() { call(new(compat.TimingWheel)) })
	}
}

func TestZeroCache(t *testing.T) {
	const words = "compat: method called on a zero Cache: use NewCache"
	for _, call := range []func(*compat.Cache){
		func(c *compat.Cache) { c.Get("a") },
		func(c *compat.Cache) { c.Set("a", 1) },
		func(c *compat.Cache) { c.SetWithExpire("a", 1, time.Second) },
		func(c *compat.Cache) { c.Del("a") },
		func(c *compat.Cache) { _, _ = c.Take("a", func() (any, error) { return 1, nil }) },
		func(c *compat.Cache) { c.Len() },
		func(c *compat.Cache) { c.Stats() },
		func(c *compat.Cache) { c.Close() },
	} {
		require.PanicsWithValue(t, words, func() { call(new(compat.Cache)) })
	}
}

func TestNilArgumentsOfACache(t *testing.T) {
	_, err := compat.NewCache(time.Minute, nil)
	require.ErrorIs(t, err, compat.ErrArgument)
	c, err := compat.NewCache(time.Minute)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Take("a", nil)
	require.ErrorIs(t, err, compat.ErrArgument)
	c.Set("a", 1)
	v, err := c.Take("a", nil) // needs no fetch
	require.NoError(t, err)
	require.Equal(t, 1, v)
}

func TestShutdownWithNilContext(t *testing.T) {
	tw, err := compat.NewTimingWheel(time.Second, 1, func(key, value any) {})
	require.NoError(t, err)
	defer tw.Stop()
	var none context.Context
	require.PanicsWithValue(t, "compat: Shutdown with a nil context", func() { _ = tw.Shutdown(none) })
	require.NoError(t, tw.SetTimer("a", 1, time.Second))
}
