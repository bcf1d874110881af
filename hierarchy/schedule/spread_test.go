package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// The delay of a key is the same for ever: stored texts and other machines have it.
func TestSpreadOfAKey(t *testing.T) {
	nightly := parse(t, "CRON_TZ=Europe/Berlin MISSED=skip 0 2 * * *")
	for key, want := range map[string]string{
		"customer-17": "CRON_TZ=Europe/Berlin MISSED=skip SPREAD=12m3s 0 2 * * *",
		"":            "CRON_TZ=Europe/Berlin MISSED=skip SPREAD=52s 0 2 * * *",
	} {
		require.Equal(t, want, schedule.Spread(nightly, time.Hour, key).String())
	}
}

// Each run is later by the delay, however it is counted, and the text makes the same schedule.
func TestSpread(t *testing.T) {
	start := at(t, "2024-03-30T12:34:56.789Z")
	for _, text := range []string{"0 2 * * *", "CRON_TZ=Europe/Berlin */20 2 * * *", "@hourly", "59 59 23 31 12 *"} {
		for _, delay := range []time.Duration{time.Second, 59 * time.Minute, 30 * time.Hour, schedule.MaxSpread} {
			s, spread := parse(t, text), parse(t, "SPREAD="+delay.String()+" "+text)
			require.True(t, spread == parse(t, spread.String()), spread)
			run, late := start, start.Add(delay)
			for range 100 {
				run, late = s.Next(run), spread.Next(late)
				require.Equal(t, run.Add(delay), late, "%v", spread)
			}
			end := start.AddDate(2, 0, 0)
			require.Equal(t, s.Count(start, end), spread.Count(start.Add(delay), end.Add(delay)))
		}
	}
}

// A delay takes the place of an earlier one, and leaves the rest of the schedule.
func TestSpreadOfASpreadSchedule(t *testing.T) {
	s := parse(t, "CRON_TZ=Europe/Berlin MISSED=all 0 2 * * *")
	spread := schedule.Spread(s, time.Hour, "key")
	require.False(t, s == spread)
	require.True(t, spread == schedule.Spread(schedule.Spread(s, schedule.MaxSpread, "other"), time.Hour, "key"))
	require.True(t, s == schedule.Spread(spread, 0, ""))
	require.Equal(t, schedule.MissedAll, spread.Missed())
}

// Keys that resemble each other share out the window evenly.
func TestSpreadIsEven(t *testing.T) {
	daily, midnight := parse(t, "@daily"), at(t, "2024-01-01T00:00:00Z")
	const keys = 100_000
	inMinute := map[int]int{}
	for i := range keys {
		next := schedule.Spread(daily, time.Hour, fmt.Sprint("customer-", i)).Next(midnight.Add(-1))
		require.Less(t, next.Sub(midnight), time.Hour)
		inMinute[next.Minute()]++
	}
	for minute := range 60 {
		require.InDelta(t, keys/60, inMinute[minute], keys/60/5, minute) // five standard deviations are 12 %
	}
}

func TestSpreadWithoutEffect(t *testing.T) {
	every := parse(t, "@every 90s")
	require.True(t, every == schedule.Spread(every, time.Hour, "key"))
	require.True(t, every == parse(t, "SPREAD=5s @every 90s"))
	require.Zero(t, schedule.Spread(schedule.Schedule{}, time.Hour, "key"))
	daily := parse(t, "@daily")
	require.True(t, daily == schedule.Spread(daily, time.Second, "key")) // the only whole second below it is 0
	for _, window := range []time.Duration{time.Second - 1, 0, -1} {
		require.True(t, daily == schedule.Spread(daily, window, "key"))
	}
	require.Panics(t, func() { schedule.Spread(daily, schedule.MaxSpread+1, "key") })
}
