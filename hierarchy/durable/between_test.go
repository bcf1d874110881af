package durable_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// A schedule's runs between two times take place, what was missed of them is counted by its rule, and the timer ends
// with the last.
func TestScheduleBetweenTimes(t *testing.T) {
	for _, text := range []string{"@every 1h", "0 * * * *"} {
		for m, want := range map[durable.Missed][]string{
			durable.MissedOnce: {"0h +0", "4h +3"}, durable.MissedSkip: {"0h +0"},
			durable.MissedAll: {"0h +0", "1h +0", "2h +0", "3h +0", "4h +0"},
		} {
			mock := clock.NewMock()
			from := mock.Now().Add(24 * time.Hour)
			var runs []string
			cfg := durable.Config[string, string]{Dir: t.TempDir(), Clock: mock, Handle: func(_ context.Context, f firing) error {
				runs = append(runs, f.Due.Sub(from).Truncate(time.Hour).String()[:1]+"h +"+string(rune('0'+f.Missed)))
				return nil
			}}
			w := open(t, cfg)
			s := schedule.Between(parse(t, text).OnMissed(m), from, from.Add(4*time.Hour+30*time.Minute))
			e, err := w.SetSchedule(t.Context(), "k", "v", s)
			require.NoError(t, err)
			require.True(t, e.Due.Equal(from))
			mock.Add(24*time.Hour + time.Minute)
			require.NoError(t, w.Shutdown(t.Context()))
			mock.Add(48 * time.Hour)
			w = open(t, cfg)
			mock.Add(0)
			require.Equal(t, want, runs, "%v %v", text, m)
			require.Zero(t, w.Stats().Pending)
			require.NoError(t, w.Close())
		}
	}
}
