package schedule_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// An error says which field is wrong, where, and why.
func TestErrorsOfParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      `"": it has no times, such as "@daily" or "30 2 * * *"`,
		" CRON_TZ=UTC ":                         `it has no times`,
		"* * *":                                 "it has 3 fields: there must be five",
		"* * * * * * *":                         "it has 7 fields: there must be five",
		"60 * * * *":                            "minute, column 1: 60 is not in the range 0-59",
		"60 * * * * *":                          "second, column 1: 60 is not in the range 0-59",
		"0  24 * * *":                           "hour, column 4: 24 is not in the range 0-23",
		"0 0 0 * *":                             "day of month, column 5: 0 is not in the range 1-31",
		"0 0 1,32 * *":                          "day of month, column 7: 32 is not in the range 1-31",
		"0 0 * 13 *":                            "month, column 7: 13 is not in the range 1-12",
		"0 0 * * 8":                             "day of week, column 9: 8 is not in the range 0-7",
		"0 0 * * mon-funday":                    `day of week, column 13: "funday" is no number and no name, such as mon`,
		"0 0 * mon *":                           `month, column 7: "mon" is no number and no name, such as feb`,
		"0 mon * * *":                           `hour, column 3: "mon" is no number`,
		"0 0 L * *":                             `day of month, column 5: "L" is no number`,
		"0 0 -1 * *":                            "day of month, column 5: a number is missing",
		"0 0 +1 * *":                            `day of month, column 5: "+1" is no number`,
		"0 0 1, * *":                            "day of month, column 7: a number is missing",
		"0 0 1,,2 * *":                          "day of month, column 7: a number is missing",
		"0 22-2 * * *":                          `hour, column 3: "22-2" ends before it begins`,
		"0 22-0 * * *":                          `hour, column 3: "22-0" ends before it begins`,
		"0 0 * * fri-mon":                       `day of week, column 9: "fri-mon" ends before it begins`,
		"0 0-2-4 * * *":                         `hour, column 5: "2-4" is no number`,
		"*-5 * * * *":                           `minute, column 1: "*" is no number`,
		"*/0 * * * *":                           "minute, column 3: the step 0 is not in the range 1-60",
		"*/61 * * * *":                          "minute, column 3: the step 61 is not in the range 1-60",
		"*/ * * * *":                            "minute, column 3: a number is missing",
		"*/2/2 * * * *":                         `minute, column 3: "2/2" is no number`,
		"** * * * *":                            `minute, column 1: "**" is no number`,
		"99999999999999999 * * * *":             `"99999999999999999" is no number`,
		"\xff * * * *":                          `minute, column 1: "\xff" is no number`,
		"@dayly":                                `column 1: unknown name "@dayly": there are @every, @annually,`,
		"@reboot":                               `unknown name "@reboot"`,
		"@daily 5":                              "column 8: nothing may follow @daily",
		"@every":                                "period, column 1: one period must follow @every",
		"@every 1h 30m":                         "period, column 1: one period must follow @every",
		"@every 1d":                             `period, column 8: "1d" is none, such as "90s"`,
		"@every 0s":                             `period, column 8: "0s" is shorter than 1ms`,
		"@every -1h":                            `period, column 8: "-1h" is shorter than 1ms`,
		"@every 9999999h":                       `period, column 8: "9999999h" is none`,
		"CRON_TZ= @daily":                       "zone, column 1: its name is missing",
		"CRON_TZ=Local @daily":                  "zone, column 1: Local is another zone on each machine",
		"CRON_TZ=Mars/Base @daily":              "zone, column 1: this process does not know it: unknown time zone Mars/Base",
		"TZ=../UTC @daily":                      "zone, column 1: this process does not know it",
		"TZ=UTC CRON_TZ=UTC @daily":             "zone, column 8: it is set twice",
		"MISSED=never @daily":                   `rule for missed runs, column 1: "MISSED=never" is none of MISSED=once, skip and all`,
		"MISSED=all MISSED=all @daily":          "rule for missed runs, column 12: it is set twice",
		"SPREAD= @daily":                        `delay, column 1: "SPREAD=" is none in whole seconds, of at most 8784h0m0s`,
		"SPREAD=500ms @daily":                   `delay, column 1: "SPREAD=500ms" is none`,
		"SPREAD=1500ms @daily":                  `delay, column 1: "SPREAD=1500ms" is none`,
		"SPREAD=-1s @daily":                     `delay, column 1: "SPREAD=-1s" is none`,
		"SPREAD=0s @daily":                      `delay, column 1: "SPREAD=0s" is none`,
		"SPREAD=8784h0m1s @daily":               `delay, column 1: "SPREAD=8784h0m1s" is none`,
		"SPREAD=1s SPREAD=2s @daily":            "delay, column 11: it is set twice",
		"@daily MISSED=all":                     "column 8: nothing may follow @daily",
		strings.Repeat("1,", 600) + "1 * * * *": "1209 bytes are more than 1024",
	} {
		s, err := schedule.Parse(text)
		require.ErrorContains(t, err, want, text)
		require.ErrorIs(t, err, hierarchy.ErrArgument)
		require.Regexp(t, "^schedule: \"", err.Error())
		require.Less(t, len(err.Error()), 500, text)
		require.Zero(t, s)
	}
}

// Texts that mean the same have the same runs.
func TestSyntax(t *testing.T) {
	for text, same := range map[string]string{
		"5-8 * * * *":             "5,6,7,8 * * * *",
		"*/15 * * * *":            "0,15,30,45 * * * *",
		"5/15 * * * *":            "5,20,35,50 * * * *",
		"10-40/10 * * * *":        "10,20,30,40 * * * *",
		"*/60 * * * *":            "0 * * * *",
		"7/60 * * * *":            "07 * * * *",
		"0 0 * JAN,feb-Apr *":     "0 0 * 1-4 *",
		"0 0 * * fri-sun":         "0 0 * * 0,5,6",
		"0 0 * * 5-7":             "0 0 * * 0,5,6",
		"0 0 * * 5-0":             "0 0 * * 0,5,6",
		"0 0 * * 7":               "0 0 * * sun",
		"0 0 * * 7-7":             "0 0 * * 0",
		"0 0 * * 0-7":             "0 0 * * sun-sat",
		"0 0 * * 1/2":             "0 0 * * mon,wed,fri",
		"0 0 * * 7/2":             "0 0 * * sun",
		"0 0 * * mon-fri/2":       "0 0 * * 1,3,5",
		"0 0 ? ? ?":               "@daily",
		"0 0,12 1 */2 *":          "0 0 0,12 1 1,3,5,7,9,11 *",
		"1,1,1 0 * * *":           "1 0 * * *",
		"0 0 *,5 * mon":           "0 0 * * 1",
		"@weekly":                 "0 0 0 * * 7",
		"SPREAD=90m @daily":       "30 1 * * *",
		"SPREAD=25h @daily":       "0 1 * * *",
		"TZ=Asia/Tokyo @midnight": "CRON_TZ=Asia/Tokyo 0 0 0 * * *",
	} {
		a, b, now := parse(t, text), parse(t, same), at(t, "2024-01-29T22:30:00Z")
		for range 100 {
			require.Equal(t, a.Next(now), b.Next(now), text)
			now = a.Next(now)
		}
	}
}

func TestMustParse(t *testing.T) {
	require.Equal(t, parse(t, "@daily"), schedule.MustParse("@daily"))
	require.PanicsWithError(t, `schedule: "@dayly": column 1: unknown name "@dayly": there are @every, @annually, @daily, `+
		`@hourly, @midnight, @monthly, @weekly, @yearly`, func() { schedule.MustParse("@dayly") })
}
