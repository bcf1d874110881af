package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// Whatever the text, Parse returns an error or a schedule whose own text makes the same one, and Next
// always goes forward.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"@every 90s", "@daily", "CRON_TZ=Europe/Berlin 30 2 * * *", "MISSED=all */10 5-40/7,1 ? 31 feb mon-fri/2",
		"TZ=Australia/Lord_Howe MISSED=skip 15 2,*/3 * * 7", "0 0 29 2 */7", "SPREAD=1h2m3s CRON_TZ=Europe/Berlin @daily", "@every", "60 * * * *"} {
		f.Add(text, int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, now int64) {
		s, err := schedule.Parse(text)
		if err != nil {
			require.ErrorIs(t, err, hierarchy.ErrArgument)
			require.Less(t, len(err.Error()), 1000)
			return
		}
		again, err := schedule.Parse(s.String())
		require.NoError(t, err)
		require.True(t, s == again, "%q %q", text, s)
		after := unix(now)
		for range 5 {
			next := s.Next(after)
			if next.IsZero() {
				break
			}
			require.True(t, next.After(after), "%q: %v, then %v", text, after, next)
			after = next
		}
	})
}
