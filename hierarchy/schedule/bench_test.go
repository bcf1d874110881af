package schedule_test

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

func BenchmarkNext(b *testing.B) {
	for name, text := range map[string]string{
		"every":    "@every 90s",
		"utc":      "30 2 * * *",
		"zone":     "CRON_TZ=Europe/Berlin 30 2 * * *",
		"second":   "CRON_TZ=Europe/Berlin * * * * * *",
		"28 years": "CRON_TZ=Europe/Berlin 0 0 29 2 */7", // leap days that are Sundays: 2032 and 2060
		"never":    "CRON_TZ=Europe/Berlin 0 0 30 2 *",
	} {
		b.Run(name, func(b *testing.B) {
			s, now := parse(b, text), time.Date(2032, 7, 1, 12, 0, 0, 0, time.UTC)
			b.ReportAllocs()
			for b.Loop() {
				s.Next(now)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = schedule.Parse("CRON_TZ=Europe/Berlin 30 2 * * mon-fri")
	}
}
