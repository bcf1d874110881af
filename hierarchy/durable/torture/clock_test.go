//go:build linux

package main

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/child"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/judge"
)

// wall is what a wall clock without an offset shows at the monotonic clock's 0 in these tests.
const wall = int64(1e18)

// A worker's wall clock is set, its monotonic clock is not, and there are records of it.
func TestSetClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	w, err := newWorker(workerConfig{Records: path, Zero: wall, Offset: int64(time.Second)})
	require.NoError(t, err)
	before, elapsed := mono(), w.clock.Elapsed()
	w.told("clock -1h0m3s")
	now := w.clock.Now().UnixNano() - wall - int64(time.Second-time.Hour-3*time.Second)
	require.LessOrEqual(t, before, now)
	require.LessOrEqual(t, now, mono())
	require.LessOrEqual(t, elapsed, w.clock.Elapsed())
	require.Greater(t, w.clock.right().UnixNano(), wall)
	all, _, err := judge.ReadRecords(path, 0)
	require.NoError(t, err)
	require.Len(t, all, 4) // both settings, with what comes before and after
	var offsets []int64
	for i := range all {
		require.Equal(t, []string{judge.IsClock, judge.IsSet}[i%2], all[i].Kind)
		offsets = append(offsets, all[i].Offset)
	}
	require.Equal(t, []int64{int64(time.Second), 0, int64(-time.Hour - 2*time.Second), 0}, offsets)
}

// Workers' clocks differ, and a seed draws the same.
func TestOffsets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	forward := 0
	for i := range 200 {
		offset := offsetOf(1, i)
		require.Equal(t, offset, offsetOf(1, i))
		require.NotEqual(t, offset, offsetOf(1, i+1))
		require.LessOrEqual(t, time.Duration(offset).Abs(), judge.MostOff)
		d := drawJump(r)
		require.LessOrEqual(t, leastJump, d.Abs())
		require.LessOrEqual(t, d.Abs(), mostJump)
		if d > 0 {
			forward++
		}
	}
	require.Greater(t, forward, 50)
	require.Less(t, forward, 150)
}

// Clocks that are set differ by no more than the judge takes, unless it was asked for.
func TestClocksAreSetByLittle(t *testing.T) {
	for _, modes := range []string{none, "jumps"} {
		longest := time.Duration(0)
		for seed := range uint64(20) {
			o := options{seed: seed, length: time.Minute, servers: 3, lease: time.Second, only: judge.SetClock, modes: modes}
			require.NoError(t, o.harden())
			least, most := time.Duration(0), time.Duration(0)
			for _, p := range draw(&o) {
				least, most = min(least, p.jump), max(most, p.jump)
			}
			longest = max(longest, most-least)
		}
		require.Equal(t, modes == none, longest+2*judge.MostOff <= judge.ClocksOff, modes)
	}
}

// A worker whose clock is set is not set once more meanwhile.
func TestClocksAreSetOnce(t *testing.T) {
	var told strings.Builder
	m := &member{process: &child.Process{In: nopCloser{&told}}}
	var w world
	p := plan{fault: judge.SetClock, jump: leastJump}
	end := w.onWorker(p, new(judge.Event), m)
	require.Nil(t, w.onWorker(p, new(judge.Event), m))
	end()
	w.onWorker(p, new(judge.Event), m)()
	require.Equal(t, strings.Repeat("clock 5s\nclock -5s\n", 2), told.String())
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// What a worker's log says about partitions is recorded, and goes on to the log.
func TestListener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	said, says := io.Pipe()
	defer said.Close()
	l := slog.New(listener{slog.NewTextHandler(says, nil), recordTo(f)}).With("name", "timers").WithGroup("g")
	go l.Info(ownedMessage, "partition", 3, "epoch", uint64(7))
	b := make([]byte, 1000)
	n, err := said.Read(b)
	require.NoError(t, err)
	require.Contains(t, string(b[:n]), ownedMessage)
	all, _, err := judge.ReadRecords(path, 0)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, judge.Record{Kind: judge.IsOwned, Time: all[0].Time, Partition: 3, Epoch: 7}, all[0])
}
