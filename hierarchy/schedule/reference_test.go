package schedule_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

var (
	seed  = flag.Uint64("seed", 0, "of random tests; 0: another one each time")
	whole = flag.Bool("whole", false, "ask the oracles about all zones, and try more random schedules")
)

func random(t *testing.T) *rand.Rand {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// few returns n, or all of them with the flag whole.
func few(n, all int) int {
	switch {
	case *whole:
		return all
	case testing.Short():
		return n/10 + 1
	}
	return n
}

// walk returns the runs from first to last by looking at the clock each second. It begins two days
// before, to know what the clock has shown and left out already.
func walk(loc *time.Location, r *rules, first, last int64) []int64 {
	const before, zones = 2 * 24 * 3600, 26 * 3600
	begin := first - before
	was := make([]bool, last-begin+3*zones) // by wall times from base on: shown or left out already
	wall := begin + offset(loc, begin)
	base := wall - zones
	var runs []int64
	for t := begin; t <= last; t++ {
		shown, run := t+offset(loc, t), false
		for wall++; wall < shown; wall++ { // left out
			run = run || t >= first && !was[wall-base] && r.matches(wall)
			was[wall-base] = true
		}
		wall = shown
		if t >= first && (!was[wall-base] || r.bothTimes) {
			run = run || r.matches(wall)
		}
		was[wall-base] = true
		if run {
			runs = append(runs, t)
		}
	}
	return runs
}

// Around changes of clocks, in all zones since their beginning, Next finds what one sees who looks
// at the clock each second.
func TestNextAsByWalking(t *testing.T) {
	rng, names := random(t), zones(t)
	for range few(30, 5000) {
		zone := names[rng.IntN(len(names))]
		loc := location(t, zone)
		moments := changes(loc, unix(0).AddDate(-170, 0, 0).Unix(), unix(0).AddDate(90, 0, 0).Unix())
		for range min(10, len(moments)) {
			r, moment := randomRules(rng, false), moments[rng.IntN(len(moments))]
			first, last := moment-rng.Int64N(5*3600), moment+rng.Int64N(5*3600)
			s := parse(t, "CRON_TZ="+zone+" "+r.text)
			want, got := walk(loc, r, first, last), runs(s, first, last)
			require.Equal(t, want, got, "%s from %v to %v", s, unix(first), unix(last))
			require.Equal(t, len(want), s.Count(unix(first-1), unix(last)), "%s from %v to %v", s, unix(first), unix(last))
		}
	}
}

// runs returns the runs of s from first to last.
func runs(s schedule.Schedule, first, last int64) []int64 {
	var runs []int64
	for now := s.Next(unix(first - 1)); !now.IsZero() && now.Unix() <= last; now = s.Next(now) {
		runs = append(runs, now.Unix())
	}
	return runs
}

// Far from changes of clocks the calendar is what matters: Next finds the day that one finds who
// leafs through it.
func TestNextAsByLeafing(t *testing.T) {
	rng := random(t)
	for range few(5000, 500_000) {
		r := randomRules(rng, false)
		s, allDay := parse(t, r.text), r.allDay()
		now := unix(rng.Int64N(8e9) - 3e9)
		until := now.Add(time.Duration(rng.Int64N(3 * 24 * 3600 * int64(time.Second))))
		require.Equal(t, len(runs(s, now.Unix()+1, until.Unix())), s.Count(now, until), "%s from %v to %v", s, now, until)
		for range 5 {
			next, day, end := s.Next(now), now.Truncate(24*time.Hour), now.AddDate(100, 0, 0)
			if !next.IsZero() {
				require.True(t, r.matches(next.Unix()), "%s: %v", s, next)
				end = next.Truncate(24 * time.Hour)
			}
			for day = day.AddDate(0, 0, 1); day.Before(end); day = day.AddDate(0, 0, 1) {
				if allDay.matches(day.Unix()) {
					require.Fail(t, "left out", "%s: none on %v between %v and %v", s, day, now, next)
				}
			}
			if next.IsZero() {
				break
			}
			now = next
		}
	}
}

// allDay returns r with runs at all times of the days that have any.
func (r *rules) allDay() *rules {
	all := *r
	for i := range all.second {
		all.second[i], all.minute[i], all.hour[i] = true, true, true
	}
	return &all
}
