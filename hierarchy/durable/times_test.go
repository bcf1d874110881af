package durable_test

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// A time that logs can't have is replaced by the nearest one where it is set, and refused in a line and in a schedule.
func TestTimesBeyondAll(t *testing.T) {
	w := open(t, exportConfig(t, clock.NewMock(), 1))
	latest, after := time.Unix(0, math.MaxInt64), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{latest.Add(-1), latest, latest.Add(1), after} {
		require.NoError(t, errOf(w.SetAt(t.Context(), "k", "v", at)))
		e, ok, err := w.Lookup(t.Context(), "k")
		require.NoError(t, err)
		require.True(t, ok)
		if at.After(latest) {
			at = latest
		}
		require.Equal(t, at.UTC(), e.Due.UTC())
	}
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", math.MaxInt64)))
	line := exported(t, w)[0]
	due := regexp.MustCompile(`"due":"[^"]*"`)
	for text, good := range map[string]bool{
		latest.UTC().Format(time.RFC3339Nano): true, latest.Add(1).UTC().Format(time.RFC3339Nano): false, "9999-12-31T23:59:59Z": false,
		"0001-01-01T00:00:00Z": false,
	} {
		n, err := w.Import(t.Context(), strings.NewReader(due.ReplaceAllString(line, `"due":"`+text+`"`)+`{"timers":1}`))
		if good {
			require.NoError(t, err, text)
			require.Equal(t, 1, n)
			continue
		}
		require.ErrorIs(t, err, durable.ErrArgument, text)
		require.Zero(t, n)
	}
	require.ErrorIs(t, errOf(w.SetSchedule(t.Context(), "s", "v", parse(t, "@every 2562047h"))), durable.ErrArgument)
	_, ok, err := w.Lookup(t.Context(), "s")
	require.NoError(t, err)
	require.False(t, ok)
}
