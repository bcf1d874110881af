package recipes

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// desk escalates tickets that are not answered in time.
type desk struct {
	waiting *durable.Keyed[string, string] // by ticket, with the level to which it is escalated
}

func openDesk(ctx context.Context, dir string, c clock.Clock, escalate func(ticket, level string) error) (d *desk, err error) {
	d = &desk{}
	d.waiting, err = durable.Open(ctx, durable.Config[string, string]{
		Dir: dir, Clock: c, Name: "sla",
		Handle: func(_ context.Context, f durable.Firing[string, string]) error { return escalate(f.Key, f.Value) },
	})
	return d, err
}

// opened starts the clock of a ticket, unless it runs already.
func (d *desk) opened(ctx context.Context, ticket, level string, within time.Duration) error {
	_, _, err := d.waiting.SetIfAbsent(ctx, ticket, level, within)
	return err
}

// answered stops it. It reports whether the answer came before escalate was called.
func (d *desk) answered(ctx context.Context, ticket string) (bool, error) {
	e, ok, err := d.waiting.RemoveEntry(ctx, ticket)
	return ok && e.State == durable.StateWaiting && e.Attempt == 0, err
}

func TestDeskEscalatesWhatIsNotAnswered(t *testing.T) {
	mock, ctx := clock.NewMock(), t.Context()
	var escalated []string
	d, err := openDesk(ctx, t.TempDir(), mock, func(ticket, level string) error {
		escalated = append(escalated, ticket+" to "+level)
		return nil
	})
	require.NoError(t, err)
	defer d.waiting.Close()
	require.NoError(t, d.opened(ctx, "1", "second level", time.Hour))
	require.NoError(t, d.opened(ctx, "2", "second level", time.Hour))
	mock.Add(30 * time.Minute)
	require.NoError(t, d.opened(ctx, "2", "second level", time.Hour), "again: its clock runs on")
	inTime, err := d.answered(ctx, "1")
	require.NoError(t, err)
	require.True(t, inTime)
	mock.Add(30 * time.Minute)
	require.Equal(t, []string{"2 to second level"}, escalated)
	inTime, err = d.answered(ctx, "2")
	require.NoError(t, err)
	require.False(t, inTime)
}
