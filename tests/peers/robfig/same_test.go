package robfig

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"

	epicycle "github.com/epicycle-go/epicycle/compat/cron"
)

// parsed is what a parser makes of a text: the schedule, an error or a panic.
func parsed[S any](parse func(string) (S, error), text string) (s S, outcome string) {
	defer func() {
		if recover() != nil {
			outcome = "panic"
		}
	}()
	s, err := parse(text)
	if err != nil {
		return s, "error"
	}
	return s, "ok"
}

// randomText makes a text of five fields, most of them valid.
func randomText(r *rand.Rand) string {
	item := func(low, high int) string {
		n := func() int { return low + r.IntN(high-low+1) + r.IntN(20)/19 }
		text := []string{"*", "?", fmt.Sprint(n()), fmt.Sprint(n()), fmt.Sprint(low, "-", n()), "5-", "-5", "*-3", "", "x"}[r.IntN(6)+
			r.IntN(50)/49*4]
		text = strings.ReplaceAll(text, " ", "")
		if r.IntN(4) == 0 {
			text += fmt.Sprint("/", r.IntN(30))
		}
		return text
	}
	field := func(low, high int) string {
		items := []string{item(low, high)}
		for r.IntN(3) == 0 {
			items = append(items, item(low, high))
		}
		return strings.Join(items, ",")
	}
	fields := []string{field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)}
	if r.IntN(10) == 0 {
		fields[3], fields[4] = "Jan,feb-APR", "mon-Fri"
	}
	return strings.Join(fields, " ")
}

// Both parsers accept the same texts and make the same fields of them, but for texts on which robfig/cron panics, and
// for fields without a value.
func TestSameFields(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	texts := []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@every 90s", "@every 0s",
		"@every", "@reboot", "", " ", "TZ=UTC", "TZ=UTC @daily", "CRON_TZ=Asia/Tokyo  30 2 * * *", "TZ=Nowhere * * * * *", "TZ= * * * * *",
		"* * * *", "* * * * * *", ", * * * *"}
	for range 50_000 {
		texts = append(texts, randomText(r))
	}
	accepted := 0
	for _, text := range texts {
		want, wanted := parsed(robfig.ParseStandard, text)
		got, gotten := parsed(epicycle.ParseStandard, text)
		if want, ok := want.(*robfig.SpecSchedule); wanted == "panic" ||
			ok && (want.Minute == 0 || want.Hour == 0 || want.Dom == 0 || want.Month == 0 || want.Dow == 0) {
			require.Equal(t, "error", gotten, text)
			continue
		}
		require.Equal(t, wanted, gotten, text)
		if wanted == "ok" {
			accepted++
			require.Equal(t, fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got), text)
		}
	}
	require.Greater(t, accepted, len(texts)/10)
}

// shown reports whether the clock on the wall shows a time that s allows.
func shown(s *robfig.SpecSchedule, t time.Time) bool {
	has := func(field uint64, v int) bool { return field>>v&1 != 0 }
	day, weekday := has(s.Dom, t.Day()), has(s.Dow, int(t.Weekday()))
	days := day || weekday
	if (s.Dom|s.Dow)>>63 != 0 {
		days = day && weekday
	}
	return t.Second() == 0 && has(s.Minute, t.Minute()) && has(s.Hour, t.Hour()) && has(s.Month, int(t.Month())) && days
}

// first returns the first minute after t that s allows, found by looking at each.
func first(s *robfig.SpecSchedule, t time.Time) time.Time {
	for t = t.Truncate(time.Minute).Add(time.Minute); !shown(s, t.In(s.Location)); t = t.Add(time.Minute) {
	}
	return t
}

// Where the times of the two differ, compat/cron has the first time that the clock on the wall shows and the fields
// allow, and robfig/cron has another one. That happens only around changes of clocks.
func TestWhereTimesDiffer(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	differ := map[string]int{}
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Cairo",
		"America/Santiago", "Asia/Beirut", "America/Havana", "Antarctica/Troll", "Asia/Kathmandu"}
	for range 60_000 {
		zone := zones[r.IntN(len(zones))]
		text := fmt.Sprintf("CRON_TZ=%s %d %d,%d * * %s", zone, r.IntN(4)*15, r.IntN(24), r.IntN(4), []string{"*", "*", "sat,sun"}[r.IntN(3)])
		want, err := robfig.ParseStandard(text)
		require.NoError(t, err)
		got, err := epicycle.ParseStandard(text)
		require.NoError(t, err)
		now := time.Date(2010+r.IntN(15), 1, 1, 0, r.IntN(366*24*60), 0, 0, time.UTC)
		a, b := want.Next(now), got.Next(now)
		if a.Equal(b) {
			continue
		}
		differ[zone]++
		require.Equal(t, first(want.(*robfig.SpecSchedule), now), b, "%s after %v: robfig/cron has %v", text, now, a)
	}
	t.Log(differ)
	require.NotEmpty(t, differ)
	require.Zero(t, differ["UTC"]+differ["Asia/Kathmandu"])
}
