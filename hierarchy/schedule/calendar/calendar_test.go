package calendar_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/hierarchy/schedule/calendar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	everyMonth   calendar.Set = 0x1ffe
	everyDay     calendar.Set = 0xfffffffe
	everyWeekday calendar.Set = 0x7f
)

// The tests of hierarchy/schedule and compat/cron compare Next with what others calculate. Whatever the pattern and its
// rules for changes of clocks, Count is the number of times that Next returns.
func TestCountIsWhatNextReturns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, zone := range []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Havana", "Pacific/Apia"} {
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		for range 100 {
			one := func(values int) calendar.Set { return 1 << r.IntN(values) }
			p := calendar.Pattern{
				Second: one(60), Minute: one(60) | one(59), Hour: one(4) | one(24) | 1<<23,
				Month: everyMonth, Day: everyDay, Weekday: everyWeekday,
				EveryDay: true, EveryRound: r.IntN(2) == 0, OnlyShown: r.IntN(3) == 0,
			}
			if r.IntN(2) == 0 {
				p.Day, p.EveryDay = 1<<(1+r.IntN(31)), r.IntN(2) == 0
			}
			after := time.Date(2011, 11, 1, 0, 0, r.IntN(1e6), 0, time.UTC)
			until := after.AddDate(1, 0, 0)
			n := 0
			for at := p.Next(loc, after); !at.After(until); at = p.Next(loc, at) {
				n++
			}
			require.Equal(t, n, p.Count(loc, after, until), "%+v in %s after %v", p, zone, after)
		}
	}
}

// A pattern without days has no runs, and is not looked for without end.
func TestNoDays(t *testing.T) {
	p := calendar.Pattern{Second: 1, Minute: 1, Hour: 1, Month: everyMonth}
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Zero(t, p.Next(time.UTC, now))
	require.Zero(t, p.Count(time.UTC, now, now.AddDate(50, 0, 0)))
}
