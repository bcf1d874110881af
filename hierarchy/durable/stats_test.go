package durable_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// The figures of the partitions add up to those of all.
func TestStatsOfPartitions(t *testing.T) {
	mock := clock.NewMock()
	var fired []string
	urls, _ := natsServers(t, 1)
	cfg := config(t, "", mock, &fired)
	cfg.Conn, cfg.Partitions = connect(t, urls), 2
	w := open(t, cfg)
	for i := range 100 {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "v", time.Hour)))
	}
	_, ok, err := w.Move(t.Context(), "1", time.Second)
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = w.Remove(t.Context(), "2")
	require.NoError(t, err)
	require.True(t, ok)
	mock.Add(time.Second)
	st := w.Stats()
	require.Equal(t, 98, st.Pending)
	require.Equal(t, []uint64{100, 1, 1, 1}, []uint64{st.Set, st.Moved, st.Removed, st.Fired})
	require.Len(t, st.Partitions, 2)
	a, b := st.Partitions[0], st.Partitions[1]
	require.Positive(t, a.Pending)
	require.Positive(t, b.Pending)
	require.Equal(t, st.Pending, a.Pending+b.Pending)
	require.Equal(t, st.Set, a.Set+b.Set)
	require.Equal(t, st.Frames, a.Frames+b.Frames)
	require.Equal(t, st.Bytes, a.Bytes+b.Bytes)
	require.Equal(t, st.LogBytes, a.LogBytes+b.LogBytes)
	require.Equal(t, st.LiveBytes, a.LiveBytes+b.LiveBytes)
	require.NoError(t, errors.Join(a.Err, b.Err))
}

// A partition whose log is damaged says so, and counts nothing.
func TestStatsOfADamagedPartition(t *testing.T) {
	mock := clock.NewMock()
	var fired []string
	dir := t.TempDir()
	w := open(t, config(t, dir, mock, &fired))
	for i := range 10 {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "v", time.Hour)))
	}
	require.NoError(t, w.Close())
	change(t, segment(dir, 1), func([]byte) []byte { return nil })
	st := open(t, config(t, dir, mock, &fired)).Stats()
	require.Equal(t, 1, st.Damaged)
	require.Zero(t, st.Owned)
	damaged := 0
	for _, p := range st.Partitions {
		if p.Err != nil {
			damaged++
			require.ErrorIs(t, p.Err, durable.ErrDamaged)
			require.Equal(t, durable.PartitionStats{Err: p.Err}, p)
		}
	}
	require.Equal(t, 1, damaged)
}

// Each timer that waits is in one slot of one circle, whatever its partition and kind of time.
func TestCircles(t *testing.T) {
	mock := clock.NewMock()
	mock.Set(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))
	var fired []string
	w := open(t, config(t, t.TempDir(), mock, &fired))
	for i := range 100 {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "v", time.Duration(i)*time.Hour)))
		require.NoError(t, errOf(w.SetAt(t.Context(), fmt.Sprint("at ", i), "v", mock.Now().Add(time.Duration(i)*time.Minute))))
	}
	mock.Add(time.Hour)
	in, shown, circles := 0, time.Duration(0), w.Circles()
	for k, c := range circles {
		for _, n := range c.Slots {
			in += n
		}
		part := time.Duration(c.Hand) * c.Width
		if k+1 < len(circles) {
			part %= circles[k+1].Width
		}
		shown += part
	}
	require.Equal(t, w.Stats().Pending, in)
	require.Equal(t, 200-2-61, in)
	require.Equal(t, mock.Now().UnixNano(), int64(shown))
}

// Timers stand in many slots from the beginning: in a new directory, and after a restart, when none
// has fallen due yet.
func TestTimersAreSpreadAtOnce(t *testing.T) {
	mock := clock.NewMock()
	mock.Set(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))
	var fired []string
	dir := t.TempDir()
	used := func(w *durable.Keyed[string, string]) (slots int) {
		for _, c := range w.Circles() {
			for _, n := range c.Slots {
				slots += min(n, 1)
			}
		}
		return slots
	}
	w := open(t, config(t, dir, mock, &fired))
	for i := range 100 {
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "v", time.Duration(i+1)*time.Hour)))
		require.NoError(t, errOf(w.SetAt(t.Context(), fmt.Sprint("at ", i), "v", mock.Now().Add(time.Duration(i+1)*time.Minute))))
	}
	require.Greater(t, used(w), 50)
	require.NoError(t, w.Close())
	require.Greater(t, used(open(t, config(t, dir, mock, &fired))), 50)
}
