package schedule_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

var _ hierarchy.Schedule = schedule.Schedule{}

func parse(t testing.TB, text string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text)
	require.NoError(t, err)
	return s
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05.999999999Z", text)
	require.NoError(t, err)
	return at
}

// What people know from their calendars, written down by hand, in UTC.
func TestNext(t *testing.T) {
	for _, c := range []struct{ text, after, runs string }{
		{"@every 90s", "2024-03-30T12:00:00.5Z", "2024-03-30T12:01:30.5Z 2024-03-30T12:03:00.5Z"},
		{"@every 1500ms", "2024-03-30T12:00:00Z", "2024-03-30T12:00:01.5Z 2024-03-30T12:00:03Z"},
		{"@hourly", "2024-02-28T22:59:59.999Z", "2024-02-28T23:00:00Z 2024-02-29T00:00:00Z"},
		{"@daily", "2024-02-28T00:00:00Z", "2024-02-29T00:00:00Z 2024-03-01T00:00:00Z"},
		{"@midnight", "2023-02-28T00:00:00Z", "2023-03-01T00:00:00Z"},
		{"@weekly", "2024-02-28T00:00:00Z", "2024-03-03T00:00:00Z 2024-03-10T00:00:00Z"},
		{"@monthly", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z 2025-02-01T00:00:00Z"},
		{"@yearly", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z 2026-01-01T00:00:00Z"},
		{"@annually", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z"},
		{"*/10 * * * * *", "2024-12-31T23:59:45Z", "2024-12-31T23:59:50Z 2025-01-01T00:00:00Z"},
		{"0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z 2108-02-29T00:00:00Z"},
		{"0 0 30 2 *", "2024-01-01T00:00:00Z", "never"},
		{"0 0 31 4,6,9,11 *", "2024-01-01T00:00:00Z", "never"},
		{"0 9 * * mon-FRI", "2024-03-01T08:00:00Z", "2024-03-01T09:00:00Z 2024-03-04T09:00:00Z"},
		{"0 9 13 * fri", "2024-09-12T00:00:00Z", "2024-09-13T09:00:00Z 2024-09-20T09:00:00Z"},   // either
		{"0 9 */13 * fri", "2024-09-13T10:00:00Z", "2024-09-27T09:00:00Z 2024-11-01T09:00:00Z"}, // both
		{"0 9 ? * fri", "2024-09-13T10:00:00Z", "2024-09-20T09:00:00Z"},
		{"0 9 1 * ?", "2024-09-13T10:00:00Z", "2024-10-01T09:00:00Z"},
		{"MISSED=all TZ=Europe/Berlin 0 9 * * *", "2024-09-13T10:00:00Z", "2024-09-14T07:00:00Z"},

		// Before times begin, and where they end.
		{"0 0 * * *", "0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"},
		{"0 0 * * *", "9999-12-31T00:00:00Z", "10000-01-01T00:00:00Z"},
	} {
		s, now := parse(t, c.text), at(t, c.after)
		for run := range strings.SplitSeq(c.runs, " ") {
			now = s.Next(now)
			if run == "never" {
				require.True(t, now.IsZero(), "%s: %v", c.text, now)
				continue
			}
			require.Equal(t, run, now.Format(time.RFC3339Nano), c.text)
		}
	}
}

// The changes of clocks that the package's comment is about, and the odd ones of the tz database. Times
// are in UTC.
func TestNextAtChangesOfClocks(t *testing.T) {
	for _, c := range []struct{ zone, text, after, runs string }{
		{"Europe/Berlin", "30 2 * * *", "2024-03-30T12", "31T01:00 01T00:30"},              // 02:00 to 03:00
		{"Europe/Berlin", "*/20 2,3 * * *", "2024-03-30T12", "31T01:00 31T01:20 31T01:40"}, // once, with that of 03:00
		{"Europe/Berlin", "*/7 30 2 * * *", "2024-03-30T12", "31T01:00 01T00:30"},
		{"Europe/Berlin", "30 * * * *", "2024-03-31T00", "31T00:30 31T01:00 31T01:30"},
		{"Europe/Berlin", "0 * * * *", "2024-03-31T00", "31T01:00 31T02:00"},
		{"Europe/Berlin", "30 2 * * *", "2024-10-26T12", "27T00:30 28T01:30"}, // 03:00 to 02:00
		{"Europe/Berlin", "*/20 2 * * *", "2024-10-26T12", "27T00:00 27T00:20 27T00:40 28T01:00"},
		{"Europe/Berlin", "30 0-23 * * *", "2024-10-26T23", "26T23:30 27T00:30 27T02:30"},
		{"Europe/Berlin", "30 * * * *", "2024-10-26T23", "26T23:30 27T00:30 27T01:30 27T02:30"},
		{"Europe/Berlin", "30 */2 * * *", "2024-10-26T23", "27T00:30 27T01:30 27T03:30"},
		{"Europe/Berlin", "30 1,2/20 * * *", "2024-10-26T23", "26T23:30 27T00:30 27T01:30 27T21:30"},
		{"Europe/Berlin", "@hourly", "2024-10-26T23", "27T00:00 27T01:00 27T02:00"},
		{"Australia/Lord_Howe", "15 2 * * *", "2024-10-05T12", "05T15:30 06T15:15"}, // 02:00 to 02:30
		{"Australia/Lord_Howe", "45 1 * * *", "2024-04-05T16", "06T14:45 07T15:15"}, // 02:00 to 01:30
		{"Australia/Lord_Howe", "45 * * * *", "2024-04-06T14", "06T14:45 06T15:15 06T16:15"},
		{"America/Sao_Paulo", "0 0 * * *", "2018-11-03T12", "04T03:00 05T02:00"},      // 00:00 to 01:00
		{"America/Sao_Paulo", "30 23 * * *", "2018-02-17T12", "18T01:30 19T02:30"},    // 00:00 to 23:00
		{"America/Sao_Paulo", "30 23 17 * *", "2018-02-17T12", "18T01:30 18T02:30"},   // the day after is March's
		{"America/Sao_Paulo", "30 * 17 2 *", "2018-02-18T01", "18T01:30 18T02:30"},    // twice, and then next year
		{"Pacific/Apia", "0 12 * * *", "2011-12-29T12", "29T22:00 30T10:00 30T22:00"}, // the 30th is left out
		{"Pacific/Apia", "0 12 30 12 *", "2011-12-29T12", "30T10:00"},                 // as a whole
		{"Africa/Monrovia", "30 0 * * *", "1972-01-06T12", "07T00:44 08T00:30"},       // 00:00 to 00:44:30
		{"Antarctica/Troll", "30 1 * * *", "2024-03-30T12", "31T01:00 31T23:30"},      // 01:00 to 03:00
		{"Asia/Pyongyang", "45 23 * * *", "2018-05-04T00", "04T15:00 05T14:45"},       // 23:30 to 00:00
		{"America/Caracas", "45 2 * * *", "2007-12-08T12", "09T06:45 10T07:15"},       // 03:00 to 02:30, no summer time
	} {
		t.Run(c.zone+" "+c.text, func(t *testing.T) {
			s, now := parse(t, "CRON_TZ="+c.zone+" "+c.text), at(t, c.after+":00:00Z")
			var runs []string
			for range strings.Fields(c.runs) {
				now = s.Next(now)
				runs = append(runs, now.Format("02T15:04"))
			}
			require.Equal(t, c.runs, strings.Join(runs, " "))
		})
	}
}

// On the last day of a leap year, after the last change that the tables list, Time.ZoneBounds says that
// the offset has changed already.
func TestNextOnLastDaysOfLeapYears(t *testing.T) {
	s := parse(t, "CRON_TZ=Europe/Berlin 0 */6 * * *")
	require.Equal(t, "2040-12-31T05:00:00Z", s.Next(at(t, "2040-12-31T00:00:00Z")).Format(time.RFC3339))
	require.Equal(t, 3+364*4+2, s.Count(at(t, "2040-12-31T00:00:00Z"), at(t, "2041-12-31T05:00:00Z")))
}

// Next is in the zone of its argument, without a reading of the monotonic clock.
func TestZoneOfNext(t *testing.T) {
	tokyo := time.FixedZone("Tokyo", 9*3600)
	for _, text := range []string{"@every 1h", "CRON_TZ=America/New_York @hourly"} {
		next := parse(t, text).Next(time.Now().In(tokyo))
		require.Equal(t, next.Round(0), next)
		require.Equal(t, tokyo, next.Location())
	}
}

// Where Go's times end and wrap around, a run is later or there is none.
func TestNextAtTheEndsOfTime(t *testing.T) {
	for _, text := range []string{"@every 2540000h", "* * * * * *", "CRON_TZ=Europe/Berlin @yearly"} {
		s := parse(t, text)
		for _, after := range []int64{math.MinInt64, math.MinInt64 + 1<<56, -1 << 62, 1 << 62, math.MaxInt64 - 1<<56,
			math.MaxInt64 - 62135596801, math.MaxInt64} {
			now := time.Unix(after, 0)
			if next := s.Next(now); !next.IsZero() {
				require.True(t, next.After(now), "%s: %v, then %v", text, now, next)
			}
		}
	}
}

func TestTheZeroSchedule(t *testing.T) {
	var zero schedule.Schedule
	require.Zero(t, zero.Next(time.Now()))
	require.Empty(t, zero.String())
	require.Equal(t, zero, zero.OnMissed(schedule.MissedAll))
	require.Equal(t, schedule.MissedOnce, zero.Missed())
	data, err := json.Marshal(zero)
	require.NoError(t, err)
	require.Equal(t, `""`, string(data))
	other := parse(t, "@daily")
	require.NoError(t, json.Unmarshal(data, &other))
	require.Equal(t, zero, other)
}

// The text is canonical: Parse makes the same Schedule of it, rule and all.
func TestString(t *testing.T) {
	for text, want := range map[string]string{
		"@daily":             "@daily",
		"  0\t0  * * MON ":   "0 0 * * MON",
		"TZ=UTC 0 0 * * *":   "CRON_TZ=UTC 0 0 * * *",
		"MISSED=once @daily": "@daily",
		"MISSED=skip CRON_TZ=Asia/Tokyo 0 0 * * *":  "CRON_TZ=Asia/Tokyo MISSED=skip 0 0 * * *",
		"CRON_TZ=Asia/Tokyo MISSED=all @every  90s": "MISSED=all @every 90s",
	} {
		s := parse(t, text)
		require.Equal(t, want, s.String())
		require.True(t, s == parse(t, want), text)
		data, err := json.Marshal(s)
		require.NoError(t, err)
		var back schedule.Schedule
		require.NoError(t, json.Unmarshal(data, &back))
		require.True(t, s == back, text)
		for _, m := range []schedule.Missed{schedule.MissedOnce, schedule.MissedSkip, schedule.MissedAll} {
			changed := s.OnMissed(m)
			require.Equal(t, m, changed.Missed())
			require.True(t, changed == parse(t, changed.String()), changed.String())
			require.Equal(t, m == s.Missed(), changed == s)
			now := time.Now()
			require.Equal(t, s.Next(now), changed.Next(now))
		}
	}
}

func TestEqual(t *testing.T) {
	require.True(t, parse(t, "0 0 * * *") == parse(t, " 0 0 * * * "))
	require.False(t, parse(t, "0 0 * * *") == parse(t, "CRON_TZ=Asia/Tokyo 0 0 * * *"))
	require.False(t, parse(t, "0 0 * * *") == parse(t, "0 1 * * *"))
	require.False(t, parse(t, "@every 1s") == parse(t, "@every 2s"))
}

func TestNamesOfMissed(t *testing.T) {
	require.Equal(t, "once skip all Missed(3) Missed(-1)", fmt.Sprint(schedule.MissedOnce, schedule.MissedSkip,
		schedule.MissedAll, schedule.Missed(3), schedule.Missed(-1)))
	for _, m := range []schedule.Missed{-1, 3} {
		require.Panics(t, func() { parse(t, "@daily").OnMissed(m) })
		require.Panics(t, func() { schedule.Schedule{}.OnMissed(m) })
	}
}

// A failed UnmarshalText changes nothing.
func TestUnmarshalText(t *testing.T) {
	s := parse(t, "@daily")
	require.ErrorIs(t, s.UnmarshalText([]byte("@dayly")), hierarchy.ErrArgument)
	require.Equal(t, parse(t, "@daily"), s)
}

// A copy is a word, and Next allocates nothing.
func TestCost(t *testing.T) {
	s, now := parse(t, "CRON_TZ=Europe/Berlin 30 2 * * *"), time.Now()
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Next(now) }))
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		text, after, until string
		n                  int64
	}{
		{"@every 90s", "2024-01-01T00:00:00Z", "2024-01-01T00:03:00Z", 2}, // until counts
		{"@every 90s", "2024-01-01T00:00:00Z", "2024-01-01T00:02:59.9Z", 1},
		{"@every 1500ms", "2024-01-01T00:00:00.9Z", "2024-01-01T00:00:02.4Z", 1},
		{"@every 1ms", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 31_622_400_000},
		{"* * * * * *", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 366 * 24 * 3600},
		{"* * * * * *", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z", 0}, // after does not
		{"* * * * * *", "2024-01-01T00:00:00Z", "2023-01-01T00:00:00Z", 0},
		{"@daily", "2000-01-01T00:00:00Z", "9999-01-01T00:00:00Z", 36525}, // of 100 years
		{"0 0 30 2 *", "2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z", 0},
		{"CRON_TZ=Europe/Berlin 30 2 * * *", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 366},
		{"CRON_TZ=Europe/Berlin 30 * * * *", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 366*24 + 1}, // 02:30 at 03:00
		{"CRON_TZ=Europe/Berlin * * * * *", "2023-12-31T23:00:00Z", "2024-12-31T23:00:00Z", 366 * 24 * 60},
	} {
		require.EqualValues(t, min(c.n, math.MaxInt), parse(t, c.text).Count(at(t, c.after), at(t, c.until)), c.text)
	}
	require.Zero(t, schedule.Schedule{}.Count(time.Unix(0, 0), time.Unix(1e9, 0)))
	require.Equal(t, math.MaxInt, parse(t, "@every 1ms").Count(time.Unix(-1<<62, 0), time.Unix(1<<62, 0)))
	require.Zero(t, parse(t, "@daily").Count(time.Unix(1<<60, 0), time.Unix(1<<61, 0)))
}

// What String returns, Parse accepts, also for the longest text, whatever rule and delay it got.
func TestLongestTextWithSettings(t *testing.T) {
	fields := strings.TrimSuffix(strings.Repeat("1,", (schedule.MaxText-len(" * * * *"))/2), ",") + " * * * *"
	fields += strings.Repeat(",*", (schedule.MaxText-len(fields))/2)
	for _, text := range []string{fields, "CRON_TZ=America/Argentina/ComodRivadavia " + fields} {
		s := schedule.Spread(schedule.MustParse(text).OnMissed(schedule.MissedSkip), schedule.MaxSpread, "key")
		again, err := schedule.Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, s, again)
	}
	_, err := schedule.Parse(fields + ",*")
	require.ErrorContains(t, err, "are more than")
}
