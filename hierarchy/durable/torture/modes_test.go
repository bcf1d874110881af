//go:build linux

package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A seed always draws the same modes, and each is drawn that need not be asked for.
func TestDrawModes(t *testing.T) {
	drawn := map[string]bool{}
	for seed := range uint64(200) {
		o := options{seed: seed, length: time.Minute, workers: 3}
		require.NoError(t, o.harden())
		again := options{seed: seed, length: time.Minute, workers: 3}
		require.NoError(t, again.harden())
		require.Equal(t, o, again)
		for _, m := range o.on() {
			drawn[m.name] = true
			require.False(t, m.byName, m.name)
		}
		named := options{seed: seed, length: time.Minute, workers: 3, modes: o.modes}
		require.NoError(t, named.harden())
		require.Equal(t, o, named)
	}
	for _, m := range allModes() {
		require.Equal(t, !m.byName, drawn[m.name], m.name)
		for _, f := range m.faults {
			o := options{servers: 3, modes: m.name}
			require.Contains(t, o.weights(o.on()), f)
		}
		for _, f := range ofServers {
			o := options{servers: 3, modes: m.name}
			named := slices.ContainsFunc(o.weights(o.on()), func(o often) bool { return o.fault == f })
			require.Equal(t, !m.calm, named, m.name)
		}
	}
}

// What is repeated ends when it is told to, also while it rests.
func TestRepeat(t *testing.T) {
	times := make(chan bool)
	end := repeat(func(rest func(time.Duration) bool) bool {
		times <- true
		return true
	}, 0)
	<-times
	<-times
	go func() {
		for range times {
		}
	}()
	end()
	close(times)
	resting := make(chan bool)
	end = repeat(func(rest func(time.Duration) bool) bool {
		close(resting)
		return rest(time.Hour)
	}, time.Hour)
	<-resting
	end()
}
