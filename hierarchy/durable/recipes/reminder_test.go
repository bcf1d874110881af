package recipes

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// alarmClock reminds of something at a time of the day, every day, in the user's time zone.
type alarmClock struct {
	Text, Zone   string
	Hour, Minute int
}

// next is the first such time after now, also where clocks change in summer.
func (a alarmClock) next(now time.Time) (time.Time, error) {
	zone, err := time.LoadLocation(a.Zone)
	if err != nil {
		return time.Time{}, err
	}
	y, m, d := now.In(zone).Date()
	t := time.Date(y, m, d, a.Hour, a.Minute, 0, 0, zone)
	if !t.After(now) {
		t = time.Date(y, m, d+1, a.Hour, a.Minute, 0, 0, zone)
	}
	return t, nil
}

type alarms struct {
	clock  clock.Clock
	remind func(ctx context.Context, user, text string) error
	timers *durable.Keyed[string, alarmClock] // by user
}

func openAlarms(ctx context.Context, dir string, c clock.Clock, remind func(context.Context, string, string) error) (a *alarms, err error) {
	a = &alarms{clock: c, remind: remind}
	a.timers, err = durable.Open(ctx, durable.Config[string, alarmClock]{Dir: dir, Name: "alarms", Clock: c, Handle: a.ring})
	return a, err
}

func (a *alarms) set(ctx context.Context, user string, x alarmClock) error {
	t, err := x.next(a.clock.Now())
	if err != nil {
		return err
	}
	_, err = a.timers.SetAt(ctx, user, x, t)
	return err
}

// ring sets the user's alarm for the next day last, as this replaces the timer that rings, and ends
// ctx. If the process dies before, it rings again.
func (a *alarms) ring(ctx context.Context, f durable.Firing[string, alarmClock]) error {
	if err := a.remind(ctx, f.Key, f.Value.Text); err != nil {
		return err
	}
	return a.set(context.WithoutCancel(ctx), f.Key, f.Value)
}

// An alarm at seven rings at seven on both sides of a change of clocks.
func TestAlarmsFollowTheWallClock(t *testing.T) {
	ctx, mock, dir := t.Context(), clock.NewMock(), t.TempDir()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("the system has no time zones")
	}
	mock.Set(time.Date(2030, time.March, 30, 0, 0, 0, 0, zone)) // clocks change on the 31st
	var rung []string
	remind := func(_ context.Context, user, text string) error {
		rung = append(rung, mock.Now().In(zone).Format("2 15:04 ")+user+" "+text)
		return nil
	}
	a, err := openAlarms(ctx, dir, mock, remind)
	require.NoError(t, err)
	require.NoError(t, a.set(ctx, "ann", alarmClock{"run", "Europe/Berlin", 7, 0}))
	require.Error(t, a.set(ctx, "bob", alarmClock{Zone: "Nowhere"}))
	mock.Add(24 * time.Hour)
	require.NoError(t, a.timers.Close())
	a, err = openAlarms(ctx, dir, mock, remind)
	require.NoError(t, err)
	defer a.timers.Close()
	mock.Add(48 * time.Hour)
	require.Equal(t, []string{"30 07:00 ann run", "31 07:00 ann run", "1 07:00 ann run"}, rung)
}
