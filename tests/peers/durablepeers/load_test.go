package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// calls is a store that remembers what it was asked for.
type calls struct {
	store
	mu   sync.Mutex
	made []string
	at   map[string]time.Time
	when map[string]time.Time
}

func newCalls() *calls { return &calls{at: map[string]time.Time{}, when: map[string]time.Time{}} }

func (c *calls) note(what, key string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, what+" "+key)
	c.at[key], c.when[key] = at, time.Now()
}

var errRefused = errors.New("refused")

func (c *calls) Schedule(_ context.Context, key string, at time.Time, _ []byte) error {
	c.note("schedule", key, at)
	time.Sleep(time.Millisecond)
	if key == keyOf(3) {
		return errRefused
	}
	return nil
}

func (c *calls) Move(_ context.Context, key string, at time.Time, _ []byte) (bool, error) {
	c.note("move", key, at)
	return key != keyOf(3), nil
}

func (c *calls) Cancel(_ context.Context, key string) (bool, error) {
	c.note("cancel", key, time.Time{})
	return true, nil
}

// onLoad runs a load in a bubble, and returns what was recorded.
func onLoad(t *testing.T, l func(now time.Time) load) (c *calls, did loaded, events []event) {
	path := filepath.Join(t.TempDir(), eventsFile)
	synctest.Test(t, func(t *testing.T) {
		rec, err := openRecorder(path)
		require.NoError(t, err)
		defer rec.file.Close()
		c = newCalls()
		did, err = l(time.Now()).run(c, rec)
		require.NoError(t, err)
	})
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	events, err = reader{f}.next()
	require.NoError(t, err)
	return c, did, events
}

func TestLoadInTurns(t *testing.T) {
	var begun time.Time
	c, did, events := onLoad(t, func(now time.Time) load {
		begun = now
		return load{Do: "schedule", First: 2, N: 4, Callers: 1, Due: now.Add(time.Hour).UnixNano(), Step: time.Second, Record: true}
	})
	require.Equal(t, []string{"schedule " + keyOf(2), "schedule " + keyOf(3), "schedule " + keyOf(4), "schedule " + keyOf(5)}, c.made)
	require.Equal(t, loaded{
		Done: 3, Failed: 1, Failure: errRefused.Error(), Elapsed: 4 * time.Millisecond, P50: time.Millisecond, P99: time.Millisecond,
	}, did)
	require.Equal(t, begun.Add(time.Hour+3*time.Second).UnixNano(), c.at[keyOf(5)].UnixNano())
	require.Equal(t, []event{ // the refused one is not acknowledged
		{scheduled, 2, begun.Add(time.Hour).UnixNano(), begun.Add(time.Millisecond).UnixNano()},
		{scheduled, 4, begun.Add(time.Hour + 2*time.Second).UnixNano(), begun.Add(3 * time.Millisecond).UnixNano()},
		{scheduled, 5, begun.Add(time.Hour + 3*time.Second).UnixNano(), begun.Add(4 * time.Millisecond).UnixNano()},
	}, events)
}

func TestLoadAtARate(t *testing.T) {
	var begun time.Time
	c, did, events := onLoad(t, func(now time.Time) load {
		begun = now
		return load{Do: "schedule", First: 10, N: 20, Callers: 4, Rate: 100, In: time.Second}
	})
	require.Equal(t, 20, did.Done)
	require.Empty(t, events)
	for i := range uint32(20) {
		at := begun.Add(time.Duration(i) * 10 * time.Millisecond)
		require.Equal(t, at, c.when[keyOf(10+i)])
		require.Equal(t, at.Add(time.Second), c.at[keyOf(10+i)])
	}
}

func TestLoadEnds(t *testing.T) {
	_, did, _ := onLoad(t, func(now time.Time) load {
		return load{Do: "schedule", First: 10, N: 1 << 30, Callers: 2, Until: now.Add(5 * time.Millisecond).UnixNano()}
	})
	require.Equal(t, 10, did.Done)
}

func TestLoadNearTheDueTime(t *testing.T) {
	var at time.Time
	c, did, events := onLoad(t, func(now time.Time) load {
		at = now.Add(time.Second)
		return load{Do: "cancel", N: 8, Callers: 8, Due: at.UnixNano(), Step: 10 * time.Millisecond, Near: true, Record: true}
	})
	require.Equal(t, 8, did.Done)
	require.Len(t, events, 8)
	for i := range uint32(8) {
		require.Equal(t, at.Add(time.Duration(i)*10*time.Millisecond-time.Duration(i%4)*time.Millisecond).UnixNano(), c.when[keyOf(i)].UnixNano())
	}
}

func TestLoadOfMoves(t *testing.T) {
	_, did, _ := onLoad(t, func(now time.Time) load { return load{Do: "move", N: 5, Callers: 1, Due: now.UnixNano()} })
	require.Equal(t, 4, did.Done)
	require.Equal(t, 1, did.Refused)
	require.Zero(t, did.Failed)
}
