package clock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// jumpAlarm is an alarm that is told of jumps.
type jumpAlarm interface {
	clock.Alarm
	OnJump(func())
}

// An alarm that is told of jumps can ring at a wall time. The functions are called in their order.
func TestMockAlarmIsToldOfJumps(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	due := m.Now().Add(time.Hour)
	first := m.NewAlarm(tr.note("rings")).(jumpAlarm)
	second := m.NewAlarm(func() {}).(jumpAlarm)
	second.OnJump(tr.note("replaced"))
	first.OnJump(func() {
		tr.note(m.Now().Format(time.TimeOnly))()
		first.Set(m.Elapsed() + due.Sub(m.Now()))
	})
	second.OnJump(tr.note("second"))
	m.Jump(59 * time.Minute)
	require.Equal(t, []string{"00:59:00", "second"}, tr.take())
	m.Add(time.Minute - 1)
	require.Empty(t, tr.take())
	m.Add(1)
	require.Equal(t, []string{"rings"}, tr.take())
	m.Add(-2 * time.Hour) // is a jump
	require.Equal(t, []string{"23:00:00", "second"}, tr.take())
	first.OnJump(nil)
	m.Set(m.Now().Add(-time.Second))
	require.Equal(t, []string{"second"}, tr.take())
	second.OnJump(nil)
	m.Jump(time.Hour)
	require.Empty(t, tr.take())
}
