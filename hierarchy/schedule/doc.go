// Package schedule calculates when something runs repeatedly: every 90 seconds, for example, or as the fields of
// cron specify. It is pure: it has no clock, no lock and no log, and starts nothing.
//
//	@every 90s                                     90 seconds after the run before
//	@hourly @daily @weekly @monthly @yearly        also @midnight and @annually
//	30 2 * * mon-fri                               minute, hour, day of month, month, day of week
//	*/10 30 2 * * *                                the same with the second before them
//	CRON_TZ=Europe/Berlin 30 2 * * *               in local time; TZ= means the same
//	CRON_TZ=Europe/Berlin MISSED=skip 30 2 * * *   with a rule for missed runs
//	SPREAD=12m34s 30 2 * * *                       later by a fixed delay, see Spread
//	FROM=2030-01-31T12:00:00Z @every 90s           not before a time, or with UNTIL= not after one, see Between
//
// # Fields
//
// A field is a list of items, separated by commas. An item is * or ? for all values, a number, a
// range such as 9-17, or one of these with a step: */15, 10-40/10, and 5/15 for 5-59/15. Months and
// days of the week have names of three letters, jan and sun to sat, in either case. 0 and 7 are
// Sunday, also at the end of a range: fri-sun.
//
// As in Vixie cron, a day is one that the day of month or the day of week allows if both fields are
// restricted, and one that both allow if either begins with a *.
//
// # Time zones
//
// A schedule without a zone is in UTC, not in the zone of the machine: a timer runs on whichever
// machine owns it, and means the same on each. Hence the zone Local is refused.
//
// Runs are due at the local times that people read off a clock on the wall:
//
//   - A time that a change of clocks leaves out runs at the moment of the change, and several such
//     times run once: 30 2 * * * in Europe/Berlin runs at 03:00 on the last Sunday of March. So does
//     30 * * * *, between 01:30 and 03:30.
//   - A time that comes twice runs the first time only. If an item of the hour's field is a * or has a
//     step, it runs both times.
//
// Zones come from the system or, where it has none, from the copy of Go's time/tzdata that the package
// links in. Processes whose data differ may calculate different times around a change that only one of
// them knows of. A zone that a process does not know makes Parse fail there.
package schedule
