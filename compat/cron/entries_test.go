package cron_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/cron"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// start is when the tests on a mock begin: a Saturday, the day before clocks in Berlin go forward.
var start = time.Date(2030, 3, 30, 0, 0, 0, 0, time.UTC)

// onMock returns a Cron in UTC on a mock clock.
func onMock(t *testing.T, opts ...cron.Option) (*cron.Cron, *clock.Mock) {
	m := clock.NewMock()
	m.Set(start)
	c := cron.New(append([]cron.Option{cron.WithClock(m), cron.WithLocation(time.UTC)}, opts...)...)
	t.Cleanup(func() { c.Stop() })
	return c, m
}

// diary notes when jobs run.
type diary struct {
	m     *clock.Mock
	lines []string
}

func (d *diary) job(name string) func() {
	return func() { d.lines = append(d.lines, d.m.Now().Format("02T15:04:05 ")+name) }
}

// take returns the lines since the last call.
func (d *diary) take() string {
	lines := strings.Join(d.lines, ", ")
	d.lines = nil
	return lines
}

func add(t *testing.T, c *cron.Cron, spec string, f func()) cron.EntryID {
	t.Helper()
	id, err := c.AddFunc(spec, f)
	require.NoError(t, err)
	return id
}

func TestEntriesRunAtTheirTimes(t *testing.T) {
	c, m := onMock(t)
	d := &diary{m: m}
	add(t, c, "30 2 * * *", d.job("early"))
	c.Start()
	add(t, c, "@every 7h", d.job("seven"))
	id := add(t, c, "CRON_TZ=Asia/Tokyo 0 6 * * *", d.job("Tokyo"))
	m.Add(24 * time.Hour)
	require.Equal(t, "30T02:30:00 early, 30T07:00:00 seven, 30T14:00:00 seven, 30T21:00:00 Tokyo, 30T21:00:00 seven",
		d.take())
	c.Remove(id)
	m.Add(24 * time.Hour)
	require.Equal(t, "31T02:30:00 early, 31T04:00:00 seven, 31T11:00:00 seven, 31T18:00:00 seven", d.take())
}

// Entries are snapshots in order of their next time, without one last.
func TestEntries(t *testing.T) {
	c, m := onMock(t)
	never := add(t, c, "0 0 30 2 *", func() {})
	daily := add(t, c, "@daily", func() {})
	hourly := add(t, c, "@hourly", func() {})
	ids := func() (ids []cron.EntryID) {
		for _, e := range c.Entries() {
			require.True(t, e.Valid())
			require.Equal(t, e.ID, c.Entry(e.ID).ID)
			ids = append(ids, e.ID)
		}
		return ids
	}
	require.Equal(t, []cron.EntryID{never, daily, hourly}, ids())
	require.Zero(t, c.Entry(daily).Next)
	c.Start()
	require.Equal(t, []cron.EntryID{hourly, daily, never}, ids())
	m.Add(90 * time.Minute)
	e := c.Entry(hourly)
	require.Equal(t, start.Add(time.Hour), e.Prev)
	require.Equal(t, start.Add(2*time.Hour), e.Next)
	require.Zero(t, c.Entry(daily).Prev)
	require.Zero(t, c.Entry(never).Next)
	c.Remove(hourly)
	require.False(t, c.Entry(hourly).Valid())
	require.False(t, c.Entry(0).Valid())
	require.Equal(t, []cron.EntryID{daily, never}, ids())
}

// Inside a job, its Entry has the next time already, and the job may do anything with its Cron.
func TestAJobAndItsEntry(t *testing.T) {
	c, m := onMock(t)
	var id cron.EntryID
	runs := 0
	id = add(t, c, "@hourly", func() {
		runs++
		require.Equal(t, m.Now(), c.Entry(id).Prev)
		require.Equal(t, m.Now().Add(time.Hour), c.Entry(id).Next)
		if runs == 3 {
			add(t, c, "@hourly", func() { runs += 100; c.Stop(); c.Start() })
			c.Remove(id)
		}
	})
	c.Start()
	m.Add(5 * time.Hour)
	require.Equal(t, 203, runs)
	require.Len(t, c.Entries(), 1)
}

// An entry that waits while the Cron is stopped runs again when it is started, and what it missed is gone.
func TestStopAndStart(t *testing.T) {
	c, m := onMock(t)
	d := &diary{m: m}
	add(t, c, "0 6,18 * * *", d.job("job"))
	m.Add(12 * time.Hour) // not started yet
	c.Start()
	c.Start()
	m.Add(12 * time.Hour)
	c.Stop()
	c.Stop()
	m.Add(12 * time.Hour)
	c.Start()
	m.Add(12 * time.Hour)
	require.Equal(t, "30T18:00:00 job, 31T18:00:00 job", d.take())
}

// The zone of the Cron is that of times that it shows and of texts without one.
func TestLocation(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	c, m := onMock(t, cron.WithLocation(tokyo))
	d := &diary{m: m}
	id := add(t, c, "0 6 * * *", d.job("job"))
	c.Start()
	require.Equal(t, tokyo, c.Location())
	require.Equal(t, "2030-03-30T06:00:00+09:00", c.Entry(id).Next.Add(-24*time.Hour).Format(time.RFC3339))
	m.Add(24 * time.Hour)
	require.Equal(t, "30T21:00:00 job", d.take())
}

// A wall clock that is set makes no job run before its time, nor twice for one.
func TestTheWallClockIsSet(t *testing.T) {
	c, m := onMock(t)
	d := &diary{m: m}
	add(t, c, "0 * * * *", d.job("job"))
	c.Start()
	m.Add(90 * time.Minute)
	m.Jump(-time.Hour) // 00:30
	m.Add(2 * time.Hour)
	require.Equal(t, "30T01:00:00 job, 30T02:00:00 job", d.take())
	m.Jump(5 * time.Hour) // 07:30, as after a suspension
	m.Add(time.Hour)
	require.Equal(t, "30T07:30:00 job, 30T08:00:00 job", d.take())
}

// A Schedule of hierarchy/schedule keeps its rule for missed runs.
func TestRuleForMissedRuns(t *testing.T) {
	c, m := onMock(t)
	d := &diary{m: m}
	for _, rule := range []schedule.Missed{schedule.MissedOnce, schedule.MissedSkip, schedule.MissedAll} {
		c.Schedule(schedule.MustParse("@hourly").OnMissed(rule), cron.FuncJob(d.job(rule.String())))
	}
	c.Start()
	m.Jump(2*time.Hour + 30*time.Minute)
	m.Add(0)
	require.Equal(t, "30T02:30:00 once, 30T02:30:00 all, 30T02:30:00 all", d.take())
	for _, e := range c.Entries() {
		require.Equal(t, start.Add(3*time.Hour), e.Next)
	}
	m.Add(30 * time.Minute)
	require.Equal(t, "30T03:00:00 once, 30T03:00:00 skip, 30T03:00:00 all", d.take())
}

// planned is a function as a Schedule.
type planned func(time.Time) time.Time

func (p planned) Next(t time.Time) time.Time { return p(t) }

// A time that has passed already when the job is added is due at once. A schedule that then does not advance has no
// further run, and the Logger learns of it.
func TestSchedulesThatDoNotAdvance(t *testing.T) {
	for name, s := range map[string]planned{
		"argument": func(t time.Time) time.Time { return t },
		"past":     func(t time.Time) time.Time { return t.Add(-time.Hour) },
		"fixed":    func(time.Time) time.Time { return start },
	} {
		t.Run(name, func(t *testing.T) {
			var log logged
			c, m := onMock(t, cron.WithLogger(&log))
			runs := 0
			id := c.Schedule(s, cron.FuncJob(func() { runs++ }))
			c.Start()
			m.Add(time.Hour)
			require.Equal(t, 1, runs)
			require.Zero(t, c.Entry(id).Next)
			require.Equal(t, 1, log.errors)
		})
	}
}

// logged is a Logger that keeps what it is told.
type logged struct {
	lines  []string
	errors int
}

func (l *logged) Info(msg string, pairs ...any) {
	l.lines = append(l.lines, fmt.Sprintln(append([]any{msg}, pairs...)...))
}
func (l *logged) Error(error, string, ...any) { l.errors++ }

func TestLogger(t *testing.T) {
	var log logged
	c, m := onMock(t, cron.WithLogger(&log))
	add(t, c, "@hourly", func() {})
	c.Start()
	id := add(t, c, "0 0 30 2 *", func() {})
	m.Add(time.Hour)
	c.Remove(id)
	c.Stop()
	require.Equal(t, ``+
		"start\n"+
		"schedule now 2030-03-30 00:00:00 +0000 UTC entry 1 next 2030-03-30 01:00:00 +0000 UTC\n"+
		"added now 2030-03-30 00:00:00 +0000 UTC entry 2 next 0001-01-01 00:00:00 +0000 UTC\n"+
		"run now 2030-03-30 01:00:00 +0000 UTC entry 1 next 2030-03-30 02:00:00 +0000 UTC\n"+
		"removed entry 2\n"+
		"stop\n", strings.Join(log.lines, ""))
}
