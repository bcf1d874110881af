// Package clock tells a timing wheel what time it is and wakes it up.
//
// A Clock has a wall time, a monotonic time that deadlines are counted in, and
// alarms. The clocks are
//
//   - System: the runtime's own timers, which also work in testing/synctest bubbles;
//   - Precise: the default of every wheel, tens of microseconds late
//     where System is up to a millisecond late;
//   - Spinning: like Precise, but about a microsecond late, for more CPU time;
//   - Wrap: any clock of github.com/benbjohnson/clock, including its mock;
//   - Mock: deterministic time for tests and simulations, which moves only when
//     you move it and never sleeps.
//
// The package knows nothing of timers or wheels. To a clock, a wheel is a function
// to call at a time. A Mock also asks the wheels of package hierarchy for their
// nearest deadline.
package clock
