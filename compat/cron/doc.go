// Package cron has the names of github.com/robfig/cron/v3, on a timing wheel: change the import, and nothing else.
//
//	c := cron.New()
//	c.AddFunc("30 * * * *", func() { fmt.Println("every hour on the half hour") })
//	c.AddFunc("CRON_TZ=Asia/Tokyo 30 4 * * *", func() { fmt.Println("at 04:30 in Tokyo") })
//	c.AddFunc("@every 90s", func() { fmt.Println("every 90 seconds") })
//	c.Start()
//	defer c.Stop()
//
// It differs where robfig/cron does other than its documentation says, in the cost of many entries, and by two additions:
// WithClock, for tests on a mock clock, and Daylight, for jobs whose time a change of clocks leaves out.
// docs/instead-of-cron.md has a table.
//
// # Texts
//
// ParseStandard accepts five fields, and WithSeconds six, with the seconds first:
//
//	minute         0-59                * / , -
//	hour           0-23                * / , -
//	day of month   1-31                * / , - ?
//	month          1-12 or jan-dec     * / , -
//	day of week    0-6 or sun-sat      * / , - ?
//
// A field is a list of items, separated by commas. An item is * or ? for all values, a number, a range such as 9-17, or
// one of these with a step: */15, 10-40/10, and 5/15 for 5-59/15. A day must be one that both the day of month and the
// day of week allow if one of them is a *, and one that either allows otherwise. Instead of fields there are @yearly,
// @annually, @monthly, @weekly, @daily, @midnight and @hourly, and @every with a duration.
//
// Times are in the zone of WithLocation, time.Local by default, or in that of a CRON_TZ= or TZ= at the beginning.
//
// # Clocks
//
// A job never runs before its time by the wall clock, and not twice for one time if that is set back. If it is set
// forward, or the machine was suspended, that is noticed within ten seconds, and a job whose time has passed meanwhile
// runs once, or by the rule for missed runs of its schedule.
package cron
